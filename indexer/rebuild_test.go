package indexer_test

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/indexer"
)

func filled(t *testing.T, n int) *fixture {
	f := setup(t, nil)
	for i := range n {
		f.write(fmt.Sprintf("memory/%03d.md", i), fmt.Sprintf("one %d\ntwo %d", i, i))
	}
	f.sync()
	f.index.learn()
	return f
}

func TestRebuildMakesSameIndexWithoutPayingAgain(t *testing.T) {
	t.Parallel()
	f := filled(t, 60)
	want := f.index.files
	rep, err := f.x.Rebuild(t.Context(), nil)
	f.must(err)
	if diff := cmp.Diff(want, f.index.files); diff != "" {
		t.Error(diff)
	}
	if f.index.rebuilds != 1 || rep.Files != 60 || rep.Chunks != 120 || rep.Known != 120 {
		t.Errorf("%d rebuilds, report %+v", f.index.rebuilds, rep)
	}
}

func TestSyncRebuildsStaleIndex(t *testing.T) {
	t.Parallel()
	f := filled(t, 3)
	f.must(os.Remove(f.path("memory/000.md")))
	f.index.stale = "chunking changed"
	rep := f.sync()
	if f.index.rebuilds != 1 || rep.Files != 2 || rep.Removed != 1 || f.x.SyncState().Stale != "" {
		t.Errorf("%d rebuilds, report %+v", f.index.rebuilds, rep)
	}
	f.holds("memory/001.md", "memory/002.md")
	if rep = f.sync(); rep.Read != 0 {
		t.Errorf("read again: %+v", rep)
	}
}

func TestRebuildReturnsErrorOfStore(t *testing.T) {
	t.Parallel()
	f := filled(t, 3)
	f.index.fail = errors.New("disk full")
	f.index.stale = "chunking changed"
	if _, err := f.x.Sync(t.Context(), indexer.SyncOptions{}, nil); !errors.Is(err, f.index.fail) {
		t.Errorf("error %v", err)
	}
}

func TestRebuildIndexesEditsDuringRebuild(t *testing.T) {
	t.Parallel()
	f := filled(t, 3)
	var n atomic.Int32
	f.split.during = func(src []byte) {
		if n.Add(1) == 3 {
			f.must(os.WriteFile(f.path("memory/000.md"), []byte("edited"), 0o644))
		}
	}
	_, err := f.x.Rebuild(t.Context(), nil)
	f.must(err)
	f.has("memory/000.md", "edited")
}

func TestSyncNoRebuildLeavesStaleIndex(t *testing.T) {
	t.Parallel()
	f := filled(t, 3)
	f.index.stale = "chunking changed"
	f.write("memory/001.md", "edited")
	rep := f.syncWith(indexer.SyncOptions{NoRebuild: true})
	if f.index.rebuilds != 0 || rep.Files != 1 || rep.Read != 1 || rep.Stale != "chunking changed" {
		t.Errorf("%d rebuilds, report %+v", f.index.rebuilds, rep)
	}
	if s := f.x.SyncState(); s.Stale != "chunking changed" || s.Dirty {
		t.Errorf("state %+v", s)
	}
	f.has("memory/001.md", "edited")
	if rep = f.sync(); f.index.rebuilds != 1 || rep.Stale != "" || f.x.SyncState().Stale != "" {
		t.Errorf("%d rebuilds, report %+v", f.index.rebuilds, rep)
	}
}
