package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"kioku/derive/vocab"
	"kioku/internal/files"
	"kioku/store"
)

// Options are the options of New.
type Options struct {
	// ReadOnly reads what another process may own. By default the file is made when it is first needed.
	ReadOnly bool
	// Forgotten reports whether a text says what people have had forgotten; nil means that none does.
	Forgotten func(text string) bool
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
	// Log receives warnings that no caller is told about; nil discards them.
	Log *slog.Logger
}

// Store is what is derived from the notes of one agent: episodes, claims, units, entities, and the jobs and answers of models. Its
// methods are safe for concurrent use. They return an error for a change of what is open to read only.
type Store struct {
	path, index string // of the file, and of the index
	opt         Options
	words       *vocab.Vocabulary

	mu     sync.RWMutex // read-locked while the file is used, and write-locked while it is opened or replaced
	db     *file        // guarded by mu; nil until it is needed
	closed bool         // guarded by mu
}

// Classes of the makers of claims.
const (
	classRule  = "rule"
	classModel = "model"
)

// Path returns the path of what is derived for an agent in a state folder.
func Path(state, agent string) string {
	return filepath.Join(state, "memory", agent+".derived.sqlite")
}

// New returns what is derived, at path, from the files of the index at another one. It opens the file when it is first needed: nobody may
// derive anything.
func New(path, index string, opt Options) *Store {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Forgotten == nil {
		opt.Forgotten = func(string) bool { return false }
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Store{path: path, index: index, opt: opt, words: vocab.Default()}
}

// Close closes the file. Calls after it return an error.
func (d *Store) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return d.closeFile()
}

// closeFile closes the file, if it is open.
func (d *Store) closeFile() error {
	if d.db == nil {
		return nil
	}
	err := d.db.close()
	d.db = nil
	return err
}

var (
	// errReadOnly says how to open the file to write.
	errReadOnly = errors.New("it is open to read only: the process that owns the index writes what is derived")
	// errClosed: Close was called.
	errClosed = errors.New("what is derived was closed")
	// errDamaged: the file is not what Kioku wrote.
	errDamaged = errors.New("what is derived is damaged")
)

// maxTries is how often a call is tried if the file is replaced meanwhile.
const maxTries = 3

// use calls f with the open file. Damage is mended, and f is called again with what is left.
func (d *Store) use(ctx context.Context, f func(*file) error) error {
	for try := 1; ; try++ {
		db, err := d.acquire(ctx)
		if err != nil {
			return err
		}
		err = f(db)
		damage, stale := db.damage(err), !db.isCurrent(d.path, d.index)
		d.mu.RUnlock()
		switch {
		case damage == nil && (err == nil || !stale), try == maxTries, ctx.Err() != nil:
			return err
		case damage != nil && d.opt.ReadOnly:
			return damage
		case damage != nil:
			if err := d.heal(ctx, db, damage); err != nil {
				return err
			}
		}
	}
}

// acquire returns the open file with mu locked to read. It opens the file, again if the index at its path is another one by now.
func (d *Store) acquire(ctx context.Context) (*file, error) {
	for {
		d.mu.RLock()
		if d.db != nil && d.db.isCurrent(d.path, d.index) {
			return d.db, nil
		}
		closed := d.closed
		d.mu.RUnlock()
		if closed {
			return nil, errClosed
		}
		if err := d.reopen(ctx); err != nil {
			return nil, err
		}
	}
}

// reopen opens the file, if it must be.
func (d *Store) reopen(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.db != nil && d.db.isCurrent(d.path, d.index) {
		return nil
	}
	_ = d.closeFile() // it is not used any more
	var err error
	if d.db, err = d.open(ctx); isDamage(err) && !d.opt.ReadOnly {
		err = d.replace(ctx, err)
	}
	return err
}

// open opens the file, and makes it if it is missing and may be written.
func (d *Store) open(ctx context.Context) (*file, error) {
	h, err := store.ReadHeader(d.path, format)
	switch {
	case err != nil:
		return nil, err
	case d.opt.ReadOnly && h.Kind == store.FileAbsent:
		return connect("", d.index, 0, true)
	case !d.opt.ReadOnly:
		if h, err = d.makeFile(ctx); err != nil {
			return nil, err
		}
	}
	if h.Kind != store.FileCurrent {
		return nil, fmt.Errorf("%w: its first page cannot be read, or it has schema %d and this program needs %d", errDamaged, h.Schema, schemaVersion)
	}
	return connect(d.path, d.index, h.ID, d.opt.ReadOnly)
}

// makeFile makes the file if there is none, and returns what its first page says.
func (d *Store) makeFile(ctx context.Context) (store.Header, error) {
	if err := files.FinishDatabase(d.path); err != nil {
		return store.Header{}, err
	}
	h, err := store.ReadHeader(d.path, format)
	if err == nil && h.Kind == store.FileAbsent {
		if err = files.ReplaceDatabase(d.path, func(draft string) error { return create(ctx, draft) }); err == nil {
			h, err = store.ReadHeader(d.path, format)
		}
	}
	if err != nil {
		return h, err
	}
	return h, os.Chmod(d.path, 0o600)
}

// read calls f with a snapshot of the file. step is what an error says.
func (d *Store) read(ctx context.Context, step string, f func(*txn)) error {
	return named(step, d.use(ctx, func(db *file) error { return within(ctx, db.readers, f) }))
}

// write calls f in a transaction with a context that is not cancelled: for one that can be, the driver runs each statement on a
// goroutine of its own.
func (d *Store) write(ctx context.Context, step string, f func(*txn)) error {
	if ctx.Err() != nil {
		return named(step, ctx.Err())
	}
	if d.opt.ReadOnly {
		return named(step, errReadOnly)
	}
	ctx = context.WithoutCancel(ctx)
	return named(step, d.use(ctx, func(db *file) error { return within(ctx, db.writer, f) }))
}

// named adds the step that failed to an error.
func named(step string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	return nil
}

// now returns the time.
func (d *Store) now() time.Time { return d.opt.Now() }
