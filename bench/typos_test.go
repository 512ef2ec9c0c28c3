package bench

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLatinWordsLeavesOutIdentifiers(t *testing.T) {
	t.Parallel()
	var got []string
	for _, w := range latinWords("Did the café order vault-2, memory.query, v42test, Überraschung or 苗床mulch? Ask Petra: soil.") {
		got = append(got, w.text)
	}
	if diff := cmp.Diff([]string{"order", "mulch", "Petra", "soil"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestVocabularyRarest(t *testing.T) {
	t.Parallel()
	v := vocabulary{}
	v.addLines("The boiler and the valve\nThe boiler and the stairs\nThe valve\nThe valve and the boiler\nthe stair\n")
	for question, want := range map[string]string{
		"Does the boiler have stairs, valve?": "stairs",
		"Which valve, which boiler?":          "valve",
		"Zeppelin boiler?":                    "boiler",
	} {
		if got, ok := v.rarest(question); !ok || got.text != want {
			t.Errorf("%s: %q", question, got.text)
		}
	}
	if got, ok := v.rarest("which zeppelin"); ok {
		t.Errorf("no line holds %q", got.text)
	}
}

func TestTypoChangesOneLetter(t *testing.T) {
	t.Parallel()
	word := "valve"
	got := map[string]string{}
	for kind, name := range []string{"swap", "drop", "replace", "insert"} {
		got[name] = typo(word, uint64(kind)+4*(3+26*2)) // the letter d at offset 2
	}
	want := map[string]string{"swap": "vavle", "drop": "vave", "replace": "vadve", "insert": "vadlve"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestVocabularyMistypeIsUnknownAndAlwaysTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[A-Z]?[a-z]{4,11}`).Draw(t, "word")
		id := rapid.String().Draw(t, "id")
		v := vocabulary{}
		v.addLines(word)
		got, ok := v.mistype(id, span{text: word})
		if !ok {
			t.Fatalf("no typo in %s", word)
		}
		if again, _ := v.mistype(id, span{text: word}); again != got {
			t.Fatalf("%s, then %s", got, again)
		}
		if v.count(got) > 0 || abs(len(got)-len(word)) > 1 || got == word {
			t.Fatalf("%s became %s", word, got)
		}
		head, tail := 0, 0
		for head < min(len(got), len(word)) && got[head] == word[head] {
			head++
		}
		for tail < min(len(got), len(word))-head && got[len(got)-1-tail] == word[len(word)-1-tail] {
			tail++
		}
		if max(len(got), len(word))-head-tail > 2 {
			t.Fatalf("%s became %s", word, got)
		}
	})
}

func abs(n int) int { return max(n, -n) }

func TestLikeCase(t *testing.T) {
	t.Parallel()
	if a, b := likeCase("qzx", "Petra"), likeCase("qzx", "oven"); a != "Qzx" || b != "qzx" {
		t.Errorf("%s, %s", a, b)
	}
}

func TestRegainedIsAShareOfTheLoss(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ clean, typo, lost, want float64 }{
		{0.75, 0.5, 0.25, 0.5}, {0.75, 0.75, 0.25, 1}, {0.75, 0, 0.25, -0.5}, {0.5, 0.5, 0.5, 0}, {0.5, 0.75, 0.75, 0},
	} {
		if got := regained(tc.clean, tc.typo, tc.lost); got != tc.want {
			t.Errorf("%+v: got %v", tc, got)
		}
	}
}

func TestTyposComparesTheSameQuestions(t *testing.T) {
	t.Parallel()
	s := open(t, trio(t), Options{})
	asked, err := s.Ask(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Typos(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	// Four questions are English and not adversarial.
	if r.N != 4 || r.Clean.N != 4 || r.Typo.N != 4 || r.Unknown.N != 4 {
		t.Errorf("%+v", r)
	}
	if r.Unknown.R5 > r.Clean.R5 || r.BackR5 != regained(r.Clean.R5, r.Typo.R5, r.Unknown.R5) || r.BackV5 != regained(r.Clean.V5, r.Typo.V5, r.Unknown.V5) {
		t.Errorf("%+v", r)
	}
	for _, a := range asked {
		if strings.Contains(a.Question.Query, nothingLike) {
			t.Errorf("the question itself was changed: %s", a.Question.Query)
		}
	}
}
