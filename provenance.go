package kioku

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kioku/memory"
)

var noteSources = []string{memory.NoteFromUser, memory.NoteFromAgent, memory.NoteFromTool, memory.NoteFromFlush}

// checkSource returns a *memory.InputError for a source of a note that there is not; empty is none.
func checkSource(source string) error {
	if source == "" || slices.Contains(noteSources, source) {
		return nil
	}
	return &memory.InputError{Field: "source",
		Problem: fmt.Sprintf("is %.80q; must be one of %s, or empty", source, strings.Join(noteSources, ", "))}
}

// A note ends with a mark where it has a key or a source: "<!-- kioku:1a2b3c4d5e6f7a8b from=tool -->", in which either may
// be missing. It stands behind the text, or below it where it would keep a code fence from being closed.
const (
	markStart = "<!-- kioku"
	markEnd   = " -->"
)

// marksVersion is part of the fingerprint of an index. It changes whenever hideMarks takes out something else.
const marksVersion = ", marks v1"

// markOf is the mark of a note, empty for one without key and source.
func markOf(n memory.Note) string {
	if n.Key == "" && n.Source == "" {
		return ""
	}
	mark := markStart
	if n.Key != "" {
		mark += keyPart(n.Key)
	}
	if n.Source != "" {
		mark += " from=" + n.Source
	}
	return mark + markEnd
}

// keyPart is what a key leaves in a mark.
func keyPart(key string) string {
	sum := sha256.Sum256([]byte(key))
	return ":" + hex.EncodeToString(sum[:8])
}

// marked puts the mark of a note behind its text, of which indent begins each further line.
func marked(text, indent string, n memory.Note) string {
	mark := markOf(n)
	switch {
	case mark == "":
		return text
	case endsWithFence(text):
		return text + "\n" + indent + mark
	}
	return text + " " + mark
}

// endsWithFence reports whether the last line of a text may close a code fence, which it does not with anything behind it.
func endsWithFence(text string) bool {
	last := strings.TrimLeft(text[strings.LastIndexByte(text, '\n')+1:], " \t")
	return strings.HasPrefix(last, "```") || strings.HasPrefix(last, "~~~")
}

var (
	anyMark = regexp.MustCompile(`[ \t]*<!-- kioku(?::[0-9a-f]{16}(?: from=[a-z]+)?| from=[a-z]+) -->`)
	lastOf  = regexp.MustCompile(`(?m)` + anyMark.String() + `([ \t]*\r?)$`)
)

// withoutMarks takes marks out of what is to become a note: they are Kioku's alone, and one that was copied from another
// note would pass for its key or source.
func withoutMarks(text string) string {
	text = anyMark.ReplaceAllString(text, "")
	if anyMark.MatchString(text) { // one that stood around another
		text = strings.ReplaceAll(text, markStart, "<!--kioku")
	}
	return text
}

// hideMarks takes the marks at the ends of lines out of a file, so that they are neither found nor shown as what a note
// says. The lines keep their numbers.
func hideMarks(src []byte) []byte {
	if !bytes.Contains(src, []byte(markStart)) {
		return src
	}
	return lastOf.ReplaceAll(src, []byte("$1"))
}

// markStarts are how marks begin behind a text, of which indent begins each further line.
func markStarts(indent string) []string {
	var all []string
	for _, lead := range []string{" ", "\n" + indent} {
		all = append(all, lead+markStart+":", lead+markStart+" from=")
	}
	return all
}
