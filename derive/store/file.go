package store

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"

	"kioku/store"
	"kioku/store/checksumvfs"
)

// schemaSQL is the whole schema.
//
//go:embed schema.sql
var schemaSQL string

const (
	// applicationID marks the file as Kioku's: "KioD" in ASCII. schemaVersion is incremented with every change of schema.sql; of a file of
	// an older version, only the answers of models are kept.
	applicationID = 0x4b696f44
	schemaVersion = 4

	// maxReaders is the maximum number of connections that read.
	maxReaders = 8

	// visibleFiles has the files of which the index has the content that they were cut from, and transcripts that are not indexed: id is
	// that in the index, NULL for the latter, and cut that in sources.
	visibleFiles = `CREATE TEMP VIEW files AS SELECT f.id AS id, s.id AS cut, s.path AS path, s.source AS source, coalesce(f.mtime, s.mtime) AS mtime
		FROM main.sources s LEFT JOIN idx.files f ON f.path = s.path AND f.sha256 = s.sha256 AND f.error = ''
		WHERE f.id IS NOT NULL OR s.unindexed = 1`
	// commonPragmas come before visibleFiles: to set temp_store deletes temporary views.
	commonPragmas = "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;"
	writerPragmas = "PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 16777216; PRAGMA cache_size = -16000"
	readerPragmas = "PRAGMA query_only = ON; PRAGMA cache_size = -8000"

	// fcntlReserveBytes is the operation code of SQLite's file control that leaves bytes free at the end of pages.
	fcntlReserveBytes = 38
)

// format is what the file is marked with.
var format = store.Format{ApplicationID: applicationID, Schema: schemaVersion}

// file is an open file with the index attached.
type file struct {
	pages, indexPages *checksumvfs.File
	raw               []*store.RawFile // of both, held until the connections are closed
	info, indexInfo   os.FileInfo      // nil if there is no file, and no index
	writer, readers   *sql.DB          // writer is nil if the file is only read
}

// connect returns the connections to a file with an id, and to the index; without a path the file is empty and in memory. The connections
// are opened when they are first used.
func connect(path, index string, id uint64, readOnly bool) (_ *file, err error) {
	f := &file{}
	defer func() {
		if err != nil {
			f.release()
		}
	}()
	if f.pages, err = checksumvfs.Open(id); err != nil {
		return nil, err
	}
	attach, err := f.attachIndex(index)
	if err != nil {
		return nil, err
	}
	c := connector{dsn: "file::memory:?mode=memory", setUp: schemaSQL + ";" + commonPragmas + attach + visibleFiles + ";"}
	if path != "" {
		if f.info, err = os.Stat(path); err != nil {
			return nil, err
		}
		if err := f.hold(path); err != nil {
			return nil, err
		}
		options := url.Values{"_busy_timeout": {"5000"}, "_stmt_cache_size": {"64"}}
		f.pages.AddTo(options)
		if readOnly && !isWritable(path) {
			options.Set("immutable", "1")
		}
		c = connector{dsn: uri(path, options), setUp: commonPragmas + attach + visibleFiles + ";"}
	}
	reader := c
	reader.setUp += readerPragmas
	f.readers = sql.OpenDB(reader)
	f.readers.SetMaxOpenConns(maxReaders)
	f.readers.SetConnMaxIdleTime(time.Minute)
	if !readOnly {
		c.dsn += "&_txlock=immediate"
		c.setUp += writerPragmas
		f.writer = sql.OpenDB(c)
		f.writer.SetMaxOpenConns(1)
	}
	return f, nil
}

// attachIndex returns the statement that attaches the index to read it. Without an index nothing is in it.
func (f *file) attachIndex(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "ATTACH ':memory:' AS idx; CREATE TABLE idx.files (id, path, sha256, mtime, error); CREATE TABLE idx.fields (file, name, value, number, day); " +
			"CREATE TABLE idx.meta (last_sync);", nil
	}
	id, err := store.ID(path)
	if err == nil {
		err = f.hold(path)
	}
	if err == nil {
		f.indexPages, err = checksumvfs.Open(id)
	}
	if err != nil {
		return "", fmt.Errorf("open the index: %v", err) // its owner mends it, and errDamaged is about another file
	}
	f.indexInfo = info
	options := url.Values{"mode": {"ro"}}
	f.indexPages.AddTo(options)
	if !isWritable(path) {
		options.Set("immutable", "1")
	}
	return "ATTACH " + quote(uri(path, options)) + " AS idx;", nil
}

