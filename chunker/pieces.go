package chunker

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tiktoken cuts a text into pieces by a regular expression before it looks for tokens. The functions of this file cut like
// these expressions, by hand and in one pass: regexp2 is fifty times slower and quadratic on runs without spaces.
//
// cl100k_base, first match wins:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)  [^\r\n\p{L}\p{N}]?\p{L}+  \p{N}{1,3}  ?[^\s\p{L}\p{N}]+[\r\n]*  \s*[\r\n]+  \s+(?!\S)  \s+
//
// o200k_base has words that end where lower case turns to upper case, with the contraction as their suffix, and
// punctuation that takes slashes after it:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?

// class is a class of characters that the expressions distinguish.
type class uint8

const (
	other class = iota
	letter
	number
	space
	newline
)

// classOf returns the class of the first rune of text and its length; other and 0 for an empty text.
func classOf(text string) (class, int) {
	if text == "" {
		return other, 0
	}
	if b := text[0]; b < utf8.RuneSelf {
		return ascii[b], 1
	}
	r, n := utf8.DecodeRuneInString(text)
	switch {
	case isCommonCJK(r) || unicode.IsLetter(r):
		return letter, n
	case unicode.IsNumber(r):
		return number, n
	case unicode.IsSpace(r):
		return space, n
	}
	return other, n
}

// isCommonCJK reports whether r is a kana, Han or Hangul letter, without a search in the tables of Unicode.
func isCommonCJK(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3041 && r <= 0x3096 || r >= 0x30A1 && r <= 0x30FA || r >= 0xAC00 && r <= 0xD7A3
}

// ascii contains the classes of the first 128 runes.
var ascii = func() (table [utf8.RuneSelf]class) {
	for r := range rune(utf8.RuneSelf) {
		switch {
		case r == '\r' || r == '\n':
			table[r] = newline
		case unicode.IsLetter(r):
			table[r] = letter
		case unicode.IsNumber(r):
			table[r] = number
		case unicode.IsSpace(r):
			table[r] = space
		}
	}
	return table
}()

// runLength returns the length of the run of class c at the start of text.
func runLength(text string, c class) int {
	i := 0
	for {
		next, n := classOf(text[i:])
		if n == 0 || next != c {
			return i
		}
		i += n
	}
}

// cl100kPiece returns the length of the first piece of text under cl100k_base.
func cl100kPiece(text string) int {
	if n := contraction(text); n > 0 {
		return n
	}
	c, n := classOf(text)
	if c == letter {
		return n + runLength(text[n:], letter)
	}
	if c == space || c == other {
		if letters := runLength(text[n:], letter); letters > 0 {
			return n + letters
		}
	}
	return noWord(text, "\r\n")
}

// noWord returns the length of the first piece of a text that does not start with a word. The encodings differ only in the
// bytes, tail, that belong to the punctuation before them.
func noWord(text, tail string) int {
	c, n := classOf(text)
	switch c {
	case number:
		for range 2 {
			if next, m := classOf(text[n:]); next == number {
				n += m
			}
		}
		return n
	case other:
		return punctuation(text, tail)
	}
	if next, m := classOf(text[n:]); text[0] == ' ' && next == other && m > 0 {
		return 1 + punctuation(text[1:], tail)
	}
	return whitespace(text)
}

// punctuation returns the length of a run of other characters at the start of text, with the bytes of tail after it.
func punctuation(text, tail string) int {
	n := runLength(text, other)
	for n < len(text) && strings.IndexByte(tail, text[n]) >= 0 {
		n++
	}
	return n
}

// whitespace returns the length of the first piece of a text that starts with space: up to the last line end if there is
// one, else all but the last rune, which belongs to the next word.
func whitespace(text string) int {
	end, afterNewline, last := 0, 0, 0
	for end < len(text) {
		c, n := classOf(text[end:])
		if c != space && c != newline {
			break
		}
		end, last = end+n, n
		if c == newline {
			afterNewline = end
		}
	}
	switch {
	case afterNewline > 0:
		return afterNewline
	case end == len(text) || end == last:
		return end
	}
	return end - last
}

// contraction returns the length of an English contraction at the start of text, 0 if there is none.
func contraction(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(text) >= 3 {
		switch strings.ToLower(text[1:3]) {
		case "re", "ve", "ll":
			return 3
		}
	}
	return 0
}

// o200kPiece returns the length of the first piece of text under o200k_base.
func o200kPiece(text string) int {
	c, n := classOf(text)
	prefix := 0
	if c == space || c == other {
		prefix = n
	}
	starts := []int{prefix, 0}
	if prefix == 0 {
		starts = starts[:1]
	}
	for _, word := range []func(string) int{capitalised, capitals} {
		for _, start := range starts {
			if n := word(text[start:]); n > 0 {
				n += start
				return n + contraction(text[n:])
			}
		}
	}
	return noWord(text, "\r\n/")
}

// capitalised returns the length of a run of upper case letters and then at least one lower case letter at the start of
// text, 0 if there is none. Letters without case and marks count as both.
func capitalised(text string) int {
	end, afterLower := 0, 0
	for end < len(text) {
		upper, lower, n := caseOf(text[end:])
		if !upper {
			if lower {
				return end + lowerRun(text[end:])
			}
			break
		}
		end += n
		if lower {
			afterLower = end
		}
	}
	return afterLower
}

// capitals returns the length of a run of upper case letters at the start of text.
func capitals(text string) int {
	end := 0
	for end < len(text) {
		upper, _, n := caseOf(text[end:])
		if !upper {
			break
		}
		end += n
	}
	return end
}

// lowerRun returns the length of a run of lower case letters at the start of text.
func lowerRun(text string) int {
	end := 0
	for end < len(text) {
		_, lower, n := caseOf(text[end:])
		if !lower {
			break
		}
		end += n
	}
	return end
}

// caseOf returns whether the first rune of text may be in the upper and in the lower part of a word, and its length.
func caseOf(text string) (upper, lower bool, n int) {
	if b := text[0]; b < utf8.RuneSelf {
		return b >= 'A' && b <= 'Z', b >= 'a' && b <= 'z', 1
	}
	r, n := utf8.DecodeRuneInString(text)
	if isCommonCJK(r) || unicode.In(r, unicode.Lm, unicode.Lo, unicode.M) {
		return true, true, n
	}
	return unicode.In(r, unicode.Lu, unicode.Lt), unicode.Is(unicode.Ll, r), n
}
