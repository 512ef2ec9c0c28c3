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
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/store/checksumvfs"
	"kioku/store/storetest"
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
	_, err = s.AttachKnown(ctx, testSpace)
	return err
}

// change overwrites a closed index.
func change(t *testing.T, path string, edit func(file []byte)) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edit(file)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
}

// harbor is a file of n chunks with vectors.
func harbor(n int) note { return testFile("memory/harbor.md", newRand(), numbered("harbor", n)...) }

// Hazard A05: of the vectors of an index with one damaged page, all but those that need the page are salvaged.
func TestSalvageLosesOnlyWhatIsDamaged(t *testing.T) {
	t.Parallel()
	f := harbor(1000)
	dir := t.TempDir()
	s := openTestStore(t, dir)
	replace(t, s, f)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	pages := len(file) / checksumvfs.PageSize
	const roots = 30 // the first pages are roots of tables, without which a table cannot be read; a few others belong to the schema
	lost := 0
	for page := roots; page < pages; page += max(1, (pages-roots)/testkit.Rounds(40, 6)) {
		dir := t.TempDir()
		testkit.WriteFile(t, dir, "memory/main.sqlite", string(file))
		change(t, Path(dir, "main"), func(file []byte) { clear(file[page*checksumvfs.PageSize : (page+1)*checksumvfs.PageSize]) })
		s := openTestStore(t, dir)
		restore(t, s, f)
		if _, err := s.Check(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		restore(t, s, f)
		m := checkConsistent(t, s)
		if m.chunks != 1000 {
			t.Errorf("page %d: %d chunks", page, m.chunks)
		}
		if m.embedded < 1000-4*vecRows { // a leaf of the table of row ids has up to 500
			t.Logf("page %d: %d vectors are left", page, m.embedded)
			lost++
		}
	}
	if lost > 1+pages/50 {
		t.Errorf("%d of %d pages cost most vectors", lost, pages-roots)
	}
}

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
			if got := s.Repair() != nil || len(listAside(s.path, damagedSuffix)) > 0; got != c.found {
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

// Hazards A19, A20: rows that do not agree with each other are found by a check. Wrong texts, words and vectors are mended by
// the row, and other drift by a new index.
func TestCheckMendsDrift(t *testing.T) {
	t.Parallel()
	f := testFile("memory/a.md", newRand(), "harbor", "lantern", "ferry")
	for stmt, byRow := range map[string]bool{
		"UPDATE chunks SET text = 'other' WHERE id = 1":                                                 true,
		"UPDATE chunks SET sha256 = x'00' WHERE id = 2":                                                 true,
		"DELETE FROM chunks_fts WHERE rowid = 1; INSERT INTO chunks_fts (rowid, terms) VALUES (1, 'x')": true,
		"UPDATE chunks SET checksum = 5 WHERE id = 1":                                                   true,
		"DELETE FROM chunks_fts WHERE rowid = 2":                                                        false,
		"UPDATE files SET embedded = 1":                                                                 false,
		"UPDATE chunks_fts_data SET block = zeroblob(40) WHERE id > 10":                                 false,
		"DELETE FROM chunks_vec WHERE rowid = 3":                                                        false,
		"UPDATE meta SET chunks = 7":                                                                    false,
	} {
		t.Run(stmt, func(t *testing.T) {
			s := openTestStore(t, t.TempDir())
			replace(t, s, f)
			if err := recordSync(t, s); err != nil {
				t.Fatal(err)
			}
			if c, err := s.Check(t.Context(), nil); err != nil || len(c.Found) > 0 || c.Texts != 3 || c.Words == 0 || c.Vectors != 3 || c.Pages == 0 && c.Tables == 0 {
				t.Fatalf("before: %+v, %v", c, err)
			}
			want := dump(t, s)
			if _, err := s.current().db.writer.Exec(stmt); err != nil {
				t.Fatal(err)
			}
			c, err := s.Check(t.Context(), nil)
			if err != nil || len(c.Found) == 0 {
				t.Fatalf("%+v, %v", c, err)
			}
			if replaced := len(listAside(s.path, damagedSuffix)) > 0; replaced == byRow {
				t.Errorf("the index was replaced: %v", replaced)
			}
			restore(t, s, f)
			if err := s.PutVectors(t.Context(), testSpace, f.vectors); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, dump(t, s)); diff != "" {
				t.Error(diff)
			}
			if c, err := s.Check(t.Context(), nil); err != nil || len(c.Found) > 0 {
				t.Errorf("after: %+v, %v", c, err)
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
			if s.Repair() != nil || len(listAside(s.path, damagedSuffix)) > 0 {
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

// Hazard A12: a damaged index that cannot be replaced because the disk is full answers as far as it can be read, and is
// replaced as soon as there is room.
func TestReplaceWaitsForRoomOnTheDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := storetest.NewDisk(t, dir)
	now := time.Now()
	opt := testOptions()
	opt.Now = func() time.Time { return now }
	s, err := Open(t.Context(), Path(dir, "main"), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f := testFile("memory/a.md", newRand(), "harbor")
	replace(t, s, f)
	disk.SetQuota(0)
	if _, err := s.current().db.readers.Exec("SELECT 1"); err != nil {
		t.Fatal(err)
	}
	if err := s.noticeDamage(t.Context(), s.current(), errDamaged); err == nil {
		t.Error("the index was replaced without writing")
	}
	if r := s.Repair(); r == nil || r.Err == nil {
		t.Fatalf("%+v", r)
	}
	if got := match(t, s, memory.Filter{}, "harbor"); len(got) != 1 {
		t.Errorf("search finds %v", got)
	}
	disk.Heal()
	now = now.Add(repairRetry)
	if err := s.noticeDamage(t.Context(), s.current(), errDamaged); err != nil {
		t.Error(err)
	}
	restore(t, s, f)
	if m := checkConsistent(t, s); m.chunks != 1 || m.embedded != 1 || s.Repair() != nil {
		t.Errorf("%+v, %+v", m, s.Repair())
	}
}

// Hazards A08, A09: a process that is killed between two steps of replacing an index leaves nothing that the next start takes
// for a whole index, or leaves behind.
func TestFinishMoveAfterAKill(t *testing.T) {
	t.Parallel()
	moved := damagedSuffix + time.Now().UTC().Format(asideTime)
	for name, c := range map[string]struct{ files, want []string }{
		"draft":            {[]string{"", "-wal", ".new", ".new-journal"}, []string{"", "-wal"}},
		"index moved":      {[]string{"-wal", "-shm", moved, ".new"}, []string{moved, moved + "-shm", moved + "-wal"}},
		"half of the log":  {[]string{"-shm", moved, moved + "-wal"}, []string{moved, moved + "-wal"}},
		"all moved":        {[]string{moved, moved + "-wal", moved + "-shm", ".new"}, []string{moved, moved + "-shm", moved + "-wal"}},
		"log without all":  {[]string{"-wal", "-shm"}, nil},
		"log of a retired": {[]string{"-wal", corruptSuffix + moved[len(damagedSuffix):]}, []string{corruptSuffix + moved[len(damagedSuffix):]}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, suffix := range c.files {
				testkit.WriteFile(t, dir, "x"+suffix, "x")
			}
			if err := finishMove(filepath.Join(dir, "x")); err != nil {
				t.Fatal(err)
			}
			var got []string
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				got = append(got, strings.TrimPrefix(e.Name(), "x"))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Hazard A09: of the damaged indexes that are kept for people, only a few stay, and not for long.
func TestRetireKeepsAFewDamagedIndexes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x")
	now := time.Now()
	for i := range 3 * keepCorrupt {
		name := path + damagedSuffix + now.Add(time.Duration(i)*time.Hour).UTC().Format(asideTime)
		for _, suffix := range []string{"", "-wal"} {
			if err := os.WriteFile(name+suffix, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := retire(path, name, now); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 2*keepCorrupt {
		t.Errorf("%v, %v", entries, err)
	}
	if err := removeOldCorrupt(path, now.Add(2*keepCorruptFor)); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
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
	if m := checkConsistent(t, after); after.Repair() != nil || m.chunks != 21 || len(unsalvaged(after.path)) > 0 {
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

// A process that only reads goes on to the index that the owner has put in the place of a damaged one.
func TestReaderFollowsTheOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner := openTestStore(t, dir)
	f := harbor(5)
	replace(t, owner, f)
	opt := testOptions()
	opt.ReadOnly = true
	reader, err := Open(t.Context(), Path(dir, "main"), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := owner.noticeDamage(t.Context(), owner.current(), errDamaged); err != nil {
		t.Fatal(err)
	}
	restore(t, owner, f)
	replace(t, owner, testFile("memory/new.md", nil, "lantern"))
	if got := match(t, reader, memory.Filter{}, "lantern"); len(got) != 1 {
		t.Errorf("the reader finds %v", got)
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
			if err := s.PutVectors(t.Context(), testSpace, f.vectors); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, dump(t, s)); diff != "" {
			t.Errorf("log of %d bytes:\n%s", end, diff)
		}
	}
}
