package analysis

import (
	"unicode"
	"unicode/utf8"
)

// class is the role of a character in the analysis.
type class uint8

const (
	separator class = iota
	letter
	// joint may connect two words to an identifier.
	joint
	newline
	// glyph is a character of a script written without spaces.
	glyph
	// mark belongs to the character before it.
	mark
	// sign is an emoji, or another symbol that notes are marked with.
	sign
)

// asciiClass contains the class of each ASCII character.
var asciiClass = func() (t [256]class) {
	for c := range utf8.RuneSelf {
		if unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c)) {
			t[c] = letter
		}
	}
	for _, c := range `._-/@:+\` {
		t[c] = joint
	}
	t['\n'] = newline
	return t
}()

func classAt(s string, i int) (class, int) {
	if s[i] < utf8.RuneSelf {
		return asciiClass[s[i]], 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	return classOf(r), size
}

// classOf classifies a rune beyond ASCII. The runes of Japanese and Chinese come first, for speed.
func classOf(r rune) class {
	switch {
	case r >= 0x4E00 && r <= 0x9FFF, r >= 0x3041 && r <= 0x3096, r >= 0x30A1 && r <= 0x30FA, r >= 0x30FC && r <= 0x30FE:
		return glyph
	case r >= 0xAC00 && r <= 0xD7A3, r >= 0x3005 && r <= 0x3007, r == 0x309D, r == 0x309E:
		return glyph
	case r == utf8.RuneError, r < 0x00AA, r >= 0x2000 && r <= 0x206F, r >= 0x3000 && r <= 0x303F:
		return separator
	case unicode.IsMark(r):
		return mark
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && unicode.IsLetter(r):
		return glyph
	case unicode.IsLetter(r), unicode.IsNumber(r):
		return letter
	case isSign(r):
		return sign
	}
	return separator
}

// isSign reports whether r is an emoji or a symbol like ✓ and ★. Skin tones are none.
func isSign(r rune) bool {
	return (r >= 0x1F000 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF || r >= 0x231A && r <= 0x23FF || r == 0x2B50 || r == 0x2B55) &&
		unicode.Is(unicode.So, r)
}

// isFlagLetter reports whether r is one of the two letters of a flag.
func isFlagLetter(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

func isLetterAt(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	c, _ := classAt(s, i)
	return c == letter
}

func asciiLetters(s string) bool {
	for i := range len(s) {
		if !isLower(s[i]) {
			return false
		}
	}
	return true
}

// StartsUpper reports whether a text begins with a capital letter.
func StartsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
