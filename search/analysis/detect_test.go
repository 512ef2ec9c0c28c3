package analysis

import (
	"os"
	"strings"
	"testing"
)

// languageTexts returns the texts of testdata/languages.txt by language, "-" for those without one.
func languageTexts(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/languages.txt")
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string][]string)
	for line := range strings.Lines(string(data)) {
		if language, text, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			texts[language] = append(texts[language], text)
		}
	}
	return texts
}

func TestDetectShortTexts(t *testing.T) {
	t.Parallel()
	for language, texts := range languageTexts(t) {
		right, wrong, guessed := 0, 0, 0
		for _, text := range texts {
			want := Language(strings.Trim(language, "-"))
			p := Detect(text)
			if g := p.Guess(); g == want {
				guessed++
			} else {
				t.Logf("GUESS %s %q %q", language, g, text)
			}
			switch got := p.Language(); got {
			case want:
				right++
			case "":
				t.Logf("%s: none: %q", language, text)
			default:
				wrong++
				t.Logf("%s: %s: %q", language, got, text)
			}
		}
		t.Logf("%s: right %d wrong %d of %d; guessed %d", language, right, wrong, len(texts), guessed)
	}
}
