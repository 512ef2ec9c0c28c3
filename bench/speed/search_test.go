package speed

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestKeywordCandidatesMeasuresBothSides(t *testing.T) {
	t.Parallel()
	ours, yardstick, err := keywordCandidates(t.Context(), newEnv(t))
	if err != nil || ours <= 0 || yardstick <= 0 {
		t.Errorf("got %v, %v, %v", ours, yardstick, err)
	}
}

func TestSearchObservedMeasuresStepsOfTheWhole(t *testing.T) {
	t.Parallel()
	m, err := newEnv(t).fixtures.index(t.Context(), 500, 16)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range questions(10) {
		s, err := searchObserved(t.Context(), m, true, q)
		if err != nil || s.lists <= 0 || s.scores <= 0 || s.rest() <= 0 {
			t.Errorf("lists %v, scores %v, whole %v, %v", s.lists, s.scores, s.whole, err)
		}
	}
}

func TestShuffleLinesKeepsEachLine(t *testing.T) {
	t.Parallel()
	text := []byte("a\nb\nc\nd\ne\n")
	got := shuffleLines(rand.New(rand.NewPCG(1, 1)), slices.Clone(text))
	if bytes.Equal(got, text) || len(got) != len(text) {
		t.Errorf("got %q", got)
	}
	for line := range bytes.Lines(text) {
		if !bytes.Contains(got, line) {
			t.Errorf("%q is lost: %q", line, got)
		}
	}
}
