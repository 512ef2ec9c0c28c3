// Package marks knows the HTML comments that Kioku writes beside notes: "<!-- kioku:1a2b3c4d5e6f7a8b text=0123456789abcdef from=tool -->".
package marks

import (
	"bytes"
	"regexp"
)

const start = "<!-- kioku"

var (
	mark     = regexp.MustCompile(`[ \t]*<!-- kioku(?::[0-9a-f]{16})?(?: (?:begins|text|from|channel|author)=[^\s<>]+)* -->`)
	trailing = regexp.MustCompile(`(?m)` + mark.String() + `([ \t]*\r?)$`)
)

// Strip returns a text without the marks at the ends of its lines, which keep their numbers. A text without marks comes back as it is.
func Strip(text []byte) []byte {
	if !bytes.Contains(text, []byte(start)) {
		return text
	}
	return trailing.ReplaceAll(text, []byte("$1"))
}

// Find returns the offsets at which the marks of a text begin, with the blanks before them, and end.
func Find(text []byte) [][]int { return mark.FindAllIndex(text, -1) }
