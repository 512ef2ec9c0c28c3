package chunker

import (
	"bytes"
	"strings"
)

// Normalize returns src as the text that chunks are cut from: valid UTF-8 with U+FFFD in the place of bad bytes (one
// for a run of them), no byte order mark, "\n" for "\r\n". Its lines are those of src; a lone "\r" ends none. UTF-16 is
// not decoded.
func Normalize(src []byte) string {
	src = bytes.TrimPrefix(src, []byte("\xEF\xBB\xBF"))
	if bytes.Contains(src, []byte("\r\n")) {
		src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	}
	return strings.ToValidUTF8(string(src), "\uFFFD")
}

// countLines returns the number of lines of text, with an unterminated last one.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// firstLine returns the first line of text with its newline.
func firstLine(text string) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}

// isBlank is true for a text of nothing but white space.
func isBlank(text string) bool {
	return strings.TrimSpace(text) == ""
}
