package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"kioku/indexer"
	"kioku/internal/testkit"
)

// scripted is a watcher whose changes a test sends.
type scripted struct {
	mu      sync.Mutex
	dirs    map[string]int
	limit   int // folders that can be watched; negative for any number
	made    int
	changes chan indexer.Change
	// onAdd is called with each folder to watch; nil does nothing.
	onAdd func(dir string)
}

func newScripted() *scripted { return &scripted{dirs: map[string]int{}, limit: -1} }

// open is an Options.Watcher.
func (s *scripted) open() (indexer.Watcher, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	if s.limit == 0 {
		return nil, syscall.EMFILE
	}
	s.dirs, s.changes = map[string]int{}, make(chan indexer.Change)
	return s, nil
}

func (s *scripted) Add(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit >= 0 && len(s.dirs) >= s.limit {
		return fmt.Errorf("add %s: %w", dir, syscall.ENOSPC)
	}
	s.dirs[dir]++
	if s.onAdd != nil {
		s.onAdd(dir)
	}
	return nil
}

func (s *scripted) Changes() <-chan indexer.Change { return s.changes }

func (s *scripted) Close() error { return nil }

func (s *scripted) watches(dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dirs[dir] > 0
}

// inBubble runs a test with a watch on fake time.
func inBubble(t *testing.T, src *scripted, change func(*indexer.Options), body func(f *fixture)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t, dir: filepath.Join(dir, "ws"), split: &paragraphs{}, index: newMemIndex()}
		f.write("memory/a.md", "a")
		opt := indexer.Options{Workspace: f.dir, Notify: f.note, Watcher: src.open}
		if change != nil {
			change(&opt)
		}
		f.x = indexer.New(f.split, f.index, opt)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- f.x.Watch(ctx) }()
		synctest.Wait()
		body(f)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func logTo(b *strings.Builder) *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// pass advances fake time.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestWatchDebouncesEdits(t *testing.T) {
	t.Parallel()
	src := newScripted()
	inBubble(t, src, nil, func(f *fixture) {
		f.write("memory/a.md", "edited")
		src.changes <- indexer.Change{Path: f.path("memory/a.md")}
		pass(1400 * time.Millisecond)
		f.has("memory/a.md", "a")
		if s := f.x.SyncState(); !s.Dirty || s.PendingFiles != 1 {
			f.Errorf("state %+v", s)
		}
		pass(200 * time.Millisecond)
		f.has("memory/a.md", "edited")
		if s := f.x.SyncState(); s.Dirty || s.PendingFiles != 0 {
			f.Errorf("state %+v", s)
		}
	})
}

// Hazard B06: a file that was indexed before its folder was scanned goes with the folder.
func TestWatchOfFolderThatOnlyItsFileToldOf(t *testing.T) {
	t.Parallel()
	src := newScripted()
	inBubble(t, src, nil, func(f *fixture) {
		f.write("memory/new/deep/b.md", "b")
		src.changes <- indexer.Change{Path: f.path("memory/new/deep/b.md")}
		pass(2 * time.Second)
		f.has("memory/new/deep/b.md", "b")
		f.must(os.Rename(f.path("memory/new"), f.path("away")))
		src.changes <- indexer.Change{Path: f.path("memory/new"), Gone: true}
		pass(2 * time.Second)
		f.holds("memory/a.md")
	})
}

// Hazard B06: a folder that goes in the instant it is scanned leaves no files.
func TestWatchOfFolderThatGoesWhenItIsScanned(t *testing.T) {
	t.Parallel()
	src := newScripted()
	inBubble(t, src, nil, func(f *fixture) {
		f.write("memory/new/b.md", "b")
		src.changes <- indexer.Change{Path: f.path("memory/new")}
		pass(2 * time.Second)
		f.has("memory/new/b.md", "b")
		src.onAdd = func(dir string) {
			if dir == f.path("memory/new") {
				src.onAdd = nil
				f.must(os.Rename(dir, f.path("away")))
			}
		}
		src.changes <- indexer.Change{Path: f.path("memory/new")}
		pass(2 * time.Second)
		f.holds("memory/a.md")
	})
}

