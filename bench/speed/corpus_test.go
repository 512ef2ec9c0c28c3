package speed

import (
	"kioku/search/analysis"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteNotesIsTheSameInEachRun(t *testing.T) {
	t.Parallel()
	texts := func(size int) (all []string, bytes int) {
		notes, err := writeNotes(t.Context(), t.TempDir(), 200, size)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range notes {
			all, bytes = append(all, n.text), bytes+len(n.text)
		}
		return all, bytes
	}
	first, bytes := texts(indexNoteBytes)
	second, _ := texts(indexNoteBytes)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	if len(first) != 200 || bytes < 200*indexNoteBytes || bytes > 220*indexNoteBytes {
		t.Errorf("%d notes, %d bytes", len(first), bytes)
	}
	if _, bytes := texts(0); bytes < 200*100 || bytes > 200*1000 {
		t.Errorf("notes of one section have %d bytes", bytes)
	}
}

func TestWordsAreAsFrequentAsInEnglish(t *testing.T) {
	t.Parallel()
	m, err := newEnv(t).fixtures.index(t.Context(), 1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	db, err := readIndex(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for term, share := range map[string][2]float64{"the": {0.95, 1}, "with": {0.5, 0.95}, "work": {0.05, 0.4}, spellings()[300]: {0, 0.1}} {
		var n int
		err := db.QueryRow("SELECT coalesce(max(doc), 0) FROM chunks_vocab WHERE term = ?", analysis.Terms(term)[0]).Scan(&n)
		if got := float64(n) / 1000; err != nil || got < share[0] || got > share[1] {
			t.Errorf("%s is in %.2f of the chunks, want %v; %v", term, got, share, err)
		}
	}
}
