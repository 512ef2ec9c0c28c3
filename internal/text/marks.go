package text

import (
	"bytes"
	"regexp"
)

// markStart is how an HTML comment begins that Kioku writes beside a note, such as
// "<!-- kioku:1a2b3c4d5e6f7a8b text=0123456789abcdef from=tool -->".
const markStart = "<!-- kioku"

// MarkPattern is the regular expression of a mark with the blanks before it. Its groups are the fingerprint of the note that a mark begins,
// that of the key of the note that it ends, and that of the text of this note, with a key and without one.
const MarkPattern = `[ \t]*<!-- kioku(?: begins=([0-9a-f]{16})|` +
	`:([0-9a-f]{16})(?: text=([0-9a-f]{16}))?(?: from=[a-z]+)?| text=([0-9a-f]{16})(?: from=[a-z]+)?| from=[a-z]+)` +
	`(?: channel=[^\s<>]+)?(?: author=[^\s<>]+)? -->`

var trailingMark = regexp.MustCompile(`(?m)` + MarkPattern + `([ \t]*\r?)$`)

// StripMarks returns a text without the marks at the ends of its lines, which keep their numbers. A text without marks comes back as it is.
func StripMarks(text []byte) []byte {
	if !bytes.Contains(text, []byte(markStart)) {
		return text
	}
	return trailingMark.ReplaceAll(text, []byte("$5"))
}
