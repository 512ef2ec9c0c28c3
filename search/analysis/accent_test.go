package analysis

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestUnaccentedReturnsASCIIForLatin(t *testing.T) {
	t.Parallel()
	accented := rapid.SampledFrom([]rune("äöüßéèêëçñøåæœłđðþıąęśźžčřőűğşțșảậđữ"))
	rapid.Check(t, func(t *rapid.T) {
		word := string(rapid.SliceOfN(rapid.OneOf(accented, rapid.RuneFrom([]rune("abcxyz09"))), 1, 12).Draw(t, "word"))
		plain := Unaccented(word)
		if !isASCII(plain) || len(plain) > len(word) || Unaccented(plain) != plain {
			t.Fatalf("%q becomes %q", word, plain)
		}
		alphabets := rapid.RuneFrom(nil, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana)
		other := rapid.StringOfN(alphabets, 1, 12, -1).Draw(t, "other")
		if Unaccented(other) != strings.ReplaceAll(other, "ё", "е") {
			t.Fatalf("%q becomes %q", other, Unaccented(other))
		}
	})
}
