package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"kioku/embed"
	"kioku/store/slab"
	"kioku/vectors"
)

// Options are the options of Open.
type Options struct {
	// Workspace is the folder that the index is made from: absolute and without symbolic links.
	Workspace string
	// Chunking is the fingerprint of the chunker in use. If it differs from that of the index, Stale says so.
	Chunking string
	// ReadOnly opens an index that another process may own. By default the index is opened for writing.
	ReadOnly bool
	// Cache has the vectors that were paid for; nil means none.
	Cache *vectors.Cache
	// Vectors limits the memory of vectors and words. It is required and may be shared by several stores.
	Vectors *slab.Budget
	// Recipe returns how the vectors of a space are made, to be stored with them, "" if that is not known. Nil means that it
	// is not known of any.
	Recipe func(embed.Space) string
	// Adopt takes from an index of an earlier version what models were paid for beside vectors, before the index is removed; nil takes
	// nothing.
	Adopt func(ctx context.Context, path string) error
	// Now returns the current time. It is required.
	Now func() time.Time
	// Replaced is called after a damaged index was replaced by an empty one, which a sync must fill. It must not block. Nil
	// means no notification.
	Replaced func()
	// FileSystem returns the name of the network file system that a folder is on, "" if it is on none. Nil means to ask the
	// system.
	FileSystem func(dir string) string
	// Log receives warnings that no caller is told about. It is required.
	Log *slog.Logger
}

// fileSystem calls FileSystem, or asks the system.
func (o *Options) fileSystem(dir string) string {
	if o.FileSystem != nil {
		return o.FileSystem(dir)
	}
	return networkFileSystem(dir)
}

// Open opens the index at path and binds it to opt.Workspace. The caller ensures that no other process writes to it.
//
// Open replaces an index that is damaged, of an older schema or of another workspace by an empty one; what was paid for in an older one is
// copied before. It returns memory.ErrNewerSchema and memory.ErrForeignFile for a file that it must not change. With
// opt.ReadOnly it changes nothing, and damage is an error.
func Open(ctx context.Context, path string, opt Options) (*Store, error) {
	if opt.Cache == nil {
		opt.Cache = vectors.Empty()
	}
	s := &Store{path: path, opt: opt, viewSlots: make(chan struct{}, maxViews)}
	var err error
	if opt.ReadOnly {
		err = s.openToRead(ctx)
	} else {
		err = s.openToWrite(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open index %s: %w", path, err)
	}
	return s, nil
}

// openToRead opens an index that it must not change.
func (s *Store) openToRead(ctx context.Context) error {
	h, err := ReadHeader(s.path, indexFormat)
	switch {
	case err != nil:
		return err
	case h.Kind == FileAbsent:
		return fmt.Errorf("there is no index yet at %s: run kioku index first", s.path)
	case h.Kind == FileOlder:
		return fmt.Errorf("the index has schema %d and this program needs %d: open it once with the right to write",
			h.Schema, schemaVersion)
	case h.Kind == FileDamaged:
		return fmt.Errorf("%w: %s", errDamaged, adviceReadOnly)
	}
	x, err := openIndex(s.path, h.ID, modeRead, &s.opt)
	if err != nil {
		return err
	}
	m, err := readMeta(ctx, x.db.readers)
	if err == nil && m.workspace != s.opt.Workspace {
		err = fmt.Errorf("it was made from %s, not from %s", m.workspace, s.opt.Workspace)
	}
	if err != nil {
		return errors.Join(s.readOnlyError(x.damage(err)), x.close())
	}
	s.state.Store(&state{current: x})
	return nil
}

// openToWrite opens the index, or replaces it by an empty one if it cannot be used.
func (s *Store) openToWrite(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("make state folder: %w", err)
	}
	if fs := s.opt.fileSystem(filepath.Dir(s.path)); fs != "" {
		s.opt.Log.Warn("the index is on a network file system, on which SQLite may damage it; move the state folder to a local disk "+
			"(notes may stay where they are)", "path", s.path, "filesystem", fs)
	}
	if err := s.dropLegacy(ctx); err != nil {
		return err
	}
	h, err := ReadHeader(s.path, indexFormat)
	if err != nil {
		return err
	}
	old, cause := meta{}, errNoIndex
	if h.Kind != FileAbsent {
		old, cause = s.checkFile(ctx, h)
	}
	var repair *Repair
	switch {
	case cause == nil:
		err = errors.Join(removeIndex(s.path+newSuffix), os.Chmod(s.path, 0o600))
	case cause == errNoIndex, errors.Is(cause, errOutdated):
		err = s.makeAnew(ctx, old, cause)
	case IsDamage(cause):
		err = s.makeAnew(ctx, old, cause)
		repair = &Repair{Cause: cause.Error(), Since: s.opt.Now(), Files: old.files}
	default:
		err = cause
	}
	if err != nil {
		return err
	}
	return s.openCurrent(ctx, repair)
}

