package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lastAccented is the last of the Latin letters in the Unicode blocks of languages in use.
const lastAccented = 0x1EFF

// plainLetters contains, for each Latin letter with an accent, the ASCII letters that people write instead; "" for all
// others.
var plainLetters = func() (t [lastAccented + 1]string) {
	for r := rune(utf8.RuneSelf); r <= lastAccented; r++ {
		if !unicode.Is(unicode.Latin, r) {
			continue
		}
		if base := norm.NFD.String(string(r)); base[0] < utf8.RuneSelf {
			t[r] = base[:1]
		}
	}
	for r, plain := range map[rune]string{
		'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ı': "i", 'ŧ': "t",
		'ǿ': "o", 'ǽ': "ae", 'ǣ': "ae",
	} {
		t[r] = plain
	}
	return t
}()

// Unaccented returns a word in lower case with its Latin letters written without accents: zurich for zürich, strasse for
// straße, lodz for łódź. Russian ё is е, as most people write it; else other alphabets are left alone, because their marks
// make different letters (й, が).
func Unaccented(word string) string {
	if !mayHaveAccents(word) {
		return word
	}
	var b strings.Builder
	b.Grow(len(word) + 1)
	latin := false
	for _, r := range word {
		switch {
		case r < utf8.RuneSelf:
			latin = true
			b.WriteRune(r)
		case r <= lastAccented && plainLetters[r] != "":
			latin = true
			b.WriteString(plainLetters[r])
		case r == 'ё':
			latin = false
			b.WriteRune('е')
		case latin && unicode.Is(unicode.Mn, r):
			// NFKC leaves a mark that no single character contains.
		default:
			latin = false
			b.WriteRune(r)
		}
	}
	return b.String()
}

// mayHaveAccents reports whether word contains the first byte of an accented Latin letter, of a combining mark or of ё.
func mayHaveAccents(word string) bool {
	for i := range len(word) {
		if c := word[i]; c >= 0xC3 && c <= 0xCD || c == 0xD1 || c == 0xE1 {
			return true
		}
	}
	return false
}
