package checksumvfs_test

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mattn/go-sqlite3"

	"kioku/store/checksumvfs"
)

// database is a connection to a database with checksums.
type database struct {
	conn  *sqlite3.SQLiteConn
	pages *checksumvfs.File
}

// open opens a database with an id.
func open(t *testing.T, path string, id uint64) database {
	t.Helper()
	db, err := tryOpen(t, path, id)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// tryOpen is open for a database that may be damaged.
func tryOpen(t *testing.T, path string, id uint64) (database, error) {
	t.Helper()
	f, err := checksumvfs.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	options := url.Values{}
	f.AddTo(options)
	conn, err := (&sqlite3.SQLiteDriver{}).Open("file:" + path + "?" + options.Encode())
	if err != nil {
		return database{pages: f}, err
	}
	db := database{conn.(*sqlite3.SQLiteConn), f}
	t.Cleanup(func() { db.conn.Close() })
	return db, nil
}

// exec runs a statement.
func (d database) exec(stmt string) error {
	_, err := d.conn.Exec(stmt, nil)
	return err
}

// create makes a database of a few dozen pages, in WAL mode or not.
func create(t *testing.T, journal string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	db := open(t, path, 7)
	const reserveBytes = 38 // SQLITE_FCNTL_RESERVE_BYTES
	if err := db.conn.SetFileControlInt("main", reserveBytes, checksumvfs.Reserve); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range []string{
		"PRAGMA journal_mode = " + journal,
		"CREATE TABLE t (id INTEGER PRIMARY KEY, x BLOB)",
		"INSERT INTO t (x) SELECT randomblob(3000) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT i FROM n)",
		"UPDATE t SET x = randomblob(9000) WHERE id % 7 = 0",
	} {
		if err := db.exec(stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
	if err := db.conn.Close(); err != nil { // also checkpoints
		t.Fatal(err)
	}
	return path
}

// readAll reads every page of the table, and returns the number of bad pages.
func readAll(t *testing.T, path string, id uint64) (int64, error) {
	t.Helper()
	db, err := tryOpen(t, path, id)
	if err == nil {
		err = db.exec("SELECT sum(length(hex(x))) FROM t")
	}
	bad, _ := db.pages.BadPages()
	return bad, err
}

func TestEveryPageHasAChecksum(t *testing.T) {
	for _, journal := range []string{"DELETE", "WAL"} {
		path := create(t, journal)
		file, err := os.ReadFile(path)
		if err != nil || len(file) < 10*checksumvfs.PageSize {
			t.Fatalf("%d bytes, %v", len(file), err)
		}
		for n := range len(file) / checksumvfs.PageSize {
			if id, ok := checksumvfs.PageID(file[n*checksumvfs.PageSize:(n+1)*checksumvfs.PageSize], uint32(n+1)); !ok || id != 7 {
				t.Errorf("%s: page %d has id %d, %v", journal, n+1, id, ok)
			}
		}
		if bad, err := readAll(t, path, 7); err != nil || bad != 0 {
			t.Errorf("%s: %d bad pages, %v", journal, bad, err)
		}
		if bad, err := readAll(t, path, 8); err == nil || bad == 0 {
			t.Errorf("%s: the pages of another database are taken", journal)
		}
	}
}

// Hazard A04: SQLite gets an error for every page that was changed, moved or cut off, and no process dies: the file is not
// mapped.
func TestReadNoticesEveryChange(t *testing.T) {
	path := create(t, "DELETE")
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const size = checksumvfs.PageSize
	second, third := sound[4*size:5*size], sound[5*size:6*size]
	for name, file := range map[string]string{
		"bit":   string(sound[:4*size+100]) + string(sound[4*size+100]^1) + string(sound[4*size+101:]),
		"zeros": string(sound[:4*size]) + strings.Repeat("\x00", size) + string(sound[5*size:]),
		"swap":  string(sound[:4*size]) + string(third) + string(second) + string(sound[6*size:]),
		"cut":   string(sound[:len(sound)-size-10]),
	} {
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(t, path, 7); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSetFaultFailsWrites(t *testing.T) {
	path := create(t, "DELETE")
	for want, cause := range map[sqlite3.ErrNo]error{sqlite3.ErrFull: syscall.ENOSPC, sqlite3.ErrIoErr: errors.New("broken")} {
		db := open(t, path, 7)
		asked := 0
		checksumvfs.SetFault(func(_ checksumvfs.Op, name string, _ int) error {
			if strings.HasPrefix(name, path) {
				asked++
				return fmt.Errorf("test: %w", cause)
			}
			return nil
		})
		err := db.exec("UPDATE t SET x = 1")
		checksumvfs.SetFault(nil)
		var e sqlite3.Error
		if !errors.As(err, &e) || e.Code != want || asked == 0 {
			t.Errorf("%v: got %v after %d questions", cause, err, asked)
		}
		if err := db.exec("UPDATE t SET x = 1 WHERE id = 1"); err != nil {
			t.Errorf("after %v: %v", cause, err)
		}
	}
}

func BenchmarkPageID(b *testing.B) {
	page := make([]byte, checksumvfs.PageSize)
	b.SetBytes(checksumvfs.PageSize)
	for b.Loop() {
		checksumvfs.PageID(page, 1)
	}
}
