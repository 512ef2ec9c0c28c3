package indexer_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"kioku/indexer"
)

// logBuffer is a log for several goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const internal = "internal error while reading it (see the log)"

// explodes returns a fixture whose splitter panics on a file that contains "bomb".
func explodes(t *testing.T) (*fixture, *logBuffer) {
	log := &logBuffer{}
	f := setup(t, func(o *indexer.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	f.split.during = func(src []byte) {
		if bytes.Contains(src, []byte("bomb")) {
			panic("index out of everything")
		}
	}
	f.write("memory/a.md", "one")
	f.write("memory/b.md", "a bomb")
	f.write("memory/c.md", "three")
	return f, log
}

// Hazard D14: a panic over one file costs that file, not the process.
func TestSyncSkipsFilesThatMakeSplitterPanic(t *testing.T) {
	t.Parallel()
	f, log := explodes(t)
	if rep := f.sync(); rep.Files != 2 || rep.Skipped != 1 {
		t.Errorf("report %+v", rep)
	}
	f.holds("memory/a.md", "memory/c.md")
	f.skips("memory/b.md", internal)
	for _, want := range []string{"index out of everything", "memory/b.md", "goroutine", "paragraphs"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, log)
		}
	}
	f.sync()
	if n := f.index.writes("memory/b.md"); n != 1 {
		t.Errorf("the same misfortune was written %d times", n)
	}
	f.write("memory/b.md", "harmless")
	f.sync()
	f.has("memory/b.md", "harmless")
	f.holds("memory/a.md", "memory/b.md", "memory/c.md")
}

// Hazard D14: an edit that makes a file explode takes its old text out of the index.
func TestSyncSkipsEditedFilesThatMakeSplitterPanic(t *testing.T) {
	t.Parallel()
	f, _ := explodes(t)
	f.sync()
	f.write("memory/a.md", "one and a bomb")
	f.sync()
	f.skips("memory/a.md", internal)
	f.has("memory/a.md", "")
}

// Hazard D14: a rebuild survives such a file too.
func TestRebuildSkipsFilesThatMakeSplitterPanic(t *testing.T) {
	t.Parallel()
	f, _ := explodes(t)
	_, err := f.x.Rebuild(t.Context(), nil)
	f.must(err)
	f.holds("memory/a.md", "memory/c.md")
	f.skips("memory/b.md", internal)
}
