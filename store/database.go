package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	vec "github.com/asg017/sqlite-vec-go-bindings/cgo"
	"github.com/mattn/go-sqlite3"

	_ "kioku/internal/buildflags" // before sqlite-vec fails
	"kioku/store/checksumvfs"
)

// loadVec registers sqlite-vec with SQLite for the whole process: the library offers no other way.
var loadVec = sync.OnceFunc(vec.Auto)

// database is an open database file: one connection for writing, and a pool of connections that only read.
type database struct {
	path    string
	pages   *checksumvfs.File // tells of damage that SQLite meets
	writer  *sql.DB           // nil if the database is opened to be read only
	readers *sql.DB
	raw     *RawFile    // the file
	info    fs.FileInfo // of the file
	gate    *gate
}

// gate ends the opening of connections before the file moves: a connection opened across the move would read the file under
// its old name and the log of its successor.
type gate struct {
	mu     sync.RWMutex // read-locked while a connection is opened
	closed bool         // guarded by mu
}

const (
	// maxViews is the maximum number of views that are open at the same time.
	maxViews = 8
	// readerPool is the maximum number of reading connections: two for each view, and a few for other queries.
	readerPool = 2*maxViews + 4
)

// openMode says for what a database is opened.
type openMode int

const (
	modeWrite  openMode = iota // read and write an index
	modeRead                   // read an index that another process may write to
	modeCheck                  // read an index and leave the file as it is, even when the last connection closes
	modeCreate                 // write the schema of a new index
)

// openDatabase returns the connections of the database with an id at path; with id 0 its pages have no checksums. The
// connections are opened when they are first used.
func openDatabase(path string, id uint64, mode openMode) (*database, error) {
	loadVec()
	immutable, err := inReadOnlyFolder(path)
	if err != nil {
		return nil, err
	}
	raw, err := OpenRawFile(path)
	if err != nil {
		return nil, err
	}
	info, err := raw.Stat()
	var pages *checksumvfs.File
	if err == nil {
		pages, err = checksumvfs.Open(id)
	}
	if err != nil {
		return nil, errors.Join(err, raw.Release())
	}
	d := &database{path: path, pages: pages, raw: raw, info: info, gate: &gate{}}
	options := url.Values{"_busy_timeout": {"5000"}, "_stmt_cache_size": {statementCache}}
	if id != 0 {
		pages.AddTo(options)
	}
	if immutable {
		options.Set("immutable", "1")
	}
	if mode == modeCheck {
		options.Set("mode", "ro")
	}
	d.readers = sql.OpenDB(connector{dsn: dsn(path, "deferred", options), pragmas: readerPragmas, gate: d.gate})
	d.readers.SetMaxOpenConns(readerPool)
	d.readers.SetMaxIdleConns(readerPool)
	d.readers.SetConnMaxIdleTime(time.Minute)
	if mode == modeWrite || mode == modeCreate {
		d.writer = sql.OpenDB(connector{dsn: dsn(path, "immediate", options), pragmas: writerPragmas, gate: d.gate,
			create: mode == modeCreate})
		d.writer.SetMaxOpenConns(1)
	}
	return d, nil
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

const (
	// statementCache is the number of prepared statements that each connection keeps: about those of all searches.
	statementCache = "64"
	// A large page cache makes inserts into vec0 three times as fast. Checkpoints at 16 MB, the size that the log has anyway,
	// copy pages that change in every commit less often. secure_delete overwrites deleted rows. Temporary tables in memory need
	// no writable folder.
	writerPragmas = "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -64000; PRAGMA foreign_keys = ON; " +
		"PRAGMA journal_size_limit = 16777216; PRAGMA wal_autocheckpoint = 4000; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY"
	// The page cache of each reader has 8 MB at most. There is no memory map: a mapped page has no checksum, and is gone
	// when another program cuts the file off.
	readerPragmas = "PRAGMA query_only = ON; PRAGMA cache_size = -8000"
)

// dsn returns the data source name for go-sqlite3. The path is escaped because it may contain '?' or '%'.
func dsn(path, txlock string, options url.Values) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	u.RawQuery = options.Encode() + "&_txlock=" + txlock
	return u.String()
}

// connector opens connections and sets their pragmas, without registering a driver for the whole process.
type connector struct {
	dsn, pragmas string
	gate         *gate
	create       bool // the database is new
}

// errMoved: the file has moved, and a new index is at its path.
var errMoved = errors.New("the index was replaced")

// Operation codes of SQLite's file control.
const (
	fcntlPersistWAL   = 10
	fcntlReserveBytes = 38
)

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	c.gate.mu.RLock()
	defer c.gate.mu.RUnlock()
	if c.gate.closed {
		return nil, errMoved
	}
	conn, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(conn.(*sqlite3.SQLiteConn)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// prepare sets up a connection. It reads the schema, so that SQLite opens the log now. The log stays when the last connection
// closes, so that an index that has moved does not remove the log of its successor.
func (c connector) prepare(conn *sqlite3.SQLiteConn) error {
	if c.create {
		if err := conn.SetFileControlInt("main", fcntlReserveBytes, checksumvfs.Reserve); err != nil {
			return err
		}
	}
	if err := conn.SetFileControlInt("main", fcntlPersistWAL, 1); err != nil {
		return err
	}
	_, err := conn.Exec(c.pragmas+"; SELECT count(*) FROM sqlite_master", nil)
	return err
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

// close closes all connections that are not in use, and the others when their transactions end. No connection is opened after
// it. The last one checkpoints the write-ahead log. It does nothing if the database is closed.
func (d *database) close() error {
	d.gate.mu.Lock()
	closed := d.gate.closed
	d.gate.closed = true
	d.gate.mu.Unlock()
	if closed {
		return nil
	}
	err := d.readers.Close()
	if d.writer != nil {
		err = errors.Join(err, d.writer.Close())
	}
	d.pages.Close()
	return errors.Join(err, d.raw.Release())
}

// damage returns an error with errDamaged if SQLite has met damage of the files, nil otherwise.
func (d *database) damage() error {
	if n, first := d.pages.BadPages(); n > 0 {
		return fmt.Errorf("%w: page %d does not have its checksum", errDamaged, first)
	}
	if d.pages.LostShm() {
		return fmt.Errorf("%w: its -shm file was cut off or overwritten", errDamaged)
	}
	return nil
}

// isClosed reports whether close was called.
func (d *database) isClosed() bool {
	d.gate.mu.RLock()
	defer d.gate.mu.RUnlock()
	return d.gate.closed
}
