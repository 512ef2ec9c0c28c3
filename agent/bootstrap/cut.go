package bootstrap

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	headPercent = 70
	tailPercent = 20
	// leastKept is how many characters of a text are worth showing.
	leastKept = 40
)

// Cut returns text where it has at most limit characters, and otherwise its head (70 % of limit) and its tail (20 %)
// around a marker that tells the lengths. Both end with a line, unless that would cost more than half of one. name is
// what the marker calls the text. Cut returns nothing where limit is too small for the marker and 40 characters.
func Cut(name, text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	chars := utf8.RuneCountInString(text)
	if chars <= limit {
		return text
	}
	room := limit - utf8.RuneCountInString(marker(name, chars, chars, chars))
	if room < leastKept {
		return ""
	}
	const both = headPercent + tailPercent
	head := headOf(text, min(limit*headPercent/100, room*headPercent/both))
	tail := tailOf(text, chars, min(limit*tailPercent/100, room*tailPercent/both))
	return head + marker(name, utf8.RuneCountInString(head), utf8.RuneCountInString(tail), chars) + tail
}

// marker stands where something was cut out.
func marker(name string, head, tail, chars int) string {
	return fmt.Sprintf("\n\n[... %s is cut here: the first %d and the last %d of %d characters are shown ...]\n\n", name, head, tail, chars)
}

// headOf returns the whole lines within the first n characters.
func headOf(text string, n int) string {
	head := text[:offset(text, n)]
	if end := strings.LastIndexByte(head, '\n'); end > len(head)/2 {
		head = head[:end]
	}
	return strings.TrimRight(head, "\n")
}

// tailOf returns the whole lines within the last n of all characters.
func tailOf(text string, chars, n int) string {
	at := offset(text, chars-n)
	tail := text[at:]
	if text[at-1] == '\n' {
		return strings.TrimLeft(tail, "\n")
	}
	if begin := strings.IndexByte(tail, '\n'); begin >= 0 && begin < len(tail)/2 {
		tail = tail[begin:]
	}
	return strings.TrimLeft(tail, "\n")
}

// offset returns where the character n begins.
func offset(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}
