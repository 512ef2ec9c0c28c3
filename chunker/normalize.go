package chunker

import (
	"bytes"
	"strings"
)

// Normalize returns the text that chunks are cut from: src as valid UTF-8 with one U+FFFD for each run of bad bytes,
// without a byte order mark, and with "\n" for "\r\n". It has the same lines as src; a lone "\r" does not end a line.
// UTF-16 is not decoded.
func Normalize(src []byte) string {
	src = bytes.TrimPrefix(src, []byte("\xEF\xBB\xBF"))
	if bytes.Contains(src, []byte("\r\n")) {
		src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	}
	return strings.ToValidUTF8(string(src), "\uFFFD")
}

// countLines returns the number of lines of text, including an unterminated last one.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// isBlank reports whether a text contains only white space.
func isBlank(text string) bool {
	return strings.TrimSpace(text) == ""
}
