package note

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kioku/internal/text"
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

// A note with a key or a source ends with a marker: "<!-- kioku:1a2b3c4d5e6f7a8b text=0123456789abcdef from=tool -->", with
// fingerprints of its key and its text and with its source. Any of the three may be missing. The marker follows the text in
// the same line, or in a line of its own if the last line closes a code fence.
//
// A note with an origin also begins with a marker: "<!-- kioku begins=0123456789abcdef channel=discord:general author=u1/Ana,owner:u2/Mia -->",
// so that its first and its last line are known whatever its text contains. Both markers name the channel and the authors. Earlier
// versions began long notes of the owner with such a marker too.
const (
	markerStart = "<!-- kioku"
	markerEnd   = " -->"
)

// markerOf returns the marker at the end of a note, "" for a note of the owner without key and source.
func markerOf(n memory.Note) string {
	marker := markerStart
	if n.Key != "" {
		marker += markerKey(n.Key)
	}
	if n.Key != "" || n.Origin != nil {
		marker += " text=" + fingerprint(n.Text)
	}
	if n.Source != "" {
		marker += " from=" + n.Source
	}
	marker += originMark(n.Origin)
	if marker == markerStart {
		return ""
	}
	return marker + markerEnd
}

// beginMarkerOf returns the marker at the beginning of a note with an origin.
func beginMarkerOf(n memory.Note) string {
	return markerStart + " begins=" + fingerprint(n.Text) + originMark(n.Origin) + markerEnd
}

// markerKey returns the part of a marker that stands for a key.
func markerKey(key string) string { return ":" + fingerprint(key) }

// fingerprint returns what a marker records of a key or a text.
func fingerprint(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
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

// markerPattern matches a marker; for its groups see text.MarkPattern.
var markerPattern = regexp.MustCompile(text.MarkPattern)

// removeMarkers removes all markers from the text of a new note, and changes whatever else begins like one. Only Kioku writes
// markers: a marker copied from another note would claim its key and its source.
func removeMarkers(text string) string {
	return strings.ReplaceAll(markerPattern.ReplaceAllString(text, ""), markerStart, "<!--kioku")
}
