package indexer_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"kioku/indexer"
)

// Hazard B06: a workspace that was moved away and back is the same folder, but nothing in it is watched any more.
func TestWatchOfWorkspaceMovedAwayAndBack(t *testing.T) {
	t.Parallel()
	// Between two looks at the roots, the way away and back goes unseen by them.
	for _, poll := range []time.Duration{20 * time.Millisecond, 700 * time.Millisecond} {
		t.Run(poll.String(), func(t *testing.T) {
			t.Parallel()
			f := setup(t, func(o *indexer.Options) { o.PollInterval = poll })
			f.write("memory/a.md", "a")
			f.watching()
			for i := range 2 {
				f.must(os.Rename(f.dir, f.dir+".away"))
				f.until("unavailable", func() bool { return f.count(indexer.RootUnavailable, f.dir) == i+1 })
				f.must(os.Rename(f.dir+".away", f.dir))
				back, later := fmt.Sprint("back ", i), fmt.Sprint("later ", i)
				f.write("memory/back.md", back)
				f.until("available", func() bool { return f.count(indexer.RootAvailable, f.dir) == i+1 })
				f.shows("memory/back.md", back)
				f.write("memory/later.md", later)
				f.shows("memory/later.md", later)
			}
		})
	}
}

// A root that is missing is looked for, and starts no syncs.
func TestWatchOfMissingRootStartsNoScans(t *testing.T) {
	t.Parallel()
	src := newScripted()
	change := func(o *indexer.Options) { o.ExtraPaths = []string{"/no/such/folder"} }
	inBubble(t, src, change, func(f *fixture) {
		pass(30 * time.Second)
		before := f.count(indexer.SyncStarted, "")
		pass(2 * time.Minute)
		if n := f.count(indexer.SyncStarted, "") - before; n != 0 {
			f.Errorf("%d syncs", n)
		}
	})
}
