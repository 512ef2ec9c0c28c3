package analysis

import (
	"slices"
	"strings"
	"testing"
)

// Words written in two ways have a term in common: the whole of the second.
func TestTermsOfSpellingsAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, word string }{
		{"a follow-up", "followup"}, {"the on-boarding", "onboarding"}, {"the S.L.A.", "SLA"}, {"Wi-Fi", "WiFi"},
		{"part WPW10348-269/B", "WPW10348269B"}, {"call +49 170 555 0199, please", "+491705550199"}, {"(0170) 555-01-99", "01705550199"},
		{"DE89 3704 0044 0532 0130 00 is ours", "DE89370400440532013000"}, {"GB29 NWBK 6016 1331 9268 19", "GB29NWBK60161331926819"},
		{"it costs $1,299.00", "1299"}, {"CHF 1'299'000", "1299000"}, {"Caf&eacute; Z&uuml;rich", "Zürich"}, {"na&#239;ve", "naïve"},
		{"co&shy;operate", "cooperate"}, {"un**believ**able", "unbelievable"}, {"**un**believable", "unbelievable"}, {"H~2~O", "H2O"},
		{"CO<sub>2</sub>", "CO2"}, {"un<b>believ</b>able", "unbelievable"}, {"الرِّسالَة", "الرسالة"},
		{"أحمد", "احمد"}, {"علی", "علي"}, {"۱۲۳", "123"}, {"שָׁלוֹם", "שלום"}, {"Αθήνα", "αθηνα"},
		{"کتاب\u200cهای", "کتاب"}, {"کتاب\u200cهای", "کتابهای"}, {"buses", "bus"}, {"gases", "gas"}, {"pies", "pie"}, {"indices", "index"},
		{"criteria", "criterion"}, {"🔴 pay", "🔴"},
	} {
		if terms, want := Terms(c.text), Terms(c.word); !slices.Contains(terms, want[len(want)-1]) {
			t.Errorf("%s has %q, %s has %q", c.text, terms, c.word, want)
		}
	}
}

// What only looks like a number in groups, a mark or a reference stays as it is.
func TestTermsLeaveOthersAlone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10-15 of 24/7":          "10 15 10-15 of 24 7 24/7",
		"2026-01-20 10:30":       "2026 01 20 2026-01-20 10 30 10:30",
		"the U.S. e.g.":          "the u s u.s e g e.g",
		"2**3**4 a==b &&x; c&ob": "2 3 4 a b x c ob",
		"a ** b, x^2 + y^2":      "a b x 2 y 2",
		"Map<String>x":           "map string x",
		"1, 299 and 1,29":        "1 299 and 1 29",
		"12 34 5":                "12 34 5",
		"ـ":                      "ـ",
		"x &lt;b&gt; &amp;lt;":   "x b lt",
	} {
		if got := strings.Join(Terms(text), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestNormalizeIsStable(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"&amp;uuml; &#38;lt;b&gt;", "un**believ**able\nH~2~O", "کتاب\u200cهای", "a&NewLine;b"} {
		once := Normalize(text)
		if twice := Normalize(once); twice != once || strings.Count(once, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q becomes %q, and that %q", text, once, twice)
		}
	}
}
