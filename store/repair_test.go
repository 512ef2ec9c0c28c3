package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/store/checksumvfs"
	"kioku/store/storetest"
)

// Hazard A12: whatever step of a replacement fails, the generation never goes back, and the next call that may try again
// succeeds.
func TestReplaceGoesOnAfterAFailedStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		suffix string // of a folder where the step wants to put or remove a file
		stays  bool   // the damaged index stays in use
	}{
		"draft":   {newSuffix, true},
		"publish": {openSuffix, false},
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
			obstacle := s.path + c.suffix
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

// Hazards A08, A09: a process that is killed between two steps of replacing an index leaves nothing that the next start takes
// for a whole index, or leaves behind.
func TestOpenAfterAKilledReplacement(t *testing.T) {
	t.Parallel()
	for name, left := range map[string][]string{
		"draft":                 {newSuffix, newSuffix + "-journal"},
		"index removed":         {"-wal", "-shm", openSuffix, newSuffix},
		"half of the log":       {"-shm", newSuffix},
		"of earlier versions":   {".corrupt-20260101T120000.000000000", ".damaged-20260101T120000.000000000", ".damaged-20260101T120000.000000000-wal"},
		"an empty file and all": {"", "-wal", "-shm", openSuffix, newSuffix},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, suffix := range left {
				text := "x"
				if suffix == "" {
					text = ""
				}
				testkit.WriteFile(t, dir, "memory/main.sqlite"+suffix, text)
			}
			s := openTestStore(t, dir)
			replace(t, s, harbor(3))
			if m := checkConsistent(t, s); m.chunks != 3 || s.Repair() != nil {
				t.Errorf("%+v, %+v", m, s.Repair())
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			entries, err := os.ReadDir(filepath.Join(dir, "memory"))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if suffix, ours := strings.CutPrefix(e.Name(), "main.sqlite"); ours && suffix != "" && suffix != "-wal" && suffix != "-shm" {
					t.Errorf("left: %s", e.Name())
				}
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
