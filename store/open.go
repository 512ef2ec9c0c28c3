package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"kioku/store/vector"
)

// Options says which index to open and how.
type Options struct {
	// Workspace is the folder that the index is made from, absolute and without symbolic links.
	Workspace string
	// Chunking is the fingerprint of the chunker in use.
	Chunking string
	// ReadOnly opens an index that another process may own.
	ReadOnly bool
	// CacheEntries bounds the embedding cache, beyond the texts that are indexed now.
	CacheEntries int
	// Vectors bounds what is held of the vectors in memory.
	Vectors *vector.Budget
	// Now is the clock.
	Now func() time.Time
	// Log receives what no caller can be told.
	Log *slog.Logger
}

// Open opens the index at path and makes it that of opt.Workspace. The caller sees to it that no other process writes it.
//
// An index that shows damage is set aside as *.corrupt-<time> and made anew; one of an older schema or of another workspace
// is emptied but for its embedding cache. Open returns memory.ErrNewerSchema and memory.ErrForeignFile where the file must not
// be touched. With opt.ReadOnly it changes nothing, and damage is an error.
func Open(ctx context.Context, path string, opt Options) (*Store, error) {
	s, err := openSound(ctx, path, opt)
	if err != nil {
		return nil, fmt.Errorf("open index %s: %w", path, err)
	}
	return s, nil
}

// openSound opens an index; one that is damaged is set aside, and a new one opened in its place.
func openSound(ctx context.Context, path string, opt Options) (*Store, error) {
	const damaged = "index was damaged; it is set aside and made anew"
	if opt.ReadOnly {
		return openIndex(ctx, path, opt)
	}
	aside, err := setCondemnedAside(path)
	if err != nil {
		return nil, err
	}
	if aside != "" {
		opt.Log.Warn(damaged, "path", path, "aside", aside)
	}
	s, err := openIndex(ctx, path, opt)
	if !isDamage(err) {
		return s, err
	}
	aside, asideErr := setAside(path)
	if asideErr != nil {
		return nil, fmt.Errorf("set damaged index aside: %w", errors.Join(err, asideErr))
	}
	opt.Log.Warn(damaged, "path", path, "aside", aside, "err", err)
	return openIndex(ctx, path, opt)
}

// openIndex opens the database and makes it this workspace's.
func openIndex(ctx context.Context, path string, opt Options) (*Store, error) {
	db, err := openDatabase(ctx, path, opt.ReadOnly, opt.Log)
	if err != nil {
		return nil, err
	}
	s := newStore(db, opt.Chunking, opt.CacheEntries, opt.Vectors, opt.Now, opt.Log)
	if opt.ReadOnly {
		err = s.readable(ctx, opt.Workspace)
	} else {
		err = s.adopt(ctx, opt.Workspace)
	}
	if err != nil {
		return nil, errors.Join(err, db.close())
	}
	return s, nil
}

// Close lets go of the vectors in memory and closes the file. Nothing may use the store any more.
func (s *Store) Close() error {
	s.held.drop()
	return s.db.close()
}

// Path is where an agent's index lies under a state folder.
func Path(state, agent string) string { return filepath.Join(state, "memory", agent+".sqlite") }

// WorkspaceOf returns the folder that the index at path was made from, empty where there is no index yet. It changes nothing.
func WorkspaceOf(ctx context.Context, path string) (string, error) {
	if fileSize(path) == 0 {
		return "", nil
	}
	db, err := openDatabase(ctx, path, true, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", fmt.Errorf("open index %s: %w", path, err)
	}
	m, err := readMeta(ctx, db.readers)
	return m.workspace, errors.Join(err, db.close())
}

// fileSize returns the size of a file, 0 where it is missing.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