// makeAnew puts an empty index in the place of one that cannot be used, or of none.
func (s *Store) makeAnew(ctx context.Context, old meta, cause error) error {
	if cause == errNoIndex {
		return s.dropFile(ctx, 0, nil)
	}
	s.opt.Log.Warn("the index is replaced by a new one", "path", s.path, "cause", cause)
	if err := s.takePaid(ctx, s.path); err != nil {
		if ctx.Err() != nil {
			return err
		}
		if err := s.setAside(err); err != nil {
			return err
		}
	}
	if old.generation == 0 {
		old.generation = s.opt.Now().Unix() // more than any index has commits
	}
	return s.dropFile(ctx, old.generation, nil)
}

// errOutdated: the index is intact, but not the one that is needed.
var errOutdated = errors.New("the index is outdated")

// checkFile returns why the file cannot be used: an error with errOutdated or one of damage, nil if it can. It does not change
// the file. It also returns what can be read of its generation and number of files.
func (s *Store) checkFile(ctx context.Context, h Header) (old meta, err error) {
	switch h.Kind {
	case FileDamaged:
		return old, fmt.Errorf("%w: its first page cannot be read", errDamaged)
	case FileOlder:
		err = fmt.Errorf("%w: it has schema %d, this program needs %d", errOutdated, h.Schema, schemaVersion)
	case FileCurrent:
		if exists(s.path+openSuffix) && !exists(s.path+"-wal") {
			err = fmt.Errorf("%w: its write-ahead log was removed", errDamaged)
		}
	}
	x, openErr := openIndex(s.path, h.pageID(), modeCheck, &s.opt)
	if openErr != nil {
		return old, openErr
	}
	defer x.close()
	_ = x.db.readers.QueryRowContext(ctx, "SELECT generation, files FROM meta").Scan(&old.generation, &old.files) // zero if they cannot be read
	if err == nil {
		err = x.check(ctx, h.ID)
	}
	return old, err
}

// check returns an error of damage if the tables do not agree, and one with errOutdated if the index is of another workspace.
func (x *index) check(ctx context.Context, id uint64) error {
	m, err := readMeta(ctx, x.db.readers)
	switch {
	case err != nil:
		return x.damage(err)
	case m.id != id:
		return fmt.Errorf("%w: %w", errDamaged, errForeignLog)
	case m.workspace != x.opt.Workspace:
		return fmt.Errorf("%w: it was made from %s, not from %s", errOutdated, m.workspace, x.opt.Workspace)
	}
	agree, err := consistent(ctx, x.db.readers, m)
	if err == nil && !agree {
		err = fmt.Errorf("%w: its tables do not agree", errDamaged)
	}
	return x.damage(err)
}

// errForeignLog: the write-ahead log beside the file is that of another index.
var errForeignLog = errors.New("its write-ahead log is that of another index")

// openCurrent opens the index at s.path to write. repair describes the damage of the one before, nil if there is none.
func (s *Store) openCurrent(ctx context.Context, repair *Repair) error {
	h, err := ReadHeader(s.path, indexFormat)
	if err != nil {
		return err
	}
	x, err := openIndex(s.path, h.ID, modeWrite, &s.opt)
	if err != nil {
		return err
	}
	m, err := readMeta(ctx, x.db.writer)
	if err == nil && m.chunks == 0 && m.chunking != x.opt.Chunking {
		_, err = x.db.writer.ExecContext(ctx, "UPDATE meta SET chunking = ?", x.opt.Chunking)
	}
	if err == nil {
		err = createPrivate(s.path + openSuffix) // after the log was created
	}
	if err != nil {
		return errors.Join(x.damage(err), x.close())
	}
	x.generation.Store(m.generation)
	s.state.Store(&state{current: x, repair: repair})
	return nil
}

// Close releases the cached vectors and closes the file. No other method may be called after it.
func (s *Store) Close() error {
	s.replaceMu.Lock()
	defer s.replaceMu.Unlock()
	s.closed = true
	err := s.state.Load().current.close()
	if err == nil && !s.opt.ReadOnly && fileSize(s.path+"-wal") == 0 {
		if err = os.Remove(s.path + openSuffix); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

// openSuffix is the suffix of the mark of an index that is open to write, or was when its process died: then its log has
// changes that the file lacks.
const openSuffix = "-open"

// exists reports whether there is a file at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Path returns the path of an agent's index in a state folder.
func Path(state, agent string) string { return filepath.Join(state, "memory", agent+".sqlite") }

// WorkspaceOf returns the folder that the index at path was made from, or "" if there is no index or it is damaged. It changes
// nothing.
func WorkspaceOf(ctx context.Context, path string) (string, error) {
	h, err := ReadHeader(path, indexFormat)
	if err != nil || h.Kind == FileAbsent || h.Kind == FileDamaged {
		return "", err
	}
	db, err := openDatabase(path, h.pageID(), modeCheck)
	if err != nil {
		return "", fmt.Errorf("open index %s: %w", path, err)
	}
	var workspace string
	err = db.readers.QueryRowContext(ctx, "SELECT workspace FROM meta").Scan(&workspace)
	if IsDamage(err) || errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return workspace, errors.Join(err, db.close())
}

// fileSize returns the size of a file in bytes, 0 if it does not exist.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
