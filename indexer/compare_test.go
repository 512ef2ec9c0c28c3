package indexer_test

import (
	"os"
	"testing"

	"kioku/indexer"
)

// Hazard D10: a reader of an index that another process owns knows how many files differ from it, and indexes none.
func TestCompareCountsFilesThatDiffer(t *testing.T) {
	f := setup(t, nil)
	f.write("MEMORY.md", "one")
	f.write("memory/a.md", "two")
	f.write("memory/b.md", "three")
	f.sync()
	pending := func(want int) {
		t.Helper()
		reader := indexer.New(f.split, f.index, indexer.Options{Workspace: f.dir, Now: f.now})
		f.must(reader.Compare(t.Context()))
		if st := reader.SyncState(); st.PendingFiles != want || st.Dirty != (want > 0) {
			t.Errorf("%d files pending, dirty %v; want %d", st.PendingFiles, st.Dirty, want)
		}
	}
	pending(0)
	f.must(os.Chtimes(f.path("memory/a.md"), f.now(), f.now()))
	pending(0) // touched, but not changed
	f.write("memory/a.md", "other text")
	f.write("memory/c.md", "new")
	f.must(os.Remove(f.path("memory/b.md")))
	pending(3)
	f.holds("MEMORY.md", "memory/a.md", "memory/b.md")
	f.sync()
	pending(0)
}
