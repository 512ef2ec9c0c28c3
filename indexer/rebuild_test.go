package indexer_test

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
	"kioku/indexer"
)

func filled(t *testing.T, n int) *fixture {
	f := setup(t, nil)
	for i := range n {
		f.write(fmt.Sprintf("memory/%03d.md", i), fmt.Sprintf("one %d\ntwo %d", i, i))
	}
	f.sync()
	return f
}

func TestARebuildMakesTheSameIndexWithoutPayingAgain(t *testing.T) {
	f := filled(t, 300)
	want := f.index.files
	rep, err := f.x.Rebuild(t.Context(), nil)
	f.must(err)
	if diff := cmp.Diff(want, f.index.files); diff != "" {
		t.Error(diff)
	}
	if f.index.rebuilds != 1 || rep.Files != 300 || rep.Chunks != 600 || rep.Embedded != 0 || rep.Cached != 600 {
		t.Errorf("%d rebuilds, report %+v", f.index.rebuilds, rep)
	}
}

func TestAStaleIndexIsRebuiltBySync(t *testing.T) {
	f := filled(t, 3)
	f.must(os.Remove(f.path("memory/000.md")))
	f.index.stale = "chunking changed"
	rep := f.sync()
	if f.index.rebuilds != 1 || rep.Files != 2 || rep.Removed != 1 || f.x.State().Stale != "" {
		t.Errorf("%d rebuilds, report %+v", f.index.rebuilds, rep)
	}
	f.holds("memory/001.md", "memory/002.md")
	if rep = f.sync(); rep.Read != 0 {
		t.Errorf("read again: %+v", rep)
	}
}

func TestAFailedRebuildKeepsTheOldIndexAndWhatWasPaidFor(t *testing.T) {
	f := filled(t, 300)
	f.index.stale = "model changed"
	f.prov.mu.Lock()
	f.prov.model = "other"
	f.prov.mu.Unlock()
	f.prov.set(300, f.now().Add(time.Minute))
	before := f.prov.embedded()
	f.write("memory/new.md", "news")
	rep := f.sync()
	if f.index.rebuilds != 0 || !errors.Is(rep.EmbedErr, errDown) || f.x.State().Stale != "model changed" {
		t.Errorf("%d rebuilds, report %+v, state %+v", f.index.rebuilds, rep, f.x.State())
	}
	// The old index goes on, and knows of the new file.
	f.has("memory/new.md", "news")
	f.has("memory/000.md", "one 0|two 0")
	// Before the provider may be asked again, nothing is tried.
	calls := f.prov.calls
	if rep = f.sync(); f.prov.calls != calls || rep.Read != 0 || f.index.rebuilds != 0 {
		t.Errorf("%d calls, report %+v", f.prov.calls-calls, rep)
	}
	f.prov.set(-1, time.Time{})
	rep = f.sync()
	if f.index.rebuilds != 1 || f.x.State().Stale != "" || rep.EmbedErr != nil {
		t.Errorf("%d rebuilds, report %+v", f.index.rebuilds, rep)
	}
	if paid := f.prov.embedded() - before; paid != 601 {
		t.Errorf("paid for %d texts of 601", paid)
	}
}

func TestARebuildWhoseProviderFailsIsAnError(t *testing.T) {
	f := filled(t, 3)
	f.write("memory/new.md", "news")
	f.prov.set(0, time.Time{})
	if _, err := f.x.Rebuild(t.Context(), nil); !errors.Is(err, errDown) || !errors.Is(err, embed.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	f.holds("memory/000.md", "memory/001.md", "memory/002.md")
}

func TestARebuildThatTheIndexRefusesIsAnError(t *testing.T) {
	f := filled(t, 3)
	f.index.fail = errors.New("disk full")
	f.index.stale = "chunking changed"
	if _, err := f.x.Sync(t.Context(), indexer.SyncOptions{}, nil); !errors.Is(err, f.index.fail) {
		t.Errorf("error %v", err)
	}
}

func TestAnEditDuringARebuildIsIndexed(t *testing.T) {
	f := filled(t, 3)
	var n atomic.Int32
	f.split.during = func(src []byte) {
		// The second reading of a rebuild, of which nothing shows before it is done.
		if n.Add(1) == 5 {
			f.must(os.WriteFile(f.path("memory/000.md"), []byte("edited"), 0o644))
		}
	}
	_, err := f.x.Rebuild(t.Context(), nil)
	f.must(err)
	f.has("memory/000.md", "edited")
	if f.index.unembedded() != 0 {
		t.Error("the edited text has no vector")
	}
}

func TestASyncThatMayNotRebuildLeavesAStaleIndexAsItIs(t *testing.T) {
	f := filled(t, 3)
	f.index.stale = "chunking changed"
	f.write("memory/001.md", "edited")
	rep := f.syncWith(indexer.SyncOptions{NoRebuild: true})
	if f.index.rebuilds != 0 || rep.Files != 1 || rep.Read != 1 || rep.Stale != "chunking changed" {
		t.Errorf("%d rebuilds, report %+v", f.index.rebuilds, rep)
	}
	if s := f.x.State(); s.Stale != "chunking changed" || s.Dirty {
		t.Errorf("state %+v", s)
	}
	f.has("memory/001.md", "edited")
	if rep = f.sync(); f.index.rebuilds != 1 || rep.Stale != "" || f.x.State().Stale != "" {
		t.Errorf("%d rebuilds, report %+v", f.index.rebuilds, rep)
	}
}

func TestASyncThatMayNotRebuildAsksForNoMissingVectors(t *testing.T) {
	f := setup(t, nil)
	f.write("memory/a.md", "one")
	f.write("memory/b.md", "two")
	f.prov.set(0, time.Time{})
	f.sync()
	f.prov.set(-1, time.Time{})
	calls := f.prov.calls
	rep := f.syncWith(indexer.SyncOptions{NoRebuild: true})
	if f.prov.calls != calls || rep.Read != 0 || rep.Bare != 2 || rep.EmbedErr != nil {
		t.Errorf("%d calls, report %+v", f.prov.calls-calls, rep)
	}
	if err := f.x.State().EmbedErr; !errors.Is(err, errDown) {
		t.Errorf("texts are still without vectors, but the state says %v", err)
	}
	// As a file that was written a moment ago, one whose time alone changed is read, which says no more.
	f.must(os.Chtimes(f.path("memory/b.md"), time.Time{}, f.now().Add(-2*time.Hour)))
	if rep = f.syncWith(indexer.SyncOptions{NoRebuild: true}); f.prov.calls != calls || rep.Read != 1 || rep.Bare != 2 {
		t.Errorf("%d calls, report %+v", f.prov.calls-calls, rep)
	}
	f.write("memory/b.md", "three")
	rep = f.syncWith(indexer.SyncOptions{NoRebuild: true})
	if rep.Embedded != 1 || rep.Bare != 1 || f.index.unembedded() != 1 {
		t.Errorf("a changed file gets its vector as ever, report %+v", rep)
	}
	if rep = f.sync(); rep.Bare != 0 || f.index.unembedded() != 0 || f.x.State().EmbedErr != nil {
		t.Errorf("the next sync fills in the rest, report %+v", rep)
	}
}
