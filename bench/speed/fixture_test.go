package speed

import (
	"testing"

	"kioku/memory"
)

// newEnv returns the environment of a measurement in a test.
func newEnv(t *testing.T) *Env {
	t.Helper()
	f := newFixtures(t.TempDir())
	t.Cleanup(func() {
		if err := f.close(); err != nil {
			t.Error(err)
		}
	})
	return &Env{Dir: t.TempDir(), Size: 300, fixtures: f, Step: func(int, int) {}}
}

func TestFixturesIndexBuildsOnceAndAnswersWithBothChannels(t *testing.T) {
	t.Parallel()
	f := newEnv(t).fixtures
	m, err := f.index(t.Context(), 300, 16)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := f.index(t.Context(), 300, 16); err != nil || again != m {
		t.Errorf("the second time it is another memory, %v", err)
	}
	a, err := m.Search(t.Context(), memory.Query{Text: questions(1)[0]})
	if err != nil || a.Mode != memory.ModeHybrid {
		t.Errorf("mode %s, %v, %v", a.Mode, a.Degraded, err)
	}
	if st, err := m.Status(t.Context()); err != nil || st.Embedded != 300 {
		t.Errorf("%d of 300 chunks embedded, %v", st.Embedded, err)
	}
}
