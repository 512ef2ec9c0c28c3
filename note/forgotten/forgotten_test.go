package forgotten_test

import (
	"slices"
	"strings"
	"testing"

	"kioku/note/forgotten"
)

// A sentence is recognised however it is wrapped, capitalised and marked, and another one with its words is not.
func TestSays(t *testing.T) {
	t.Parallel()
	gone := forgotten.Of([]string{"Alice pays 1,500 euros to Bob.", "門の暗証番号は4711です。"})
	for said, want := range map[string]bool{
		"alice **pays** 1,500 euros to bob": true, "Alice pays 1,500 euros\n  to Bob.": true, "> Alice pays 1,500\n> euros to Bob!": true,
		"Bob pays 1,500 euros to Alice.": false, "Alice does not pay 1,500 euros to Bob.": false, "Alice pays 1,500 euros to Bob and Carl.": false,
		"門の暗証番号は4711です": true, "門の暗証番号は4712です。": false, "": false, "Alice": false,
	} {
		if id, _ := gone.SaysAny(said); (id != "") != want {
			t.Errorf("%q: %q", said, id)
		}
	}
}

// What a model writes is the same in other words too: with its numbers, or with all its words and few others.
func TestRestates(t *testing.T) {
	t.Parallel()
	gone := forgotten.Of([]string{"The gate code is 4711.", "Ines prefers green tea.", "The meeting of 2026 is on Monday."})
	for said, want := range map[string]bool{
		"4711 opens the gate.": true, "Green tea is what Ines prefers.": true, "She said: the code\nof the gate is 4711.": true,
		"Flat 4711 is for rent.": false, "Ines prefers green tea to all the other hot drinks of the house.": false, "Ines prefers coffee.": false,
		"The fair of 2026 is on Monday.": false,
	} {
		if id, _ := gone.Restates(said); (id != "") != want {
			t.Errorf("%q: %q", said, id)
		}
	}
}

// A title, an initial or another abbreviation ends no sentence, so that what follows it is not left behind.
func TestSentencesGoOnAfterAbbreviations(t *testing.T) {
	t.Parallel()
	for src, want := range map[string][]string{
		"The gate code of Mr. Miller is 4711. It is new.":    {"The gate code of Mr. Miller is 4711.", "It is new."},
		"- Our dentist is Dr. Suzuki at the Rathausplatz.\n": {"Our dentist is Dr. Suzuki at the Rathausplatz."},
		"See J. P. Morgan, e.g. Tuesday. Then go.":           {"See J. P. Morgan, e.g. Tuesday.", "Then go."},
		"Frag Prof. Dr.\nKlein. Er hilft.":                   {"Frag Prof. Dr. Klein.", "Er hilft."},
		"It ends with Mr.":                                   {"It ends with Mr."},
	} {
		var got []string
		for _, s := range forgotten.Sentences([]byte(src)) {
			got = append(got, s.Text)
			if one := strings.Join(strings.Fields(src[s.From:s.To]), " "); one != s.Text {
				t.Errorf("%q is at %q", s.Text, one)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q", src, got)
		}
	}
}

// Lines keep their numbers when a sentence is hidden, and nothing is left of an item that was nothing else.
func TestMask(t *testing.T) {
	t.Parallel()
	gone := forgotten.Of([]string{"The gate code is 4711."})
	for src, want := range map[string]string{
		"# A\n\n- The gate code is 4711.\n- B.\n":         "# A\n\n\n- B.\n",
		"One. The gate\ncode is 4711. Two.\n":             "One. \nTwo.\n",
		"```\nthe gate code is 4711\nls\n```\n":           "```\n\nls\n```\n",
		"The gate code is 4711. <!-- kioku from=tool -->": "",
		"| The gate code is 4711. |\r\nB\r\n":             "|\r\nB\r\n",
		"1. The gate code is 4711.\n2. B\n":               "\n2. B\n",
		"The gate code is 4712.\n":                        "The gate code is 4712.\n",
	} {
		if got := string(gone.Mask([]byte(src))); strings.TrimRight(got, " ") != want && got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
	if got := string(gone.MaskJSONL([]byte("{\"a\":[{\"text\":\"Hi. The gate code is 4711.\"}]}\nno JSON\n"))); got != "{\"a\":[{\"text\":\"Hi. \"}]}\nno JSON\n" {
		t.Errorf("%q", got)
	}
}
