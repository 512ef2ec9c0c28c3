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

// Options are the options of Open.
type Options struct {
	// Workspace is the folder that the index is made from: absolute and without symbolic links.
	Workspace string
	// Chunking is the fingerprint of the chunker in use. If it differs from that of the index, Stale says so.
	Chunking string
	// ReadOnly opens an index that another process may own. By default the index is opened for writing.
	ReadOnly bool
	// CacheEntries is the maximum number of cached vectors, in addition to one for each chunk without a vector. With 0, the cache
	// keeps no others.
	CacheEntries int
	// Vectors limits the memory of cached vectors. It is required and may be shared by several stores.
	Vectors *vector.Budget
	// Now returns the current time. It is required.
	Now func() time.Time
	// Log receives warnings that no caller is told about. It is required.
	Log *slog.Logger
}

// Open opens the index at path and binds it to opt.Workspace. The caller ensures that no other process writes to it.
//
// A damaged index is renamed to *.corrupt-<time>, and Open creates a new one. An index of an older schema or of another
// workspace is emptied except for its embedding cache. Open returns memory.ErrNewerSchema and memory.ErrForeignFile for a
// file that it must not change. With opt.ReadOnly it changes nothing, and damage is an error.
func Open(ctx context.Context, path string, opt Options) (*Store, error) {
	s, err := openOrReplace(ctx, path, opt)
	if err != nil {
		return nil, fmt.Errorf("open index %s: %w", path, err)
	}
	return s, nil
}

// openOrReplace opens an index. It quarantines a damaged one and opens a new one in its place.
func openOrReplace(ctx context.Context, path string, opt Options) (*Store, error) {
	const damaged = "index was damaged; it is quarantined and rebuilt"
	if opt.ReadOnly {
		return openStore(ctx, path, opt)
	}
	moved, err := quarantineMarked(path)
	if err != nil {
		return nil, err
	}
	if moved != "" {
		opt.Log.Warn(damaged, "path", path, "moved", moved)
	}
	s, err := openStore(ctx, path, opt)
	if !isDamage(err) {
		return s, err
	}
	moved, quarantineErr := quarantine(path)
	if quarantineErr != nil {
		return nil, fmt.Errorf("quarantine damaged index: %w", errors.Join(err, quarantineErr))
	}
	opt.Log.Warn(damaged, "path", path, "moved", moved, "err", err)
	return openStore(ctx, path, opt)
}

// openStore opens the database and binds it to the workspace.
func openStore(ctx context.Context, path string, opt Options) (*Store, error) {
	db, err := openDatabase(ctx, path, opt.ReadOnly, opt.Log)
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, chunking: opt.Chunking, cacheEntries: opt.CacheEntries, now: opt.Now, log: opt.Log,
		viewSlots: make(chan struct{}, maxViews), vectors: newVectorCache(opt.Vectors)}
	if opt.ReadOnly {
		err = s.checkWorkspace(ctx, opt.Workspace)
	} else {
		err = s.bindWorkspace(ctx, opt.Workspace)
	}
	if err != nil {
		return nil, errors.Join(err, db.close())
	}
	return s, nil
}

// Close releases the cached vectors and closes the file. No other method may be called after it.
func (s *Store) Close() error {
	s.vectors.clear()
	return s.db.close()
}

// Path returns the path of an agent's index in a state folder.
func Path(state, agent string) string { return filepath.Join(state, "memory", agent+".sqlite") }

// WorkspaceOf returns the folder that the index at path was made from, or "" if there is no index. It changes nothing.
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

// fileSize returns the size of a file in bytes, 0 if it does not exist.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
