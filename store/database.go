package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	vec "github.com/asg017/sqlite-vec-go-bindings/cgo"
	"github.com/mattn/go-sqlite3"
)

// loadVec registers sqlite-vec with SQLite, once a process: the library offers no other way.
var loadVec = sync.OnceFunc(vec.Auto)

// database is an open index file: one connection that writes, and a pool that only reads.
type database struct {
	path    string
	writer  *sql.DB
	readers *sql.DB
}

const (
	// maxViews bounds the views that are open at the same time.
	maxViews = 8
	// readerPool bounds the reading connections: two for each view, and some for everything that reads in passing.
	readerPool = 2*maxViews + 4
)

// openDatabase opens or makes the index at path with the current schema. log is told of vectors that are lost by that.
func openDatabase(ctx context.Context, path string, readOnly bool, log *slog.Logger) (*database, error) {
	loadVec()
	if err := prepareFile(path, readOnly); err != nil {
		return nil, err
	}
	fixed, err := isFixed(path)
	if err != nil {
		return nil, err
	}
	if err := inspect(ctx, path, fixed); err != nil {
		return nil, err
	}
	db := connect(path, fixed)
	if readOnly {
		err = db.checkReadable(ctx)
	} else {
		err = migrate(ctx, db.writer, log)
	}
	if err != nil {
		return nil, errors.Join(err, db.close())
	}
	return db, nil
}

// inspect returns memory.ErrForeignFile and memory.ErrNewerSchema for a file that must not be touched, without changing a byte of it:
// the connections of connect would put any database into WAL mode.
func inspect(ctx context.Context, path string, fixed bool) error {
	db := sql.OpenDB(connector{dsn: dsn(path, "deferred", fixed) + "&mode=ro"})
	_, err := schemaVersionOf(ctx, db)
	return errors.Join(err, db.Close())
}

// isFixed reports whether an index lies in a folder that cannot be written, so that nobody changes it and SQLite must not
// look for the files that it would need to share it.
func isFixed(path string) (bool, error) {
	const writable = 2 // W_OK of access(2)
	if syscall.Access(filepath.Dir(path), writable) == nil {
		return false, nil
	}
	if fileSize(path+"-wal") > 0 {
		return true, errors.New("its folder cannot be written and its last changes are still in the -wal file: open it once with the right to write")
	}
	return true, nil
}

// checkReadable refuses an index of another schema; a read-only opener may not make it anew.
func (d *database) checkReadable(ctx context.Context) error {
	version, err := schemaVersionOf(ctx, d.readers)
	if err == nil && version != schemaVersion {
		err = fmt.Errorf("the index has schema %d and this program needs %d: open it once with the right to write",
			version, schemaVersion)
	}
	return err
}

// prepareFile makes the folder 0700 and an empty file 0600 before SQLite can make either with wider rights; -wal and
// -shm take over the file's mode.
func prepareFile(path string, readOnly bool) error {
	if readOnly {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("there is no index yet at %s: run kioku index first", path)
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make state folder: %w", err)
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("it is not a regular file; move it away or choose another state folder")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("make index: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("make index: %w", err)
	}
	return os.Chmod(path, 0o600)
}

// connect prepares the connections; nothing is opened before the first use.
func connect(path string, fixed bool) *database {
	w := sql.OpenDB(connector{dsn: dsn(path, "immediate", fixed), pragmas: writerPragmas})
	w.SetMaxOpenConns(1)
	r := sql.OpenDB(connector{dsn: dsn(path, "deferred", fixed), pragmas: readerPragmas})
	r.SetMaxOpenConns(readerPool)
	r.SetMaxIdleConns(readerPool)
	r.SetConnMaxIdleTime(time.Minute)
	return &database{path: path, writer: w, readers: r}
}

const (
	// A large page cache makes inserts into vec0 three times as fast.
	// A checkpoint at 16 MB, the size that the log has anyway, copies pages that change with every commit less often.
	// secure_delete overwrites what is deleted, and temporary tables need no writable folder.
	writerPragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -64000; " +
		"PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 16777216; PRAGMA wal_autocheckpoint = 4000; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY"
	// Readers read through the memory map, so their page caches stay small however many there are.
	readerPragmas = "PRAGMA query_only = ON; PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -2000"
)

// dsn builds the name that go-sqlite3 opens; the path is escaped, for it may hold '?' or '%'.
func dsn(path, txlock string, fixed bool) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	options := url.Values{"_busy_timeout": {"5000"}, "_txlock": {txlock}}
	if fixed {
		options.Set("immutable", "1")
	}
	u.RawQuery = options.Encode()
	return u.String()
}

// connector opens connections with their pragmas set, without registering a driver for the whole process.
type connector struct {
	dsn, pragmas string
}

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	if _, err := conn.(*sqlite3.SQLiteConn).Exec(c.pragmas, nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

// close closes all connections; the last one checkpoints the write-ahead log.
func (d *database) close() error {
	return errors.Join(d.readers.Close(), d.writer.Close())
}

// isDamage reports whether err says that the file is no sound database.
func isDamage(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrNotADB || e.Code == sqlite3.ErrCorrupt)
}

// damagedMark ends the name of the mark that condemn leaves beside a database.
const damagedMark = ".damaged"

// condemn marks a database in which a write met damage, so that the next opening sets it aside: nothing less mends it. It
// returns err, with what to do where it tells of damage.
func (d *database) condemn(err error) error {
	if !isDamage(err) {
		return err
	}
	if markErr := os.WriteFile(d.path+damagedMark, nil, 0o600); markErr != nil {
		return errors.Join(err, fmt.Errorf("mark the index as damaged: %w", markErr))
	}
	return fmt.Errorf("the index is damaged and is made anew at the next start (run kioku index, or start kioku serve again): %w", err)
}

// setCondemnedAside sets a database aside that condemn has marked, and returns its new name; "" where there is no mark.
func setCondemnedAside(path string) (string, error) {
	if _, err := os.Lstat(path + damagedMark); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	aside, err := setAside(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("set damaged index aside: %w", err)
	}
	return aside, os.Remove(path + damagedMark)
}

// setAside renames a damaged database and its companions, which would otherwise be replayed into a new one.
func setAside(path string) (string, error) {
	aside := path + ".corrupt-" + time.Now().UTC().Format("20060102T150405.000000000")
	if err := os.Rename(path, aside); err != nil {
		return "", err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}
