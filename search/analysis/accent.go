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
// straße, lodz for łódź. Greek letters lose their accents too, Hebrew and Arabic words their vowel marks, and variants of
// Arabic letters and digits become one. Russian ё is е, as most people write it; else other alphabets are left alone, because
// their marks make different letters (й, が). A word of nothing but marks stays as it is.
func Unaccented(word string) string {
	if !mayHaveAccents(word) {
		return word
	}
	var b strings.Builder
	b.Grow(len(word) + 1)
	plain := false // the last letter loses its marks
	for _, r := range word {
		switch {
		case r < utf8.RuneSelf:
			plain = true
			b.WriteRune(r)
		case r <= lastAccented && plainLetters[r] != "":
			plain = true
			b.WriteString(plainLetters[r])
		case r == 'ё':
			plain = false
			b.WriteRune('е')
		case isVowelMark(r), plain && unicode.Is(unicode.Mn, r):
			// NFKC leaves a mark that no single character contains.
		default:
			plain = isGreek(r)
			b.WriteRune(plainLetter(r))
		}
	}
	if b.Len() == 0 {
		return word
	}
	return b.String()
}

// mayHaveAccents reports whether word contains the first byte of an accented Latin letter, of a combining mark, of ё or of a
// Greek, Hebrew or Arabic letter.
func mayHaveAccents(word string) bool {
	for i := range len(word) {
		if c := word[i]; c >= 0xC3 && c <= 0xCF || c == 0xD1 || c >= 0xD6 && c <= 0xDB || c == 0xE1 {
			return true
		}
	}
	return false
}

func isGreek(r rune) bool { return r >= 0x0370 && r <= 0x03FF || r >= 0x1F00 && r <= 0x1FFF }

// isVowelMark reports whether r is a mark of Hebrew or Arabic, or the stroke that only makes an Arabic word longer.
func isVowelMark(r rune) bool {
	return r >= 0x0591 && r <= 0x06ED && (r == 'ـ' || unicode.Is(unicode.Mn, r))
}

// plainLetter returns the letter that a Greek or Arabic letter is looked up as, and other runes as they are.
func plainLetter(r rune) rune {
	switch {
	case r >= '٠' && r <= '٩':
		return r - '٠' + '0'
	case r >= '۰' && r <= '۹':
		return r - '۰' + '0'
	case isGreek(r) || r >= 0x0620 && r <= 0x06D5:
		base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r)))
		if plain, ok := arabicVariants[base]; ok {
			return plain
		}
		return base
	}
	return r
}

// arabicVariants are letters that are written for each other: of Arabic and Persian keyboards, and at the ends of words.
var arabicVariants = map[rune]rune{'ٱ': 'ا', 'ى': 'ي', 'ی': 'ي', 'ې': 'ي', 'ک': 'ك', 'ة': 'ه', 'ہ': 'ه', 'ە': 'ه', 'ھ': 'ه'}
