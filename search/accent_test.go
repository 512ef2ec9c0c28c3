package search

import (
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAccentsMakeNoDifference(t *testing.T) {
	s := New(newFakeStore(
		Chunk{Path: "a.md", Text: "Der Zug nach Zürich hält in Łódź"},
		Chunk{Path: "b.md", Text: "The cafe in Strasse 4"},
		Chunk{Path: "c.md", Text: "ガレージの鍵"},
		Chunk{Path: "d.md", Text: "カレーの作り方"},
	), nil, testOptions())
	for query, want := range map[string]string{
		"Zurich": "a.md", "ZÜRICH": "a.md", "lodz": "a.md", "café": "b.md", "cafés": "b.md", "Straße": "b.md", "ガレージ": "c.md",
	} {
		if got := paths(askWednesday(t, s, query)); !cmp.Equal(got, []string{want}) {
			t.Errorf("%s: found %v, want %s", query, got, want)
		}
	}
}

func TestUnaccentedLatinWordsAreASCIIAndOtherAlphabetsStay(t *testing.T) {
	accented := rapid.SampledFrom([]rune("äöüßéèêëçñøåæœłđðþıąęśźžčřőűğşțșảậđữ"))
	rapid.Check(t, func(t *rapid.T) {
		word := string(rapid.SliceOfN(rapid.OneOf(accented, rapid.RuneFrom([]rune("abcxyz09"))), 1, 12).Draw(t, "word"))
		plain := unaccented(word)
		if !isASCII(plain) || len(plain) > len(word) || unaccented(plain) != plain {
			t.Fatalf("%q becomes %q", word, plain)
		}
		alphabets := rapid.RuneFrom(nil, unicode.Cyrillic, unicode.Greek, unicode.Han, unicode.Hiragana, unicode.Katakana)
		other := rapid.StringOfN(alphabets, 1, 12, -1).Draw(t, "other")
		if unaccented(other) != other {
			t.Fatalf("%q becomes %q", other, unaccented(other))
		}
	})
}
