package vectors

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"

	"kioku/embed"
	"kioku/internal/files"
	"kioku/memory"
)

// schemaSQL is the whole schema.
//
//go:embed schema.sql
var schemaSQL string

const (
	// applicationID marks the file as Kioku's: "KioV" in ASCII. schemaVersion is incremented with every change of schema.sql.
	applicationID = 0x4b696f56
	schemaVersion = 1
	// readers is the number of connections that read.
	readers = 8
)

// Path returns the path of an agent's cache in a state folder.
func Path(state, agent string) string {
	return filepath.Join(state, "memory", agent+".embeddings.sqlite")
}

// Options are the options of Open.
type Options struct {
	// Entries is the maximum number of vectors beyond those of indexed texts.
	Entries int
	// ReadOnly opens a cache that another process may own; it is empty if there is no file.
	ReadOnly bool
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
	// Log receives warnings that no caller is told about; nil discards them.
	Log *slog.Logger
}

// Cache is the vectors of one agent. Its methods are safe for concurrent use. What is damaged counts as missing.
type Cache struct {
	path string // empty for one that is always empty, or only filled
	opt  Options

	mu     sync.RWMutex // read-locked while the file is used, and write-locked while it is opened or replaced
	db     *file        // guarded by mu; nil until it is opened, and if there is none to be read
	closed bool         // guarded by mu
}

// file is an open cache file.
type file struct {
	id              int64
	info            os.FileInfo
	writer, readers *sql.DB // writer is nil if the cache is only read

	mu     sync.Mutex
	spaces map[embed.Space]int64 // guarded by mu; the ids of spaces that were looked up
}

// Empty returns a cache without vectors.
func Empty() *Cache { return &Cache{opt: Options{ReadOnly: true}} }

// Open opens the cache at path, and makes it if it is missing. A damaged one is replaced by a new one with what can be read of it. It
// returns memory.ErrForeignFile or memory.ErrNewerSchema for a file that it must not change.
func Open(ctx context.Context, path string, opt Options) (*Cache, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	c := &Cache{path: path, opt: opt}
	if err := c.reopen(ctx); err != nil {
		return nil, fmt.Errorf("open embeddings %s: %w", path, err)
	}
	return c, nil
}

// reopen opens the file, if it must be. Damage is mended.
func (c *Cache) reopen(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	if c.isCurrent() {
		return nil
	}
	if c.db != nil {
		_ = c.db.close() // another file is at its path
	}
	var err error
	if c.db, err = c.open(ctx); isDamage(err) && !c.opt.ReadOnly {
		err = c.replace(ctx, err)
	}
	return err
}

// isCurrent reports whether the file at the path is open, or that there is none to be read. Anybody may remove the file, also under an owner.
func (c *Cache) isCurrent() bool {
	if c.path == "" {
		return true
	}
	info, err := os.Stat(c.path)
	if err != nil || info.Size() == 0 {
		return c.db == nil && c.opt.ReadOnly
	}
	return c.db != nil && os.SameFile(info, c.db.info)
}

// open opens the file, or makes it. It returns nil if there is none to be read.
func (c *Cache) open(ctx context.Context) (f *file, err error) {
	if !c.opt.ReadOnly {
		if err := files.FinishDatabase(c.path); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(c.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		if c.opt.ReadOnly {
			return nil, nil
		}
		if err = files.ReplaceDatabase(c.path, func(draft string) error { return create(ctx, draft, nil) }); err == nil {
			info, err = os.Stat(c.path)
		}
	}
	if err != nil {
		return nil, err
	}
	f = connect(c.path, c.opt.ReadOnly)
	f.info = info
	if err := f.check(ctx); err != nil {
		return nil, errors.Join(err, f.close())
	}
	if !c.opt.ReadOnly {
		err = os.Chmod(c.path, 0o600)
	}
	return f, err
}

// connect returns the connections to a file, which are opened when they are first used.
func connect(path string, readOnly bool) *file {
	f := &file{spaces: map[embed.Space]int64{}}
	options := url.Values{"_busy_timeout": {"5000"}, "_query_only": {"1"}}
	const writable = 2 // W_OK of access(2)
	if readOnly && syscall.Access(filepath.Dir(path), writable) != nil {
		options.Set("immutable", "1")
	}
	f.readers = openDB(path, options, "")
	f.readers.SetMaxOpenConns(readers)
	f.readers.SetConnMaxIdleTime(time.Minute)
	if !readOnly {
		f.writer = openDB(path, url.Values{"_busy_timeout": {"5000"}, "_synchronous": {"NORMAL"}, "_txlock": {"immediate"},
			"_secure_delete": {"1"}, "_cache_size": {"-16000"}}, writerPragmas)
		f.writer.SetMaxOpenConns(1)
	}
	return f
}

// openDB returns a pool of connections. The path is escaped because it may contain '?' or '%'.
func openDB(path string, options url.Values, pragmas string) *sql.DB {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: options.Encode()}
	return sql.OpenDB(connector{u.String(), pragmas})
}

