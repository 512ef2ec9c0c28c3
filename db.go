package kioku

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

// openDatabase opens or makes the index at path with the current schema. A file that is no database is set aside as
// *.corrupt-<time>.
func openDatabase(ctx context.Context, path string, readOnly bool, log *slog.Logger) (*database, error) {
	loadVec()
	if err := prepareFile(path, readOnly); err != nil {
		return nil, err
	}
	db := connect(path)
	if readOnly {
		return db, db.checkReadable(ctx)
	}
	err := migrate(ctx, db.writer)
	if err == nil || !isDamage(err) {
		return db.orClose(err)
	}
	db.close()
	aside, asideErr := setAside(path)
	if asideErr != nil {
		return nil, fmt.Errorf("set damaged index aside: %w", errors.Join(err, asideErr))
	}
	log.Warn("index was damaged; it is set aside and made anew", "path", path, "aside", aside, "err", err)
	if err := prepareFile(path, false); err != nil {
		return nil, err
	}
	db = connect(path)
	return db.orClose(migrate(ctx, db.writer))
}

// orClose returns db, or closes it where err is not nil.
func (d *database) orClose(err error) (*database, error) {
	if err != nil {
		d.close()
		return nil, fmt.Errorf("open index %s: %w", d.path, err)
	}
	return d, nil
}

// checkReadable refuses a database that cannot be read as it stands; a read-only opener may not mend it.
func (d *database) checkReadable(ctx context.Context) error {
	tx, err := d.readers.BeginTx(ctx, nil)
	if err == nil {
		defer tx.Rollback()
		var version int
		if version, err = schemaVersionOf(ctx, tx); err == nil && version != schemaVersion {
			err = fmt.Errorf("the index has schema %d and this program needs %d: open it once with the right to write",
				version, schemaVersion)
		}
	}
	if err != nil {
		return fmt.Errorf("open index %s: %w", d.path, err)
	}
	return nil
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
		return fmt.Errorf("open index %s: it is not a regular file; move it away or choose another state folder", path)
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
func connect(path string) *database {
	w := sql.OpenDB(connector{dsn: dsn(path, "immediate"), pragmas: writerPragmas})
	w.SetMaxOpenConns(1)
	r := sql.OpenDB(connector{dsn: dsn(path, "deferred"), pragmas: readerPragmas})
	r.SetMaxOpenConns(readerPool)
	r.SetMaxIdleConns(readerPool)
	r.SetConnMaxIdleTime(time.Minute)
	return &database{path: path, writer: w, readers: r}
}

const (
	// A large page cache makes inserts into vec0 three times as fast.
	writerPragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -64000; " +
		"PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 16777216"
	// Readers read through the memory map, so their page caches stay small however many there are.
	readerPragmas = "PRAGMA query_only = ON; PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -2000"
)

// dsn builds the name that go-sqlite3 opens; the path is escaped, for it may hold '?' or '%'.
func dsn(path, txlock string) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	u.RawQuery = url.Values{"_busy_timeout": {"5000"}, "_txlock": {txlock}}.Encode()
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
		conn.Close()
		return nil, err
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
