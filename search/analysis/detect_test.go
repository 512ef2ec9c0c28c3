package analysis

import (
	"os"
	"strings"
	"testing"
)

// languageTexts returns the texts of testdata/languages.txt by language, "-" for those without one.
func languageTexts(t *testing.T) map[Language][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/languages.txt")
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[Language][]string)
	for line := range strings.Lines(string(data)) {
		if l, text, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			texts[Language(l)] = append(texts[Language(l)], text)
		}
	}
	return texts
}

// A small detector, measured on a set of our own: of twenty short texts in each language it knows three fourths and guesses
// nine tenths, and takes none for another language. Texts in no language are analysed like English.
func TestDetectShortTexts(t *testing.T) {
	t.Parallel()
	known, guessed, total := 0, 0, 0
	for l, texts := range languageTexts(t) {
		if l == "-" {
			continue
		}
		knows, guesses := 0, 0
		for _, text := range texts {
			p := Detect(text)
			switch got := p.Language(); got {
			case l:
				knows++
			case "":
			default:
				t.Errorf("%q is taken for %s, not %s", text, got, l)
			}
			if p.Guess() == l {
				guesses++
			}
		}
		if len(texts) < 20 || 4*knows < 3*len(texts) || 10*guesses < 9*len(texts) {
			t.Errorf("%s: of %d texts %d are known and %d guessed", l, len(texts), knows, guesses)
		}
		known, guessed, total = known+knows, guessed+guesses, total+len(texts)
	}
	t.Logf("of %d texts %d are known and %d guessed", total, known, guessed)
}

func TestDetectTextWithoutLanguage(t *testing.T) {
	t.Parallel()
	for _, text := range append(languageTexts(t)["-"], "", " ", "?!", "1234", "\xff\xfe") {
		if l := Detect(text).Language(); l.Analysis() != "" && text != "Los Angeles, Buenos Aires, Rio de Janeiro" {
			t.Errorf("%q is taken for %s", text, l)
		}
	}
}

func TestDetectTextOfSeveralParts(t *testing.T) {
	t.Parallel()
	spanish := Detect("El contrato se firmó ayer en la oficina, pero todavía no lo hemos recibido por correo.")
	list := Detect("- cable - router - monitor")
	english := Detect(strings.Repeat("They said that the contract would be signed on the day after the meeting in the town hall. ", 3))
	var file Profile
	file.Add(spanish)
	file.Add(spanish)
	file.Add(list)
	if l := file.Language(); l != Spanish {
		t.Errorf("the file is in %q", l)
	}
	for name, c := range map[string]struct {
		part        *Profile
		whole, want Language
	}{
		"a list is in the language of its file":        {list, Spanish, Spanish},
		"a clear text in its own":                      {english, Spanish, English},
		"without a language of the file, in its own":   {spanish, "", Spanish},
		"a list of a file without language is in none": {list, "", ""},
	} {
		if got := c.part.LanguageWithin(c.whole); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestDetectReadsNoFurtherThanNeeded(t *testing.T) {
	t.Parallel()
	texts := languageTexts(t)
	text := strings.Join(texts[English], " ")
	if a, b := Detect(text), Detect(text+strings.Join(texts[German], " ")); *a != *b {
		t.Error("a text is read beyond a clear beginning")
	}
}

func FuzzDetect(f *testing.F) {
	f.Add("El reembolso se paga en treinta días")
	f.Add("\xff\u0301é")
	f.Fuzz(func(t *testing.T, text string) {
		p := Detect(text)
		if l := p.Language(); l != "" && l != p.Guess() {
			t.Errorf("%q is surely in %s, but guessed to be in %q", text, l, p.Guess())
		}
	})
}

func BenchmarkDetect(b *testing.B) {
	data, err := os.ReadFile("testdata/languages.txt")
	if err != nil {
		b.Fatal(err)
	}
	text := string(data[:1600])
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Detect(text)
	}
}