// create writes the schema to an empty file, and what fill puts into it; nil means nothing.
func create(ctx context.Context, path string, fill func(*file) error) error {
	f := connect(path, false)
	f.id = rand.Int64N(1<<62) + 1
	_, err := f.writer.ExecContext(ctx, fmt.Sprintf("BEGIN; %s; INSERT INTO cache VALUES (%d, 0); "+
		"PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", schemaSQL, f.id, applicationID, schemaVersion))
	if err != nil {
		err = fmt.Errorf("create schema: %w", err)
	} else if fill != nil {
		err = fill(f)
	}
	if err == nil { // only in the end there is a log, which is not beside the file when it gets its name
		_, err = f.writer.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	}
	return errors.Join(err, f.close())
}

// check reads what the file is. It returns an error of damage if it is none of ours, or none any more.
func (f *file) check(ctx context.Context) error {
	var application, schema int64
	err := f.readers.QueryRowContext(ctx, "SELECT a.application_id, v.user_version FROM pragma_application_id a, pragma_user_version v").Scan(&application, &schema)
	switch {
	case err != nil:
		return err
	case application != applicationID && application != 0:
		return fmt.Errorf("%w; move it away", memory.ErrForeignFile)
	case application == 0 || schema == 0:
		return errDamaged
	case schema > schemaVersion:
		return memory.ErrNewerSchema
	}
	err = f.readers.QueryRowContext(ctx, "SELECT id FROM cache").Scan(&f.id)
	if errors.Is(err, sql.ErrNoRows) {
		err = errDamaged
	}
	return err
}

// close closes all connections.
func (f *file) close() error {
	err := f.readers.Close()
	if f.writer != nil {
		err = errors.Join(err, f.writer.Close())
	}
	return err
}

// Close closes the file. Calls after it return an error.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.db == nil {
		return nil
	}
	return c.db.close()
}

// ID identifies the file; 0 if there is none. An index that was filled from another one reconciles itself.
func (c *Cache) ID() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.db == nil {
		return 0
	}
	return c.db.id
}

var (
	// errDamaged: the file is not what Kioku wrote.
	errDamaged = errors.New("the embeddings are damaged")
	// errClosed: Close was called.
	errClosed = errors.New("the embeddings were closed")
)

// damageCodes are the extended codes of an input or output error that say that bytes are not what was written.
var damageCodes = map[sqlite3.ErrNoExtended]bool{sqlite3.ErrIoErrShortRead: true, ioErrData: true, ioErrCorruptFS: true}

// Extended codes that go-sqlite3 does not name.
const (
	ioErrData      = sqlite3.ErrNoExtended(10 | 32<<8)
	ioErrCorruptFS = sqlite3.ErrNoExtended(10 | 33<<8)
)

// isDamage reports whether an error says that the bytes of the file are not what was written to it. The statements are constant, so that a
// missing table or a value of another type is damage too.
func isDamage(err error) bool {
	if e, ok := errors.AsType[sqlite3.Error](err); ok {
		return e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB || damageCodes[e.ExtendedCode] ||
			e.Code == sqlite3.ErrError && strings.HasPrefix(e.Error(), "no such ")
	}
	return errors.Is(err, errDamaged) || err != nil && strings.Contains(err.Error(), "sql: Scan error")
}

// read calls f with the file, unless there is none. Damage is mended, and f is called again with what is left: what it has found before
// does not count.
func (c *Cache) read(ctx context.Context, f func(*file) error) error {
	for try := 1; ; try++ {
		db, err := c.acquire(ctx)
		if db == nil {
			return err
		}
		err = f(db)
		c.mu.RUnlock()
		switch {
		case !isDamage(err), try == maxTries:
			return err
		case c.opt.ReadOnly:
			return nil // as if it were missing: the owner mends it
		}
		if err := c.heal(ctx, db, err); err != nil {
			return err
		}
	}
}

// acquire returns the open file with mu locked to read; nil if there is none. It opens the file if it must.
func (c *Cache) acquire(ctx context.Context) (*file, error) {
	for {
		c.mu.RLock()
		if !c.closed && c.isCurrent() {
			if c.db == nil {
				c.mu.RUnlock()
			}
			return c.db, nil
		}
		c.mu.RUnlock()
		if err := c.reopen(ctx); err != nil {
			return nil, err
		}
	}
}

// maxTries is how often a call is tried if the file is replaced meanwhile.
const maxTries = 3

// write calls f in a transaction.
func (c *Cache) write(ctx context.Context, f func(*file, *sql.Tx) error) error {
	if c.opt.ReadOnly {
		return memory.ErrReadOnly
	}
	return c.read(ctx, func(db *file) error {
		tx, err := db.writer.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := f(db, tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}