// Hazard B07: a file that is saved every half second is never more than MaxWait behind.
func TestWatchIndexesFilesThatKeepChanging(t *testing.T) {
	t.Parallel()
	src := newScripted()
	inBubble(t, src, nil, func(f *fixture) {
		saved := map[string]time.Time{}
		behind := time.Duration(0)
		saves := testkit.Rounds(7200, 480)
		for i := range saves {
			text := fmt.Sprint("save ", i)
			f.write("memory/a.md", text)
			saved[text] = time.Now()
			src.changes <- indexer.Change{Path: f.path("memory/a.md")}
			pass(500 * time.Millisecond)
			if got, _ := f.index.text("memory/a.md"); got != "a" {
				behind = max(behind, time.Since(saved[got]))
			} else if i > 20 {
				f.Fatal("nothing indexed after ten seconds")
			}
		}
		if behind > 11*time.Second {
			f.Errorf("up to %v behind", behind)
		}
		if n := f.index.writes("memory/a.md"); n < saves/24 || n > saves/18 {
			f.Errorf("indexed %d times for %d saves", n, saves)
		}
	})
}

// Hazard B04: if events were lost, everything is scanned and watched again.
func TestWatchScansEverythingAfterLostEvents(t *testing.T) {
	t.Parallel()
	src := newScripted()
	inBubble(t, src, nil, func(f *fixture) {
		for i := range 60 {
			f.write(fmt.Sprintf("memory/%d/x.md", i), "x")
		}
		for range 3 {
			src.changes <- indexer.Change{Err: errors.New("queue or buffer overflow")}
			pass(2 * time.Second)
		}
		if paths, _ := f.index.list(); len(paths) != 61 {
			f.Errorf("%d files are indexed", len(paths))
		}
		if src.made != 4 || !src.watches(f.path("memory/59")) {
			f.Errorf("%d watchers made, new folder watched: %v", src.made, src.watches(f.path("memory/59")))
		}
	})
}

// Hazard B04: a burst of more paths than are worth keeping apart is one full scan.
func TestWatchScansBurstsOnce(t *testing.T) {
	t.Parallel()
	src := newScripted()
	inBubble(t, src, nil, func(f *fixture) {
		before := f.count(indexer.SyncDone, "")
		f.write("memory/4999.md", "x")
		for i := range 5000 {
			src.changes <- indexer.Change{Path: f.path(fmt.Sprintf("memory/%d.md", i))}
		}
		pass(5 * time.Second)
		f.has("memory/4999.md", "x")
		if n := f.count(indexer.SyncDone, "") - before; n != 1 {
			f.Errorf("%d syncs", n)
		}
	})
}

func TestWatchIgnoresOtherFiles(t *testing.T) {
	t.Parallel()
	src := newScripted()
	inBubble(t, src, nil, func(f *fixture) {
		before := f.count(indexer.SyncStarted, "")
		f.write("memory/pic.png", "x")
		for _, p := range []string{"README.md", "memory/.a.md.swp", "memory/a.md~", "memory/pic.png", "memory/4913", "memory/.git/x.md", "other/x.md", "memory/node_modules"} {
			src.changes <- indexer.Change{Path: f.path(p)}
		}
		pass(20 * time.Second)
		if n := f.count(indexer.SyncStarted, "") - before; n != 0 {
			f.Errorf("%d syncs", n)
		}
	})
}

