package store

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/store/storetest"
	"kioku/vectors"
)

// restore writes files like a sync after the index was replaced, and attaches the vectors that are known.
func restore(t *testing.T, s *Store, files ...note) {
	t.Helper()
	if err := resync(t.Context(), s, files...); err != nil {
		t.Fatal(err)
	}
}

// resync writes those files that the index lacks, as a sync does, and attaches the vectors that are known.
func resync(ctx context.Context, s *Store, files ...note) error {
	have, err := s.Files(ctx)
	if err != nil {
		return err
	}
	for _, f := range files {
		if have[f.Path].SHA256 == f.SHA256 {
			continue
		}
		if _, err := s.ReplaceFile(ctx, f.File); err != nil {
			return err
		}
	}
	if err := s.RecordSync(ctx, s.opt.Now()); err != nil {
		return err
	}
	return attachKnown(ctx, s)
}

// harbor is a file of n chunks with vectors.
func harbor(n int) note { return testFile("memory/harbor.md", newRand(), numbered("harbor", n)...) }

// Hazard A07: a log that was removed or is that of another index, or a shared-memory file of garbage, is noticed at the start.
func TestOpenNoticesAForeignLog(t *testing.T) {
	t.Parallel()
	f := harbor(20)
	crashed := func(t *testing.T, files ...note) string { // an index with a log, as a killed process leaves it
		dir := t.TempDir()
		s := openTestStore(t, dir)
		replace(t, s, f)
		if err := recordSync(t, s); err != nil {
			t.Fatal(err)
		}
		replace(t, s, files...)
		left := t.TempDir()
		entries, err := os.ReadDir(filepath.Join(dir, "memory"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			b, err := os.ReadFile(filepath.Join(dir, "memory", e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			testkit.WriteFile(t, left, "memory/"+e.Name(), string(b))
		}
		return left
	}
	other := crashed(t, testFile("memory/other.md", newRand(), "another folder"))
	for name, c := range map[string]struct {
		hurt  func(path string) error
		found bool
	}{
		"nothing": {func(string) error { return nil }, false},
		"removed": {func(path string) error { return os.Remove(path + "-wal") }, true},
		"foreign": {func(path string) error { return os.Rename(Path(other, "main")+"-wal", path+"-wal") }, true},
		"shm": {func(path string) error {
			return os.WriteFile(path+"-shm", []byte(strings.Repeat("garbage!", 4096)), 0o600)
		}, false},
		"cut": {func(path string) error { return os.Truncate(path+"-wal", 5000) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := crashed(t, testFile("memory/more.md", newRand(), "more"))
			if err := c.hurt(Path(dir, "main")); err != nil {
				t.Fatal(err)
			}
			s := openTestStore(t, dir)
			if got := s.Repair() != nil; got != c.found {
				t.Errorf("noticed: %v", got)
			}
			restore(t, s, f, testFile("memory/more.md", newRand(), "more"))
			if got := match(t, s, memory.Filter{}, "another"); len(got) != 0 {
				t.Errorf("answers come from the other index: %v", got)
			}
			if m := checkConsistent(t, s); m.chunks != 21 || m.files != 2 {
				t.Errorf("%+v", m)
			}
			if found, err := s.Check(t.Context(), nil); err != nil || len(found.Found) > 0 {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// dump returns the canonical dump of the index of a store.
func dump(t *testing.T, s *Store) string {
	t.Helper()
	if _, err := s.current().db.writer.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	return storetest.Dump(t, s.path)
}

// Hazards A12, A13: wherever a write or a sync fails, the call returns an error or succeeds, searches go on, the index does not
// count as damaged, and the same call succeeds once the disk works again.
func TestReplaceFileSurvivesFailingWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := storetest.NewDisk(t, dir)
	s := openTestStore(t, dir)
	replace(t, s, testFile("memory/a.md", newRand(), "harbor"))
	failed := 0
	for n := range testkit.Rounds(60, 12) {
		for _, cause := range []error{syscall.ENOSPC, syscall.EIO} {
			f := testFile("memory/b.md", newRand(), numbered(fmt.Sprint("round", n), 30)...)
			disk.FailAfter(n, cause)
			err := write(t.Context(), s, testSpace, f)
			if got := match(t, s, memory.Filter{}, "harbor"); len(got) != 1 {
				t.Fatalf("operation %d: search finds %v", n, got)
			}
			disk.Heal()
			if err != nil {
				failed++
				replace(t, s, f)
			}
			if s.Repair() != nil {
				t.Fatalf("operation %d (%v) counts as damage", n, cause)
			}
		}
	}
	if failed == 0 {
		t.Error("no write failed")
	}
	if m := checkConsistent(t, s); m.chunks != 31 || m.embedded != 31 {
		t.Errorf("%+v", m)
	}
}

// Hazard A24: a copy by VACUUM INTO under load is a whole index of its own. It has no checksums, so that an owner makes it
// again, and keeps its vectors.
func TestVacuumIntoCopiesAnIndexUnderLoad(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := harbor(50)
	replace(t, s, f)
	done := make(chan error)
	go func() {
		var err error
		for i := 0; i < 20 && err == nil; i++ {
			err = write(t.Context(), s, testSpace, testFile(fmt.Sprintf("memory/%d.md", i%3), nil, numbered("n", 20)...))
		}
		done <- err
	}()
	dir := t.TempDir()
	testkit.WriteFile(t, dir, "memory/keep", "")
	storetest.Copy(t, s.path, Path(dir, "main"))
	storetest.Copy(t, vectors.Path(filepath.Dir(filepath.Dir(s.path)), "main"), vectors.Path(dir, "main"))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	storetest.CheckIndex(t, Path(dir, "main"))
	copied := openTestStore(t, dir)
	restore(t, copied, f)
	if m := checkConsistent(t, copied); m.chunks != 50 || m.embedded != 50 {
		t.Errorf("%+v", m)
	}
}

// Hazard A24: a copy is whole also while no process has the index open and the log of one that was killed has commits, and the
// index stays intact.
func TestCopyOfACrashedIndexLeavesItIntact(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTestStore(t, dir)
	f, more := harbor(20), testFile("memory/more.md", newRand(), "lantern")
	replace(t, s, f)
	flushLog(t, s)
	replace(t, s, more)
	crashed := t.TempDir()
	for _, suffix := range []string{"", "-wal", openSuffix} {
		b, err := os.ReadFile(s.path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		testkit.WriteFile(t, crashed, "memory/main.sqlite"+suffix, string(b))
	}
	to := filepath.Join(t.TempDir(), "copy.sqlite")
	storetest.Copy(t, Path(crashed, "main"), to)
	storetest.CheckIndex(t, to)
	if n := storetest.Count(t, to, "SELECT count(*) FROM chunks"); n != 21 {
		t.Errorf("the copy has %d chunks", n)
	}
	after := openTestStore(t, crashed)
	if m := checkConsistent(t, after); after.Repair() != nil || m.chunks != 21 {
		t.Errorf("%+v, %+v", m, after.Repair())
	}
}

// Hazard A15: the log does not grow while a view stays open for long, beyond what is written meanwhile, and is cut after it.
func TestLogIsCutAfterALongView(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	tx, _, err := s.current().snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		replace(t, s, testFile(fmt.Sprintf("memory/%d.md", i), newRand(), numbered(strings.Repeat("long ", 200), 100)...))
	}
	grown := fileSize(s.path + "-wal")
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		replace(t, s, testFile(fmt.Sprintf("memory/%d.md", i), newRand(), numbered(strings.Repeat("long ", 200), 100)...))
	}
	const limit = 20 << 20 // journal_size_limit and one commit
	if size := fileSize(s.path + "-wal"); grown < 17<<20 || size > limit {
		t.Errorf("%d bytes during the view, %d after it", grown, size)
	}
}

// Hazard A25: an index on a network file system works, with a warning that says what to do.
func TestOpenWarnsOfANetworkFileSystem(t *testing.T) {
	t.Parallel()
	for fs, want := range map[string]bool{"": false, "NFS": true} {
		var log bytes.Buffer
		opt := testOptions()
		opt.Log = slog.New(slog.NewTextHandler(&log, nil))
		opt.FileSystem = func(string) string { return fs }
		s, err := Open(t.Context(), Path(t.TempDir(), "main"), opt)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(log.String(), "network file system") && strings.Contains(log.String(), "move the state folder"); got != want {
			t.Errorf("%q: %s", fs, &log)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Hazard A03: after a power cut the log ends anywhere. The index is that of an earlier commit, and intact.
func TestOpenAfterAPowerCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTestStore(t, dir)
	files := killNotes()
	for _, f := range files {
		replace(t, s, f)
	}
	sound, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(s.path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	want := dump(t, s)
	r := newRand()
	for range testkit.Rounds(100, 6) {
		left := t.TempDir()
		end := r.IntN(len(log))
		tail := [][]byte{nil, make([]byte, len(log)-end), bytes.Repeat([]byte("garbage!"), 1000)}[r.IntN(3)]
		testkit.WriteFile(t, left, "memory/main.sqlite", string(sound))
		testkit.WriteFile(t, left, "memory/main.sqlite-wal", string(log[:end])+string(tail))
		s := openTestStore(t, left)
		if c, err := s.Check(t.Context(), nil); err != nil || len(c.Found) > 0 {
			t.Errorf("log of %d bytes: %+v, %v", end, c, err)
		}
		restore(t, s, files...)
		for _, f := range files {
			if err := putVectors(t.Context(), s, testSpace, f.vectors); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, dump(t, s)); diff != "" {
			t.Errorf("log of %d bytes:\n%s", end, diff)
		}
	}
}