// hold keeps a database file open, so that nobody in this process closes its last descriptor, and with it drops the locks of SQLite.
func (f *file) hold(path string) error {
	raw, err := store.OpenRawFile(path)
	if err == nil {
		f.raw = append(f.raw, raw)
	}
	return err
}

// quote returns a text as SQL has it.
func quote(s string) string {
	return "'" + string(bytes.ReplaceAll([]byte(s), []byte("'"), []byte("''"))) + "'"
}

// uri returns the URI of a file, which is escaped because it may contain '?' or '%'.
func uri(path string, options url.Values) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: options.Encode()}
	return u.String()
}

// isWritable reports whether a database may be shared with others: nobody changes one in a folder without the right to write.
func isWritable(path string) bool {
	const writable = 2 // W_OK of access(2)
	return syscall.Access(filepath.Dir(path), writable) == nil
}

// isCurrent reports whether the files at two paths are those that are open and attached, and the shared memory of both is whole. Only an
// owner replaces the first, so only readers have to look.
func (f *file) isCurrent(path, index string) bool {
	return !f.lostShm() && isAt(index, f.indexInfo) && (f.writer != nil || isAt(path, f.info))
}

// isAt reports whether a file that was there before, nil for none, is still at a path.
func isAt(path string, before os.FileInfo) bool {
	info, err := os.Stat(path)
	if err != nil || before == nil {
		return err != nil && before == nil
	}
	return os.SameFile(info, before)
}

// lostShm reports whether the -shm file of one of the two was cut off or overwritten.
func (f *file) lostShm() bool {
	return f.pages.LostShm() || f.indexPages != nil && f.indexPages.LostShm()
}

// damage returns an error with errDamaged if a call, which returned err, has met damage of the file, nil otherwise.
func (f *file) damage(err error) error {
	if n, first := f.pages.BadPages(); n > 0 {
		return fmt.Errorf("%w: page %d does not have its checksum", errDamaged, first)
	}
	if f.indexPages != nil {
		if n, _ := f.indexPages.BadPages(); n > 0 {
			return nil
		}
	}
	if isDamage(err) {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}

// isDamage reports whether an error says that a file is not what Kioku wrote.
func isDamage(err error) bool { return errors.Is(err, errDamaged) || store.IsDamage(err) }

// close closes all connections.
func (f *file) close() error {
	err := f.readers.Close()
	if f.writer != nil {
		err = errors.Join(err, f.writer.Close())
	}
	f.release()
	return err
}

// release forgets the two files.
func (f *file) release() {
	for _, pages := range []*checksumvfs.File{f.pages, f.indexPages} {
		if pages != nil {
			pages.Close()
		}
	}
	for _, raw := range f.raw {
		_ = raw.Release() // it was only read
	}
}

// create writes the schema to an empty file.
func create(ctx context.Context, path string) error {
	pages, err := checksumvfs.Open(rand.Uint64())
	if err != nil {
		return err
	}
	defer pages.Close()
	options := url.Values{}
	pages.AddTo(options)
	db := sql.OpenDB(connector{dsn: uri(path, options), create: true})
	// Only in the end there is a log, so that the first page of the file says what it is.
	_, err = db.ExecContext(ctx, fmt.Sprintf("BEGIN; %s; INSERT INTO derived (resolved_by) VALUES (''); PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT; "+
		"PRAGMA journal_mode = WAL", schemaSQL, applicationID, schemaVersion))
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	return nil
}

// connector opens connections and sets them up, without registering a driver for the whole process.
type connector struct {
	dsn, setUp string
	create     bool // the database is new
}

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	sqlite := conn.(*sqlite3.SQLiteConn)
	if c.create {
		err = sqlite.SetFileControlInt("main", fcntlReserveBytes, checksumvfs.Reserve)
	}
	if err == nil && c.setUp != "" {
		_, err = sqlite.Exec(c.setUp, nil)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }
