package indexer_test

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"kioku/indexer"
)

// fixture is a workspace with an index of it.
type fixture struct {
	*testing.T
	dir   string
	split *paragraphs
	index *memIndex
	x     *indexer.Indexer

	mu     sync.Mutex
	events []indexer.Event
	clock  time.Duration // ahead of the real time
}

// setup makes a workspace. Its clock is an hour ahead, so that no file looks as if it had been written just now.
func setup(t *testing.T, change func(*indexer.Options)) *fixture {
	t.Helper()
	f := &fixture{T: t, dir: filepath.Join(t.TempDir(), "ws"), split: &paragraphs{}, index: newMemIndex(), clock: time.Hour}
	f.must(os.Mkdir(f.dir, 0o755))
	opt := indexer.Options{Workspace: f.dir, Now: f.now, Notify: f.note,
		Settings: indexer.Settings{Debounce: 50 * time.Millisecond, PollInterval: 50 * time.Millisecond}}
	if change != nil {
		change(&opt)
	}
	f.x = indexer.New(f.split, f.index, opt)
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Add(f.clock)
}

func (f *fixture) advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock += d
}

func (f *fixture) note(e indexer.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
}

// count returns how many events of a kind there were for a path, "" for any.
func (f *fixture) count(kind, path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, e := range f.events {
		if e.Kind == kind && (path == "" || e.Path == path) {
			n++
		}
	}
	return n
}

func (f *fixture) path(rel string) string { return filepath.Join(f.dir, rel) }

func (f *fixture) write(rel, text string) {
	f.Helper()
	f.must(os.MkdirAll(filepath.Dir(f.path(rel)), 0o755))
	f.must(os.WriteFile(f.path(rel), []byte(text), 0o644))
}

func (f *fixture) sync() indexer.Report {
	f.Helper()
	return f.syncWith(indexer.SyncOptions{})
}

func (f *fixture) syncWith(opt indexer.SyncOptions) indexer.Report {
	f.Helper()
	rep, err := f.x.Sync(f.Context(), opt, nil)
	f.must(err)
	return rep
}

// holds fails the test unless exactly these paths are indexed.
func (f *fixture) holds(want ...string) {
	f.Helper()
	slices.Sort(want)
	if got, _ := f.index.list(); !slices.Equal(got, want) {
		f.Errorf("indexed: %q, want %q", got, want)
	}
}

// skips fails the test unless a path is listed with a reason.
func (f *fixture) skips(path, reason string) {
	f.Helper()
	if _, skipped := f.index.list(); skipped[path] != reason {
		f.Errorf("%s is skipped for %q, want %q (all: %q)", path, skipped[path], reason, skipped)
	}
}

func (f *fixture) has(path, text string) {
	f.Helper()
	if got, _ := f.index.text(path); got != text {
		f.Errorf("%s holds %q, want %q", path, got, text)
	}
}

// until waits for a condition that must come true within two minutes.
func (f *fixture) until(what string, cond func() bool) {
	f.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !cond() {
		if time.Now().After(deadline) {
			paths, skipped := f.index.list()
			f.Fatalf("never happened: %s\nindexed: %q\nskipped: %q\nstate: %+v", what, paths, skipped, f.x.SyncState())
		}
		time.Sleep(2 * time.Millisecond) // asks again, and never decides how the test ends
	}
}

// reopen replaces the indexer by one with other options, as a restart does.
func (f *fixture) reopen(change func(*indexer.Options)) {
	opt := indexer.Options{Workspace: f.dir, Now: f.now, Notify: f.note}
	change(&opt)
	f.x = indexer.New(f.split, f.index, opt)
}
