package kioku

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kioku/indexer"
	"kioku/internal/testkit"
	"kioku/memory"
)

// trouble is something that keeps an index from being written or a folder from being read.
type trouble struct {
	// begin and end start and stop it.
	begin, end func() error
	// reason is a part of what an answer says about it.
	reason string
	// waiting says that an answer knows how many files wait.
	waiting bool
}

// inChild runs the calling test once more in a process of its own, whose limits it may change, and reports whether this is
// that process.
func inChild(t *testing.T) bool {
	t.Helper()
	const env = "KIOKU_TEST_CHILD"
	if os.Getenv(env) == t.Name() {
		signal.Ignore(syscall.SIGXFSZ)
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), env+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// limit returns a function that sets the soft limit of a resource.
func limit(t *testing.T, resource int, value uint64) func() error {
	t.Helper()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(resource, &old); err != nil {
		t.Fatal(err)
	}
	return func() error {
		return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: min(value, old.Max), Max: old.Max})
	}
}

// Hazards A12, A13: while the index cannot grow, every answer says so, searches work, and all is indexed when there is room.
func TestSearchSaysThatTheIndexCannotGrow(t *testing.T) {
	if !inChild(t) {
		return
	}
	checkTrouble(t, t.TempDir(), trouble{
		begin: limit(t, syscall.RLIMIT_FSIZE, 16<<10), end: limit(t, syscall.RLIMIT_FSIZE, 1<<62),
		reason: "files to the index", waiting: true,
	})
}

// Hazard A12: the same on a disk that is full.
func TestSearchSaysThatTheDiskIsFull(t *testing.T) {
	state := t.TempDir()
	if err := syscall.Mount("kioku-test", state, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("only who may mount a small disk can fill it: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(state, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	filler := filepath.Join(state, "filler")
	checkTrouble(t, state, trouble{
		begin: func() error {
			if err := os.WriteFile(filler, make([]byte, 4<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
				return fmt.Errorf("the disk is not full: %w", err)
			}
			return nil
		},
		end:    func() error { return os.Remove(filler) },
		reason: "disk is full", waiting: true,
	})
}

// Hazard A13: out of file descriptors, every answer says so, and all is indexed when there are some again.
func TestSearchSaysThatFileDescriptorsAreShort(t *testing.T) {
	if !inChild(t) {
		return
	}
	checkTrouble(t, t.TempDir(), trouble{
		begin: limit(t, syscall.RLIMIT_NOFILE, 3), end: limit(t, syscall.RLIMIT_NOFILE, 1024),
		reason: "too many open files",
	})
}

// checkTrouble watches a workspace in which files appear during a trouble that ends.
func checkTrouble(t *testing.T, state string, bad trouble) {
	t.Helper()
	ws := workspace(t, map[string]string{"MEMORY.md": "The lighthouse opens at nine.", "memory/1.md": "The ferry was late."})
	m := openMemory(t, Options{Workspace: ws, StateDir: state, Index: IndexOptions{
		Debounce: 10 * time.Millisecond, PollInterval: 50 * time.Millisecond, Interval: 500 * time.Millisecond}})
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	failed := countFailures(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watched := make(chan error, 1)
	go func() { watched <- m.Watch(ctx) }()
	const files = 3
	appear := hiddenFiles(t, ws, files)
	askUntil(t, m, "lighthouse", func(a memory.Answer) bool { return len(a.Degraded) == 0 })
	if err := bad.begin(); err != nil {
		t.Fatal(err)
	}
	appear()
	count := regexp.MustCompile(`.*`)
	if bad.waiting { // some files may have found room
		count = regexp.MustCompile(fmt.Sprintf(`, and [1-%d] changed files? (is|are) not indexed yet: `, files))
	}
	told := func(list []memory.Degradation) bool {
		return strings.Contains(stale(list), bad.reason) && count.MatchString(stale(list))
	}
	askUntil(t, m, "lighthouse", func(a memory.Answer) bool { return told(a.Degraded) })
	for begun := time.Now(); time.Since(begun) < 400*time.Millisecond; {
		askUntil(t, m, "lighthouse", func(a memory.Answer) bool {
			if !told(a.Degraded) {
				t.Fatalf("an answer says %+v, and not %q", a.Degraded, bad.reason)
			}
			return true
		})
		st, err := m.Status(t.Context())
		if err != nil && strings.Contains(err.Error(), "too many open files") {
			continue
		}
		if err != nil || !told(st.Degraded) {
			t.Fatalf("the status says %+v, %v", st.Degraded, err)
		}
	}
	if n := failed.Load(); n == 0 || n > 10 {
		t.Errorf("%d syncs have failed", n)
	}
	if err := bad.end(); err != nil {
		t.Fatal(err)
	}
	askUntil(t, m, "windmill 2", func(a memory.Answer) bool { return stale(a.Degraded) == "" && hasSnippet(a, "windmill 2 ") })
	cancel()
	if err := <-watched; err != nil {
		t.Error(err)
	}
	checkIndex(t, m)
}

// hiddenFiles writes files of 12 KiB beside a workspace. The function that it returns moves them there, which needs no room and
// no file descriptors.
func hiddenFiles(t *testing.T, ws string, n int) (appear func()) {
	t.Helper()
	beside := t.TempDir()
	for i := range n {
		var text strings.Builder
		for line := 0; text.Len() < 12<<10; line++ {
			fmt.Fprintf(&text, "The windmill %d was painted green on day %d, by %x.\n", i, line, line*7919)
		}
		testkit.WriteFile(t, beside, fmt.Sprintf("windmill%d.md", i), text.String())
	}
	return func() {
		for i := range n {
			name := fmt.Sprintf("windmill%d.md", i)
			if err := os.Rename(filepath.Join(beside, name), filepath.Join(ws, "memory", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// askUntil searches until an answer is as it must become.
func askUntil(t *testing.T, m *Memory, text string, done func(memory.Answer) bool) {
	t.Helper()
	for begun := time.Now(); ; {
		if time.Since(begun) > 2*time.Minute {
			t.Fatal("never happened")
		}
		a, err := m.Search(t.Context(), memory.Query{Text: text})
		if err != nil && strings.Contains(err.Error(), "too many open files") {
			continue // a search may need a connection that is not open yet, and says so
		}
		if err != nil {
			t.Fatal(err)
		}
		if text == "lighthouse" && (len(a.Hits) == 0 || a.Hits[0].Path != "MEMORY.md") {
			t.Fatalf("no hit for what was indexed before: %+v", a)
		}
		if done(a) {
			return
		}
	}
}

// stale returns what a list says of an index that lags behind its folder, "" if nothing.
func stale(list []memory.Degradation) string {
	for _, d := range list {
		if d.Code == memory.IndexStale {
			return d.Text
		}
	}
	return ""
}

// countFailures counts the syncs that fail from now on.
func countFailures(t *testing.T, m *Memory) *atomic.Int64 {
	n := new(atomic.Int64)
	events := m.Subscribe(t.Context())
	go func() {
		for ev := range events {
			if ev.Kind == indexer.SyncFailed && ev.Path == "" {
				n.Add(1)
			}
		}
	}()
	return n
}
