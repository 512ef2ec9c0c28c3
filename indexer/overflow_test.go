package indexer_test

import (
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"

	"kioku/indexer"
)

// queueLimit is how many events the system keeps for a reader that does not take them.
func queueLimit(t *testing.T) int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skip("no inotify here")
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n > 1<<18 {
		t.Skipf("the queue of this system is too long to fill: %q", text)
	}
	return n
}

// Hazard B04: when the system's own queue overflows, everything is scanned, since the dropped events never come.
func TestWatchScansEverythingAfterOverflow(t *testing.T) {
	t.Parallel()
	limit, log := queueLimit(t), &logBuffer{}
	var release func()
	f := setup(t, func(o *indexer.Options) {
		o.Log = slog.New(slog.NewTextHandler(log, nil))
		o.Watcher = func() (indexer.Watcher, error) {
			if release != nil {
				return indexer.NewFSWatcher()
			}
			w, let, err := indexer.NewHeldWatcher()
			release = let
			return w, err
		}
	})
	f.write("memory/first.md", "first")
	f.watching()
	f.until("the folder is watched", func() bool { return f.x.SyncState().WatchMode == indexer.ModeInotify })
	// Two events each; twice the queue, since the reader holds some of them already.
	names := [2]string{f.path("memory/one.tmp"), f.path("memory/other.tmp")}
	f.must(os.WriteFile(names[0], nil, 0o644))
	for i := range limit {
		f.must(os.Rename(names[i%2], names[(i+1)%2]))
	}
	f.write("memory/late.md", "nobody tells of this one")
	release()
	f.shows("memory/late.md", "nobody tells of this one")
	if !strings.Contains(log.String(), "queue or buffer overflow") {
		t.Errorf("the system's queue did not overflow: %s", log)
	}
	f.write("memory/after.md", "after")
	f.shows("memory/after.md", "after")
}
