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

// loadVec registers sqlite-vec with SQLite for the whole process: the library offers no other way.
var loadVec = sync.OnceFunc(vec.Auto)

// database is an open index file: one connection for writing, and a pool of connections that only read.
type database struct {
	path    string
	writer  *sql.DB
	readers *sql.DB
}

const (
	// maxViews is the maximum number of views that are open at the same time.
	maxViews = 8
	// readerPool is the maximum number of reading connections: two for each view, and a few for other queries.
	readerPool = 2*maxViews + 4
)

// openDatabase opens the index at path and creates it or updates its schema if necessary. It logs vectors that are lost by an
// update.
func openDatabase(ctx context.Context, path string, readOnly bool, log *slog.Logger) (*database, error) {
	loadVec()
	if err := prepareFile(path, readOnly); err != nil {
		return nil, err
	}
	immutable, err := inReadOnlyFolder(path)
	if err != nil {
		return nil, err
	}
	if err := checkFile(ctx, path, immutable); err != nil {
		return nil, err
	}
	db := openConnections(path, immutable)
	if readOnly {
		err = db.checkSchema(ctx)
	} else {
		err = migrate(ctx, db.writer, log)
	}
	if err != nil {
		return nil, errors.Join(err, db.close())
	}
	return db, nil
}

// checkFile returns memory.ErrForeignFile and memory.ErrNewerSchema for a file that must not be changed. It does not change the
// file, whereas the connections of openConnections put any database into WAL mode.
func checkFile(ctx context.Context, path string, immutable bool) error {
	db := sql.OpenDB(connector{dsn: dsn(path, "deferred", immutable) + "&mode=ro"})
	_, err := schemaVersionOf(ctx, db)
	return errors.Join(err, db.Close())
}

// inReadOnlyFolder reports whether an index is in a folder without the right to write. Then nobody changes the index, and
// SQLite must not look for the -wal and -shm files that it needs to share it.
func inReadOnlyFolder(path string) (bool, error) {
	const writable = 2 // W_OK of access(2)
	if syscall.Access(filepath.Dir(path), writable) == nil {
		return false, nil
	}
	if fileSize(path+"-wal") > 0 {
		return true, errors.New("its folder cannot be written and its last changes are still in the -wal file: open it once with the right to write")
	}
	return true, nil
}

// checkSchema returns an error for an index of another schema, which a read-only process must not update.
func (d *database) checkSchema(ctx context.Context) error {
	version, err := schemaVersionOf(ctx, d.readers)
	if err == nil && version != schemaVersion {
		err = fmt.Errorf("the index has schema %d and this program needs %d: open it once with the right to write",
			version, schemaVersion)
	}
	return err
}

// prepareFile creates the folder with mode 0700 and an empty file with mode 0600, before SQLite creates them with a wider
// mode. The -wal and -shm files get the mode of the file.
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

// openConnections returns the two pools of connections. They connect when they are first used.
func openConnections(path string, immutable bool) *database {
	w := sql.OpenDB(connector{dsn: dsn(path, "immediate", immutable), pragmas: writerPragmas})
	w.SetMaxOpenConns(1)
	r := sql.OpenDB(connector{dsn: dsn(path, "deferred", immutable), pragmas: readerPragmas})
	r.SetMaxOpenConns(readerPool)
	r.SetMaxIdleConns(readerPool)
	r.SetConnMaxIdleTime(time.Minute)
	return &database{path: path, writer: w, readers: r}
}

const (
	// A large page cache makes inserts into vec0 three times as fast. Checkpoints at 16 MB, the size that the log has anyway,
	// copy pages that change in every commit less often. secure_delete overwrites deleted rows. Temporary tables in memory need
	// no writable folder.
	writerPragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -64000; " +
		"PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 16777216; PRAGMA wal_autocheckpoint = 4000; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY"
	// Readers use the memory map, so that their page caches can be small.
	readerPragmas = "PRAGMA query_only = ON; PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -2000"
)

// dsn returns the data source name for go-sqlite3. The path is escaped because it may contain '?' or '%'.
func dsn(path, txlock string, immutable bool) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	options := url.Values{"_busy_timeout": {"5000"}, "_txlock": {txlock}}
	if immutable {
		options.Set("immutable", "1")
	}
	u.RawQuery = options.Encode()
	return u.String()
}

// connector opens connections and sets their pragmas, without registering a driver for the whole process.
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

// close closes all connections. The last one checkpoints the write-ahead log.
func (d *database) close() error {
	return errors.Join(d.readers.Close(), d.writer.Close())
}
