package analysis

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func stemsIn(l Language, words string) []string {
	a := NewAnalyzer()
	defer a.Release()
	a.SetLanguage(l)
	a.Add(words)
	var stems []string
	for _, t := range a.Tokens {
		stems = append(stems, t.Term)
	}
	return stems
}

func TestStemsMeetInTheirLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language Language
		words    string
	}{
		{Spanish, "reembolso reembolsos reembolsen reembolsar"},
		{Spanish, "reunión reunion reuniones"},
		{Spanish, "operación operacion operaciones"},
		{German, "Prüfung Prüfungen Pruefung pruefungen"},
		{German, "Straße Strasse Straßen STRASSEN"},
		{French, "fenêtre fenêtres fenetre"},
		{French, "réparé réparer réparée"},
		{Italian, "consegna consegne"},
		{Portuguese, "reclamação reclamações reclamacao reclamacoes"},
		{Dutch, "lamp lampen"},
		{Swedish, "lampa lampor lamporna"},
		{English, "restored restoring restores"},
		{English, "went goes go gone"},
		{English, "child children"},
		{English, "decision decisions decide decided"},
		{English, "subscription subscribe subscribed"},
		{English, "verification verify verified"},
		// Cyrillic words are Russian in texts of every language.
		{"", "сервер серверы серверов"},
		{German, "счёт счета счету"},
		{Russian, "restored restoring"},
	} {
		stems := stemsIn(c.language, c.words)
		if slices.Sort(stems); len(slices.Compact(slices.Clone(stems))) != 1 {
			t.Errorf("%s: %s have the stems %q", c.language, c.words, stems)
		}
	}
}

func TestStemsOfDifferentWordsDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language Language
		words    string
	}{
		{German, "neu neun neue Quelle Qual"}, {English, "permission commission mission"}, {English, "precision precede"},
		{"", "λόγος λόγου"},
	} {
		if stems := stemsIn(c.language, c.words); len(slices.Compact(stems)) < 2 {
			t.Errorf("%s: %s have the stem %q", c.language, c.words, stems)
		}
	}
}

// The terms of an English text do not change with the languages that there are.
func TestTermsOfOtherLanguagesAreThoseOfEnglish(t *testing.T) {
	t.Parallel()
	const text = "The restored backups of größe and memorySearch"
	want := Terms(text)
	for _, l := range []Language{"", English, Russian, "da", "xx"} {
		if got := stemsIn(l, text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", l, got, want)
		}
	}
}

// A word whose stem is looked for passes the filter, in every language and with every spelling.
func TestStemOnlyStemsWhatIsLookedFor(t *testing.T) {
	t.Parallel()
	for l, texts := range languageTexts(t) {
		words := strings.Join(texts, " ") + " Übung Uebung Äpfel aepfel Öl oel œuvre étage ёлка"
		for form := range irregularStems {
			words += " " + form
		}
		for _, word := range strings.Fields(words) {
			stems := stemsIn(l, word)
			a := NewAnalyzer()
			a.SetLanguage(l)
			a.StemOnly(stems...)
			a.Add(word)
			for i, token := range a.Tokens {
				if token.Term != stems[i] {
					t.Errorf("%s: %q becomes %q, not %q", l, word, token.Term, stems[i])
				}
			}
			a.Release()
		}
	}
}

func TestStopWordsByLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		word      string
		languages []Language
		stop      bool
	}{
		{"the", nil, true},
		{"qué", nil, false},
		{"qué", []Language{Spanish}, true},
		{"come", nil, true},
		{"come", []Language{Spanish}, false},
		{"die", []Language{English, German}, false},
		{"was", []Language{English, German}, true},
		{"für", []Language{German}, true},
		{"что", nil, true},
		{"счёт", []Language{Russian}, false},
		{"the", []Language{"da"}, true}, // a language without words here is taken for English
	} {
		if got := IsStopWord(c.word, Word, c.languages...); got != c.stop {
			t.Errorf("%s in %v: %v", c.word, c.languages, got)
		}
	}
}

// A term has 1 to 64 bytes in every language, and no accents.
func TestTermsOfEveryLanguageAreShort(t *testing.T) {
	t.Parallel()
	letters := rapid.RuneFrom([]rune("aaeeiioouuybcdfghjklmnpqrstvwxzäöüßéèêëçñøåæœãõáíóúìòùабвгдеёжиоуыэюя-.'"))
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(letters, 1, 90, -1).Draw(t, "word")
		l := rapid.SampledFrom([]Language{"", German, French, Spanish, Italian, Portuguese, Dutch, Swedish}).Draw(t, "language")
		for _, stem := range stemsIn(l, word) {
			if stem == "" || len(stem) > maxTermBytes || Unaccented(stem) != stem || strings.ContainsAny(stem, " \n") {
				t.Fatalf("%q in %q has the term %q", word, l, stem)
			}
		}
	})
}
