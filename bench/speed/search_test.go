package speed

import "testing"

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
