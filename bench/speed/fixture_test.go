package speed

import (
	"testing"

	"kioku/memory"
	"kioku/search/analysis"
)

func TestAFixtureIsBuiltOnceAndAnswersWithBothChannels(t *testing.T) {
	f := NewFixtures(t.TempDir())
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	e := &Env{Fixtures: f}
	m, err := e.index(t.Context(), 300, 16)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := e.index(t.Context(), 300, 16); err != nil || again != m {
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

func TestTheWordsOfAFixtureAreSpreadAsInEnglish(t *testing.T) {
	f := NewFixtures(t.TempDir())
	defer f.Close()
	e := &Env{Fixtures: f}
	m, err := e.index(t.Context(), 1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	db, err := openYardstick(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for term, share := range map[string][2]float64{"the": {0.95, 1}, "with": {0.5, 0.95}, "work": {0.05, 0.4}, spellings[300]: {0, 0.1}} {
		var n int
		err := db.QueryRow("SELECT coalesce(max(doc), 0) FROM chunks_vocab WHERE term = ?", analysis.Terms(term)[0]).Scan(&n)
		if got := float64(n) / 1000; err != nil || got < share[0] || got > share[1] {
			t.Errorf("%s is in %.2f of the chunks, want %v; %v", term, got, share, err)
		}
	}
}
