package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kioku/search"
)

// lockEnv makes the test binary a process that looks for the locks of an index. Its value is the path of the index.
const lockEnv = "KIOKU_TEST_LOCK"

// lookForLocks is the process of lockEnv. It exits with 1 if it could take the lock with which SQLite closes a database for the
// last time, for which no other process may have it open.
func lookForLocks(path string) {
	const sharedFirst, sharedSize = 1<<30 + 2, 510 // the bytes that SQLite locks for a shared lock
	f, err := os.Open(path)
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: sharedFirst, Len: sharedSize}
	if err == nil {
		err = unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock)
	}
	if err != nil || lock.Type == unix.F_UNLCK {
		fmt.Println("no lock", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Hazard A24: a program that copies an open index finds the locks of SQLite, also after a check has read the file. Without them it
// would take itself for the last to close the index, write pages without checksums and remove the log.
func TestIndexKeepsItsLocksAfterACheck(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, harbor(20))
	other, err := Open(t.Context(), s.path, readOnlyOptions()) // and it is closed in the same process
	if err == nil {
		err = other.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if workspace, err := WorkspaceOf(t.Context(), s.path); err != nil || workspace == "" {
		t.Fatal(workspace, err)
	}
	if checked, err := s.Check(t.Context(), nil); err != nil || len(checked.Found) > 0 {
		t.Fatal(checked.Found, err)
	}
	replace(t, s, testFile("memory/new.md", newRand(), "lantern"))
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), lockEnv+"="+s.path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// readOnlyOptions are the options of a process that only reads.
func readOnlyOptions() Options {
	opt := testOptions()
	opt.ReadOnly = true
	return opt
}

// An index counts as intact while it is written to, whatever made somebody ask.
func TestIntactIsNotFooledByCommits(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, harbor(20))
	written := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 60 && err == nil; i++ {
			_, err = s.ReplaceFile(context.Background(), testFile(fmt.Sprintf("memory/%d.md", i), newRand(), numbered(fmt.Sprint("x", i), 3)...).File)
		}
		written <- err
	}()
	for {
		if !s.current().intact() {
			t.Error("an intact index counts as damaged")
		}
		select {
		case err := <-written:
			if err != nil {
				t.Error(err)
			}
			return
		case <-time.After(time.Microsecond):
		}
	}
}

// A reader whose view was still on a damaged index when it went on to the new one does not take the new one for damaged, and a
// call that ends for another reason does not report damage.
func TestReaderKeepsNoRepairOfAnOlderIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner := openTestStore(t, dir)
	f := harbor(5)
	replace(t, owner, f)
	reader, err := Open(t.Context(), Path(dir, "main"), readOnlyOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	gone := errors.New("the client is gone")
	err = reader.View(t.Context(), false, func(search.Reader) error {
		if err := owner.noticeDamage(t.Context(), owner.current(), errDamaged); err != nil {
			t.Fatal(err)
		}
		restore(t, owner, f)
		if _, err := reader.Stats(t.Context()); err != nil { // goes on to the new index
			t.Fatal(err)
		}
		return gone
	})
	if !errors.Is(err, gone) || IsDamage(err) || reader.Repair() != nil {
		t.Errorf("%v, %+v", err, reader.Repair())
	}
	if !isClosed(sql.ErrConnDone) || isClosed(gone) || isClosed(nil) {
		t.Error("isClosed")
	}
}