// Hazard B05: without watches the folder is polled, which is logged once and ends when there are watches again.
func TestWatchPollsWithoutWatches(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]int{"no watcher": 0, "too few watches": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			src := newScripted()
			src.limit = limit
			inBubble(t, src, func(o *indexer.Options) { o.Log = logTo(&log) }, func(f *fixture) {
				for i := range 20 {
					f.write(fmt.Sprintf("memory/%d/x.md", i), "x")
				}
				pass(6 * time.Second)
				if paths, _ := f.index.list(); len(paths) != 21 {
					f.Errorf("indexed: %q", paths)
				}
				if s := f.x.SyncState(); s.WatchMode != indexer.ModePolling || !strings.Contains(s.WatchNote, "max_user_watches") {
					f.Errorf("state %+v", s)
				}
				pass(time.Duration(testkit.Rounds(60, 8)) * time.Minute)
				if n := strings.Count(log.String(), "level=WARN"); n != 1 {
					f.Errorf("%d warnings:\n%s", n, log.String())
				}
				src.mu.Lock()
				src.limit = -1
				src.mu.Unlock()
				pass(6 * time.Minute)
				if s := f.x.SyncState(); s.WatchMode != indexer.ModeInotify || s.WatchNote != "" || !src.watches(f.path("memory/7")) {
					f.Errorf("state %+v", s)
				}
			})
		})
	}
}

// Hazard A23: a watch finds an edit that leaves size and time unchanged within the hour.
func TestWatchReconcilesAndVerifies(t *testing.T) {
	t.Parallel()
	src := newScripted()
	inBubble(t, src, nil, func(f *fixture) {
		f.index.blind = true
		// These edits cause no event; the second leaves size and time unchanged.
		f.write("memory/b.md", "one")
		old := time.Now().Add(-time.Hour)
		f.must(os.Chtimes(f.path("memory/b.md"), old, old))
		pass(5*time.Minute + time.Second)
		f.has("memory/b.md", "one")
		f.write("memory/b.md", "two")
		f.must(os.Chtimes(f.path("memory/b.md"), old, old))
		pass(5 * time.Minute)
		f.has("memory/b.md", "one")
		pass(time.Hour)
		f.has("memory/b.md", "two")
	})
}

// Hazard A12: syncs that fail are tried again, neither all the time nor too late.
func TestWatchRetriesFailedSyncs(t *testing.T) {
	t.Parallel()
	src := newScripted()
	inBubble(t, src, nil, func(f *fixture) {
		f.index.mu.Lock()
		f.index.fail = errors.New("disk full")
		f.index.mu.Unlock()
		f.write("memory/a.md", "edited")
		src.changes <- indexer.Change{Path: f.path("memory/a.md")}
		pass(time.Minute)
		if n := f.count(indexer.SyncFailed, ""); n < 2 || n > 6 {
			f.Errorf("failed %d times in a minute", n)
		}
		if s := f.x.SyncState(); s.LastErr == nil || s.PendingFiles != 1 || s.RetryAt.IsZero() || time.Until(s.RetryAt) > time.Minute {
			f.Errorf("state %+v", s)
		}
		f.index.mu.Lock()
		f.index.fail = nil
		f.index.mu.Unlock()
		pass(time.Minute)
		f.has("memory/a.md", "edited")
		if s := f.x.SyncState(); s.LastErr != nil || s.PendingFiles != 0 || !s.RetryAt.IsZero() || s.Dirty {
			f.Errorf("state after it succeeded %+v", s)
		}
	})
}

// Hazard A12: the sync of a person who has mended what made syncs fail ends the wait for the next one: what waits for it does not
// count as changed up to a minute longer.
func TestWatchGoesOnAfterASyncOfAPersonSucceeds(t *testing.T) {
	t.Parallel()
	src := newScripted()
	inBubble(t, src, nil, func(f *fixture) {
		fail := func(err error) {
			f.index.mu.Lock()
			defer f.index.mu.Unlock()
			f.index.fail = err
		}
		fail(errors.New("disk full"))
		f.write("memory/a.md", "edited")
		src.changes <- indexer.Change{Path: f.path("memory/a.md")}
		pass(time.Minute)
		for time.Until(f.x.SyncState().RetryAt) < 20*time.Second {
			pass(time.Second)
		}
		src.changes <- indexer.Change{Path: f.path("memory/a.md")}
		fail(nil)
		if _, err := f.x.Sync(f.Context(), indexer.SyncOptions{}, nil); err != nil {
			f.Fatal(err)
		}
		pass(5 * time.Second)
		if s := f.x.SyncState(); s.LastErr != nil || s.PendingFiles != 0 || s.Dirty {
			f.Errorf("state %+v", s)
		}
	})
}
