package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine returns the words of s with single spaces between them: valid UTF-8 (U+FFFD stands for other bytes) without line
// breaks or other control characters.
func OneLine(s string) string {
	apart := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	return strings.ToValidUTF8(strings.Join(strings.FieldsFunc(s, apart), " "), "\ufffd")
}

// FirstLine returns the first line of s with its end.
func FirstLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i+1]
	}
	return s
}

// Head returns the first n characters of s, or all of a shorter text.
func Head(s string, n int) string { return s[:offset(s, n)] }

// Tail returns the last n characters of s, or all of a shorter text.
func Tail(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, width := utf8.DecodeLastRuneInString(s[:at])
		at -= width
	}
	return s[at:]
}

// HeadBytes returns the longest beginning of s that has at most n bytes and splits no character.
func HeadBytes(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:max(n, 0)]
}

// TailBytes returns the longest end of s that has at most n bytes and splits no character.
func TailBytes(s string, n int) string {
	at := max(len(s)-max(n, 0), 0)
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}

// Shorten returns s if it has at most n characters, and otherwise its first n-1 characters, without blank space at their
// end, and an ellipsis. n is at least 1.
func Shorten(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRightFunc(Head(s, n-1), unicode.IsSpace) + "…"
}

const (
	headPercent = 70
	tailPercent = 20
	// minRoom is how many characters of a text are worth showing.
	minRoom = 40
)

// CutMiddle returns s if it has at most limit characters, and otherwise its head (70 % of limit) and its tail (20 %)
// around a marker that tells the lengths. Both end with a line, unless that would cost more than half of one. name is
// what the marker calls the text. CutMiddle returns an empty text if limit is too small for the marker and 40 characters.
func CutMiddle(name, s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	chars := utf8.RuneCountInString(s)
	if chars <= limit {
		return s
	}
	room := limit - utf8.RuneCountInString(marker(name, chars, chars, chars))
	if room < minRoom {
		return ""
	}
	const both = headPercent + tailPercent
	head := headLines(s, min(limit*headPercent/100, room*headPercent/both))
	tail := tailLines(s, min(limit*tailPercent/100, room*tailPercent/both))
	return head + marker(name, utf8.RuneCountInString(head), utf8.RuneCountInString(tail), chars) + tail
}

// marker stands in place of the middle.
func marker(name string, head, tail, chars int) string {
	return fmt.Sprintf("\n\n[... %s is cut here: the first %d and the last %d of %d characters are shown ...]\n\n", name, head, tail, chars)
}

// headLines returns the whole lines within the first n characters.
func headLines(s string, n int) string {
	head := Head(s, n)
	if end := strings.LastIndexByte(head, '\n'); end > len(head)/2 {
		head = head[:end]
	}
	return strings.TrimRight(head, "\n")
}

// tailLines returns the whole lines within the last n characters of a longer text.
func tailLines(s string, n int) string {
	tail := Tail(s, n)
	if s[len(s)-len(tail)-1] == '\n' {
		return strings.TrimLeft(tail, "\n")
	}
	if begin := strings.IndexByte(tail, '\n'); begin >= 0 && begin < len(tail)/2 {
		tail = tail[begin:]
	}
	return strings.TrimLeft(tail, "\n")
}

// offset returns where the first n characters of s end.
func offset(s string, n int) int {
	for i := range s {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(s)
}
