// Package marks knows the HTML comments that Kioku writes beside notes: "<!-- kioku:1a2b3c4d5e6f7a8b text=0123456789abcdef from=tool -->".
package marks

import (
	"bytes"
	"regexp"
)

const start = "<!-- kioku"

// Pattern is the regular expression of a mark with the blanks before it. Its groups are the fingerprint of the note that a mark begins,
// that of the key of the note that it ends, and that of the text of this note, with a key and without one.
const Pattern = `[ \t]*<!-- kioku(?: begins=([0-9a-f]{16})|` +
	`:([0-9a-f]{16})(?: text=([0-9a-f]{16}))?(?: from=[a-z]+)?| text=([0-9a-f]{16})(?: from=[a-z]+)?| from=[a-z]+)` +
	`(?: channel=[^\s<>]+)?(?: author=[^\s<>]+)? -->`

var trailing = regexp.MustCompile(`(?m)` + Pattern + `([ \t]*\r?)$`)

// Strip returns a text without the marks at the ends of its lines, which keep their numbers. A text without marks comes back as it is.
func Strip(text []byte) []byte {
	if !bytes.Contains(text, []byte(start)) {
		return text
	}
	return trailing.ReplaceAll(text, []byte("$5"))
}
