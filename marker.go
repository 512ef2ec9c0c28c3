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

// checkSource returns a *memory.InputError for an unknown source of a note; empty is allowed.
func checkSource(source string) error {
	if source == "" || slices.Contains(noteSources, source) {
		return nil
	}
	return &memory.InputError{Field: "source",
		Problem: fmt.Sprintf("is %.80q; must be one of %s, or empty", source, strings.Join(noteSources, ", "))}
}

// A note with a key or a source ends with a marker: "<!-- kioku:1a2b3c4d5e6f7a8b from=tool -->", in which either may be
// missing. The marker follows the text in the same line, or in a line of its own if the last line closes a code fence.
const (
	markerStart = "<!-- kioku"
	markerEnd   = " -->"
)

// markersVersion is part of the fingerprint of an index. It changes whenever stripMarkers removes something else.
const markersVersion = ", marks v1"

// markerOf returns the marker of a note, "" for a note without key and source.
func markerOf(n memory.Note) string {
	if n.Key == "" && n.Source == "" {
		return ""
	}
	marker := markerStart
	if n.Key != "" {
		marker += markerKey(n.Key)
	}
	if n.Source != "" {
		marker += " from=" + n.Source
	}
	return marker + markerEnd
}

// markerKey returns the part of a marker that stands for a key.
func markerKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return ":" + hex.EncodeToString(sum[:8])
}

// withMarker appends the marker of a note to its text, whose further lines begin with indent.
func withMarker(text, indent string, n memory.Note) string {
	marker := markerOf(n)
	switch {
	case marker == "":
		return text
	case endsWithFence(text):
		return text + "\n" + indent + marker
	}
	return text + " " + marker
}

// endsWithFence reports whether the last line of a text may close a code fence. It closes none if anything follows in the line.
func endsWithFence(text string) bool {
	last := strings.TrimLeft(text[strings.LastIndexByte(text, '\n')+1:], " \t")
	return strings.HasPrefix(last, "```") || strings.HasPrefix(last, "~~~")
}

var (
	markerPattern  = regexp.MustCompile(`[ \t]*<!-- kioku(?::[0-9a-f]{16}(?: from=[a-z]+)?| from=[a-z]+) -->`)
	trailingMarker = regexp.MustCompile(`(?m)` + markerPattern.String() + `([ \t]*\r?)$`)
)

// removeMarkers removes all markers from the text of a new note. Only Kioku writes markers: a marker copied from another note
// would claim its key and its source.
func removeMarkers(text string) string {
	text = markerPattern.ReplaceAllString(text, "")
	if markerPattern.MatchString(text) { // A marker was around another one.
		text = strings.ReplaceAll(text, markerStart, "<!--kioku")
	}
	return text
}

// stripMarkers removes the markers at the ends of lines from the text of a file, so that no search finds or shows them. The
// lines keep their numbers.
func stripMarkers(src []byte) []byte {
	if !bytes.Contains(src, []byte(markerStart)) {
		return src
	}
	return trailingMarker.ReplaceAll(src, []byte("$1"))
}

// markerStarts returns how a marker begins after a text whose further lines begin with indent.
func markerStarts(indent string) []string {
	key, source := markerStart+":", markerStart+" from="
	return []string{" " + key, " " + source, "\n" + indent + key, "\n" + indent + source}
}
