package store

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"kioku/internal/testkit"
	"kioku/store/checksumvfs"
	"kioku/store/storetest"
)

// churn writes and removes files, so that pages of every kind are written, freed and used again.
func churn(t *testing.T, s *Store, rounds int) {
	t.Helper()
	for round := range rounds {
		path := fmt.Sprintf("memory/%d.md", round%5)
		replace(t, s, testFile(path, newRand(), numbered(fmt.Sprint("round", round), 20+10*(round%7))...))
		if round%4 == 3 {
			if _, err := s.ReplaceFile(t.Context(), testFile(path, newRand()).File); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// flushLog copies the log of an index into its file.
func flushLog(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.current().db.writer.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
}

// Hazard A04: an intact index has no page of zeros, so a check takes none for one that was never written, also when SQLite has
// the page in memory.
func TestCheckFindsEveryZeroedPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTestStore(t, dir)
	churn(t, s, 24)
	flushLog(t, s)
	checkFinds := func(page int, want bool) {
		t.Helper()
		checked, err := s.Check(t.Context(), nil)
		if err != nil || (len(checked.Found) > 0) != want {
			t.Fatalf("page %d: found %q, %v", page, checked.Found, err)
		}
	}
	checkFinds(0, false)
	info, err := os.Stat(s.path)
	if err != nil {
		t.Fatal(err)
	}
	pages := int(info.Size() / checksumvfs.PageSize)
	for page := 1; page <= pages; page += max(1, pages/testkit.Rounds(60, 8)) {
		churn(t, s, 5)
		flushLog(t, s)
		checkFinds(page, false) // and reads every page into memory
		zeroPage(t, s.path, page)
		checkFinds(page, true)
	}
}

// A process that only reads finds pages of zeros too: doctor does.
func TestCheckOfAReaderFindsZeroedPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner := openTestStore(t, dir)
	churn(t, owner, 24)
	if err := owner.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(owner.path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 2*checksumvfs.PageSize), info.Size()-2*checksumvfs.PageSize); err != nil {
		t.Fatal(err)
	}
	opt := owner.opt
	opt.ReadOnly = true
	s, err := Open(t.Context(), owner.path, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if checked, err := s.Check(t.Context(), nil); err == nil || len(checked.Found) == 0 { // only an owner mends
		t.Errorf("found %q, %v", checked.Found, err)
	}
}

// A check on a connection that has searched before the last commits takes the segments of words that these have merged away
// for damage, unless it asks FTS5 for the new ones.
func TestCheckFindsNothingAfterCommitsOfAnotherConnection(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	for round := range 20 {
		churn(t, s, 2+round%3)
		if checked, err := s.Check(t.Context(), nil); err != nil || len(checked.Found) > 0 {
			t.Fatalf("round %d: found %q, %v", round, checked.Found, err)
		}
	}
}

// zeroPage overwrites a page of a file that is open with zeros.
func zeroPage(t *testing.T, path string, page int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(make([]byte, checksumvfs.PageSize), int64(page-1)*checksumvfs.PageSize)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Hazard A12: a checkpoint that a full disk has cut short leaves a file that is shorter than its first page says. The log has the
// rest, so that is no damage.
func TestCheckOnAFullDiskFindsNoDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := storetest.NewDisk(t, dir)
	s := openTestStore(t, dir)
	cut := 0
	for n := range testkit.Rounds(40, 10) {
		churn(t, s, 2+n%3)
		disk.FailAfter(1+3*n, syscall.ENOSPC)
		_, flushErr := s.current().db.writer.Exec("PRAGMA wal_checkpoint(PASSIVE)")
		if flushErr != nil {
			cut++
		}
		checked, _ := s.Check(t.Context(), nil)
		if len(checked.Found) > 0 || s.Repair() != nil {
			t.Fatalf("after %d operations: found %q, %+v", 1+3*n, checked.Found, s.Repair())
		}
		disk.Heal()
		if checked, err := s.Check(t.Context(), nil); err != nil || len(checked.Found) > 0 {
			t.Fatalf("after %d operations, healed: found %q, %v", 1+3*n, checked.Found, err)
		}
	}
	if cut == 0 {
		t.Error("no checkpoint was cut short")
	}
}
