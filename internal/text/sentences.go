package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// fullStops end a sentence in any position, halfStops only before a space.
	fullStops = "。！？｡．।॥"
	halfStops = ".!?…؟۔"
	// closers belong to the sentence before them.
	closers = "\"'”’»)]}」』）】》〉］｝"
)

// ends says of the lowest byte of a character whether one of the stops and closers has it.
var ends = func() (low [256]bool) {
	for _, r := range fullStops + halfStops + closers {
		low[r&255] = true
	}
	return low
}()

// Sentences cuts a line into parts of at most limit characters, after the ends of its sentences. The parts together are the
// line. A sentence that is too long is cut into eighths of limit, after a space if there is one.
func Sentences(line string, limit int) []string {
	var out []string
	for len(line) > 0 {
		end := Sentence(line)
		end += Spaces(line[end:])
		s := line[:end]
		line = line[end:]
		for utf8.RuneCountInString(s) > limit {
			n := wordsWithin(s, max(1, limit/8))
			out = append(out, s[:n])
			s = s[n:]
		}
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// wordsWithin returns the offset after the last space among the first n characters of s, or after the n-th character if
// there is none.
func wordsWithin(s string, n int) int {
	space := 0
	for i, r := range s {
		if n == 0 {
			if space > 0 {
				return space
			}
			return i
		}
		n--
		if unicode.IsSpace(r) {
			space = i + utf8.RuneLen(r)
		}
	}
	return len(s)
}

// Sentence returns the length of the first sentence of text, without the space after it: that is a token together with the
// next word.
func Sentence(text string) int {
	stopped, full := false, false
	for i, r := range text {
		mayEnd := ends[r&255] // most characters end nothing, and need no search of the lists
		switch {
		case mayEnd && strings.ContainsRune(fullStops, r):
			stopped, full = true, true
		case mayEnd && strings.ContainsRune(halfStops, r):
			stopped = true
		case mayEnd && stopped && strings.ContainsRune(closers, r):
		case full || stopped && unicode.IsSpace(r):
			return i
		default:
			stopped = false
		}
	}
	return len(text)
}

// Spaces returns the length of the white space at the start of text.
func Spaces(text string) int {
	return len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
}
