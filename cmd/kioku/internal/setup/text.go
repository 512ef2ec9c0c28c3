package setup

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// splice returns a text in which the bytes from start to end are replaced.
func splice(text []byte, start, end int, with string) []byte {
	return bytes.Join([][]byte{text[:start], []byte(with), text[end:]}, nil)
}

// newlineOf returns the line end of a text.
func newlineOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// indentOf returns the white space at the beginning of the line of an offset.
func indentOf(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unitOf returns one level of indentation: that of the first line that has any, else two blanks.
func unitOf(text []byte) string {
	for line := range strings.Lines(string(text)) {
		if indent := indentOf([]byte(line), 0); indent != "" && strings.TrimSpace(line) != "" {
			return indent
		}
	}
	return "  "
}

// placeOf returns the line and column of an offset, for a message.
func placeOf(text []byte, at int) string {
	before := text[:max(0, min(at, len(text)))]
	return fmt.Sprintf("line %d, column %d", 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n'))
}

// validPrefix returns the length of the text before the first byte that is not UTF-8.
func validPrefix(text []byte) int {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}
