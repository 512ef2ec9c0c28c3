package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/porter"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
)

// Language is a language by its ISO 639-1 code. The zero value is an unknown language, which is analysed like English.
type Language string

// Languages whose words are stemmed.
const (
	English    Language = "en"
	German     Language = "de"
	French     Language = "fr"
	Spanish    Language = "es"
	Italian    Language = "it"
	Portuguese Language = "pt"
	Dutch      Language = "nl"
	Swedish    Language = "sv"
	Russian    Language = "ru"
)

// stemmers are the algorithms of Snowball by language. Russian is not among them: Cyrillic words are stemmed by it in texts
// of every language.
var stemmers = map[Language]func(*snowballstem.Env) bool{
	German: german.Stem, French: french.Stem, Spanish: spanish.Stem, Italian: italian.Stem, Portuguese: portuguese.Stem,
	Dutch: dutch.Stem, Swedish: swedish.Stem,
}

// Analysis returns the language that decides how a text in l is analysed: l if its Latin words have a stemmer of their own,
// else "", as for English.
func (l Language) Analysis() Language {
	if stemmers[l] == nil {
		return ""
	}
	return l
}

// stemIn returns the stem of a word of letters in lower case, without accents: Russian for Cyrillic words, the algorithm of
// the language for Latin ones. Words of other alphabets are only folded.
func (l Language) stemIn(word string) string {
	switch {
	case isCyrillic(word):
		return snowball(russian.Stem, Unaccented(word))
	case !isLatin(word):
		return Unaccented(word)
	}
	if stem := stemmers[l]; stem != nil {
		return Unaccented(snowball(stem, l.spell(word)))
	}
	if word = Unaccented(word); asciiLetters(word) {
		return stemEnglish(word)
	}
	return word
}

func porterStem(word string) string { return snowball(porter.Stem, word) }

func snowball(stem func(*snowballstem.Env) bool, word string) string {
	env := snowballstem.NewEnv(word)
	stem(env)
	return env.Current()
}

// spell returns a word as the stemmer of l wants it, if people also write it with plain letters: Zuerich for Zürich,
// reunion for reunión, situacao for situação.
func (l Language) spell(word string) string {
	switch l {
	case German:
		return umlauts(word)
	case Spanish:
		if strings.HasSuffix(word, "cion") || strings.HasSuffix(word, "sion") {
			return word[:len(word)-2] + "ón"
		}
	case Portuguese:
		if stem, ok := strings.CutSuffix(word, "cao"); ok {
			return stem + "ção"
		}
		if stem, ok := strings.CutSuffix(word, "coes"); ok {
			return stem + "ções"
		}
	}
	return word
}

// umlauts returns a German word with ä, ö and ü for ae, oe and ue, except after a vowel or q (neue, Quelle).
func umlauts(word string) string {
	var b strings.Builder
	from := 0
	for i := 0; i+1 < len(word); i++ {
		if word[i+1] != 'e' || !isUmlaut(word[i]) {
			continue
		}
		if i > 0 && strings.IndexByte("aeiouqy", word[i-1]) >= 0 {
			continue
		}
		b.WriteString(word[from:i])
		b.WriteString(map[byte]string{'a': "ä", 'o': "ö", 'u': "ü"}[word[i]])
		from = i + 2
	}
	return b.String() + word[from:]
}

// isCyrillic reports whether a word consists of Cyrillic letters.
func isCyrillic(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return r >= 0x0400 && r <= 0x04FF && !strings.ContainsFunc(word, func(r rune) bool { return r < 0x0400 || r > 0x04FF })
}

// isLatin reports whether a word consists of Latin letters, with or without accents.
func isLatin(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z') && (r < utf8.RuneSelf || !unicode.In(r, unicode.Latin, unicode.Mn))
	})
}
