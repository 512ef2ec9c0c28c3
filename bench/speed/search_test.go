package speed

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTheKeywordBenchMeasuresBothSides(t *testing.T) {
	f := NewFixtures(t.TempDir())
	defer f.Close()
	e := &Env{Fixtures: f, Size: 500, Dir: t.TempDir(), Step: func(int, int) {}}
	ours, yardstick, err := keywordCandidates(t.Context(), e)
	if err != nil || ours <= 0 || yardstick <= 0 {
		t.Errorf("candidates by keywords: %v, %v, %v", ours, yardstick, err)
	}
}

func TestTheStepsOfASearchAreNoMoreThanTheWhole(t *testing.T) {
	f := NewFixtures(t.TempDir())
	defer f.Close()
	m, err := (&Env{Fixtures: f}).index(t.Context(), 500, 16)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = observed(t.Context(), m, true, questions(10), func(s steps) error {
		if n++; s.lists <= 0 || s.scores <= 0 || s.rest() <= 0 {
			t.Errorf("lists %v, scores %v, whole %v", s.lists, s.scores, s.whole)
		}
		return nil
	})
	if err != nil || n != 10 {
		t.Errorf("%d searches, %v", n, err)
	}
}

func TestShuffledLinesAreTheSameInAnotherOrder(t *testing.T) {
	text := []byte("a\nb\nc\nd\ne\n")
	got := shuffled(rand.New(rand.NewPCG(1, 1)), slices.Clone(text))
	if bytes.Equal(got, text) || len(got) != len(text) {
		t.Errorf("got %q", got)
	}
	for line := range bytes.Lines(text) {
		if !bytes.Contains(got, line) {
			t.Errorf("%q is lost: %q", line, got)
		}
	}
}
