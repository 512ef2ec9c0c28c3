package checksumvfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/mattn/go-sqlite3"

	"kioku/internal/testkit"
)

// Hazard A07: a -shm file that is cut off while it is mapped ends no process. The transactions that run end, none begins any
// more, also on other connections, and new connections work once the old ones are closed.
func TestShmCutOff(t *testing.T) {
	if !testkit.InChild(t) {
		return
	}
	path := create(t, "WAL")
	reader, writer := open(t, path, 7), open(t, path, 7)
	for _, stmt := range []string{"BEGIN", "SELECT count(*) FROM t"} {
		if err := reader.exec(stmt); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.exec("DELETE FROM t WHERE id = 3"); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path+"-shm", 0); err != nil {
		t.Fatal(err)
	}
	if err := reader.exec("SELECT sum(length(x)) FROM t"); err != nil && !isIOErr(err) {
		t.Error(err)
	}
	if err := reader.exec("COMMIT"); err != nil {
		t.Error(err)
	}
	for name, db := range map[string]database{"reader": reader, "writer": writer} {
		if err := db.exec("SELECT count(*) FROM t"); !isIOErr(err) {
			t.Errorf("%s: %v", name, err)
		}
		if !db.pages.LostShm() {
			t.Errorf("%s was not told", name)
		}
	}
	for _, db := range []database{reader, writer} {
		if err := db.conn.Close(); err != nil {
			t.Error(err)
		}
	}
	again := open(t, path, 7)
	if err := again.exec("UPDATE t SET x = 1"); err != nil || again.pages.LostShm() {
		t.Errorf("%v, lost: %v", err, again.pages.LostShm())
	}
	if n, _ := again.pages.BadPages(); n > 0 {
		t.Errorf("%d bad pages", n)
	}
}

// Hazard A07: a -shm file that is overwritten by an older copy of it, or by zeros, is noticed, although no signal tells.
func TestShmOverwritten(t *testing.T) {
	for name, zeros := range map[string]bool{"copy": false, "zeros": true} {
		path := create(t, "WAL")
		db := open(t, path, 7)
		if err := db.exec("DELETE FROM t WHERE id = 3"); err != nil {
			t.Fatal(err)
		}
		older, err := os.ReadFile(path + "-shm")
		if err != nil {
			t.Fatal(err)
		}
		if err := db.exec("DELETE FROM t WHERE id = 4"); err != nil || db.pages.LostShm() {
			t.Fatal(err, db.pages.LostShm())
		}
		if zeros {
			clear(older)
		}
		f, err := os.OpenFile(path+"-shm", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(older); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := db.exec("SELECT count(*) FROM t"); !isIOErr(err) || !db.pages.LostShm() {
			t.Errorf("%s: %v, lost: %v", name, err, db.pages.LostShm())
		}
	}
}

// isIOErr reports whether an error is one of input or output.
func isIOErr(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrIoErr
}

// The signal of any other address is handled by Go.
func TestShmHandlerPassesOnOtherAddresses(t *testing.T) {
	if !testkit.InChild(t) {
		return
	}
	open(t, create(t, "WAL"), 7) // installs the handler
	f, err := os.Create(filepath.Join(t.TempDir(), "mapped"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(mapped)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() == nil {
			t.Error("a mapped file that is empty can be read")
		}
	}()
	t.Log(mapped[0])
}
