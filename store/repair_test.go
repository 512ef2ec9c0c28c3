package store

import (
	"os"
	"strings"
	"testing"
	"time"

	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/store/checksumvfs"
	"kioku/store/storetest"
)

// Hazard A12: an index that was replaced but could not be opened, as without descriptors, is opened by the next call. It is not
// taken for damaged, so that of the indexes for people none is lost.
func TestReplacementThatCouldNotBeOpenedIsOpenedByTheNextCall(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := harbor(5)
	replace(t, s, f)
	x := s.current()
	if err := s.replaceFile(t.Context(), errDamaged, x.generation.Load(), x); err != nil {
		t.Fatal(err)
	}
	found := time.Now().Add(-time.Second)
	s.setRepair(x, &Repair{Cause: errDamaged.Error(), Since: found, Err: os.ErrPermission})
	s.triedAt = time.Now()
	if got := match(t, s, memory.Filter{}, "harbor"); len(got) != 5 {
		t.Errorf("the damaged index is not asked: found %v", got)
	}
	if aside := listAside(s.path, damagedSuffix, corruptSuffix); len(aside) != 1 {
		t.Errorf("set aside: %v", aside)
	}
	restore(t, s, f)
	if m := checkConsistent(t, s); m.chunks != 5 || m.embedded != 5 || s.Repair() != nil {
		t.Errorf("%+v, %+v", m, s.Repair())
	}
}

// Hazard A12: whatever step of a replacement fails, the generation never goes back, and the next call that may try again
// succeeds.
func TestReplaceGoesOnAfterAFailedStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		obstacle func(path string, now time.Time) string // a folder where the step wants to put a file
		stays    bool                                    // the damaged index stays in use
	}{
		"set aside": {func(path string, now time.Time) string {
			return path + damagedSuffix + now.UTC().Format(asideTime)
		}, true},
		"move the log": {func(path string, now time.Time) string {
			return path + damagedSuffix + now.UTC().Format(asideTime) + "-wal"
		}, false},
		"publish": {func(path string, _ time.Time) string { return path + openSuffix }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			now := time.Now()
			opt := testOptions()
			opt.Cache = openTestCache(t, dir)
			opt.Now = func() time.Time { return now }
			s, err := Open(t.Context(), Path(dir, "main"), opt)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			f := harbor(5)
			replace(t, s, f)
			before := s.Generation()
			obstacle := c.obstacle(s.path, now)
			os.Remove(obstacle)
			testkit.WriteFile(t, obstacle, "file", "")
			if err := s.noticeDamage(t.Context(), s.current(), errDamaged); err == nil {
				t.Fatal("the step did not fail")
			}
			if got := s.Generation(); got < before {
				t.Errorf("generation %d follows %d", got, before)
			}
			if c.stays {
				if got := match(t, s, memory.Filter{}, "harbor"); len(got) != 5 {
					t.Errorf("found %v", got)
				}
			}
			if err := os.RemoveAll(obstacle); err != nil {
				t.Fatal(err)
			}
			now = now.Add(repairRetry)
			if err := s.noticeDamage(t.Context(), s.current(), errDamaged); err != nil {
				t.Fatal(err)
			}
			if r := s.Repair(); r == nil || r.Err != nil {
				t.Errorf("%+v", r)
			}
			restore(t, s, f)
			if m := checkConsistent(t, s); m.chunks != 5 || m.embedded != 5 || m.generation <= before {
				t.Errorf("%+v", m)
			}
		})
	}
}

// A process that only reads says which page is damaged, and since when, as long as the owner has not mended it.
func TestReaderSaysWhatIsDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner := openTestStore(t, dir)
	replace(t, owner, harbor(200))
	flushLog(t, owner)
	reader, err := Open(t.Context(), owner.path, readOnlyOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	info, err := os.Stat(owner.path)
	if err != nil {
		t.Fatal(err)
	}
	for page := 2; page <= int(info.Size()/checksumvfs.PageSize); page++ {
		zeroPage(t, owner.path, page)
	}
	var first *Repair
	for range 2 {
		_, err := reader.Locate(t.Context(), "memory/harbor.md", 1)
		if err == nil || !strings.Contains(err.Error(), "does not have its checksum") || !strings.Contains(err.Error(), adviceReadOnly) {
			t.Errorf("error %v", err)
		}
		if first == nil {
			first = reader.Repair()
		}
		if first == nil || reader.Repair() != first {
			t.Errorf("%+v, then %+v", first, reader.Repair())
		}
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
	opt.Cache = openTestCache(t, dir)
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
