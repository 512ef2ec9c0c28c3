package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Normalize returns text as it is shown, in NFKC, without invisible characters (soft hyphens, joiners, variation selectors):
// references of HTML are decoded, and markup inside a word is gone. Letters whose lower case has another length are replaced,
// so that ToLower keeps every byte in its place.
func Normalize(text string) string {
	text = asShown(text)
	if isASCII(text) {
		return text
	}
	wide := false
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case isInert(r):
		case isWide(r):
			wide = true
		default:
			// NFKC skips characters that follow invalid bytes.
			return strings.Map(mapRare, hyphenate(norm.NFKC.String(strings.ToValidUTF8(text, " "))))
		}
		i += size
	}
	if wide {
		return strings.Map(narrow, text)
	}
	return text
}

// hyphenate writes the joiner between the parts of a Persian word as a hyphen, so that its parts find it. In other alphabets the
// joiner is only a matter of print.
func hyphenate(text string) string {
	const joiner = "\u200c"
	if !strings.Contains(text, joiner) {
		return text
	}
	parts := strings.Split(text, joiner)
	var b strings.Builder
	for i, part := range parts {
		if i > 0 && endsArabic(parts[i-1]) {
			b.WriteByte('-')
		}
		b.WriteString(part)
	}
	return b.String()
}

func endsArabic(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.Is(unicode.Arabic, r) || isVowelMark(r)
}

// isInert reports whether NFKC leaves r unchanged beside any rune that is inert or wide. It knows only the common runes;
// the others take the slow path.
func isInert(r rune) bool {
	switch {
	case r >= 0x4E00 && r <= 0x9FFF, r >= 0x3041 && r <= 0x3096, r >= 0x30A1 && r <= 0x30FE:
		return true
	case r >= 0x3001 && r <= 0x301B, r == 0x309D, r == 0x309E, r >= 0x3400 && r <= 0x4DBF, r >= 0xAC00 && r <= 0xD7A3:
		return true
	case r >= 0x00C0 && r <= 0x00FF, r >= 0x0400 && r <= 0x0481, r >= 0x048A && r <= 0x04FF:
		return true
	}
	return r == 0x2013 || r == 0x2014 || r >= 0x2018 && r <= 0x201D || r == 0x2022
}

// isWide reports whether r is the full-width form of an ASCII character.
func isWide(r rune) bool { return r >= 0xFF01 && r <= 0xFF5E || r == 0x3000 }

// narrow is NFKC for wide runes.
func narrow(r rune) rune {
	switch {
	case r == 0x3000:
		return ' '
	case isWide(r):
		return r - 0xFF01 + '!'
	}
	return r
}

func mapRare(r rune) rune {
	switch {
	case r == 0x00AD, r == 0x200C, r == 0x200D, r == 0x2060, r == 0xFEFF,
		r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF:
		return -1
	case r == 'İ':
		return 'I'
	case r == 'ẞ':
		return 'ß'
	case r == 'ς':
		return 'σ'
	}
	return r
}

// ToLower returns a normalised text in lower case; every rune stays at its offset.
func ToLower(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	return strings.Map(lowerRune, text)
}

// isASCII reports whether text is ASCII. It looks at eight bytes at a time, because every text passes here twice.
func isASCII(text string) bool {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		s := text[i : i+8]
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&utf8.RuneSelf != 0 {
			return false
		}
	}
	for ; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func lowerRune(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf, r >= 0x2E80 && r < 0xA640, r >= 0xAC00 && r <= 0xD7FF:
		return r
	}
	if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
		return l
	}
	return r
}
