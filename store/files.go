package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"kioku/indexer"
)

const (
	selectFiles = "SELECT path, source, sha256, mtime, stamp, size, date, error FROM files"

	// selectFilesUnder reads the files at or below the paths of a JSON array; "0" follows "/". CROSS JOIN makes SQLite start
	// with the array instead of scanning the whole table.
	selectFilesUnder = `WITH f AS (
			SELECT f.* FROM json_each(?1) j CROSS JOIN files f ON f.path = j.value
			UNION ALL SELECT f.* FROM json_each(?1) j CROSS JOIN files f
			ON f.path > rtrim(j.value, '/') || '/' AND f.path < rtrim(j.value, '/') || '0')
		SELECT path, source, sha256, mtime, stamp, size, date, error FROM f`
)

// fileCache caches the table files. A sync of an unchanged folder reads nothing else from the index, and a query would take
// longer than the scan of the folder. Only this process writes to the table.
type fileCache struct {
	mu      sync.Mutex                // guards the following fields
	files   map[string]indexer.Stored // nil before the first read
	changed map[string]bool           // paths that were written since files was read
}

// Files implements indexer.Store.
func (s *Store) Files(ctx context.Context, under ...string) (files map[string]indexer.Stored, err error) {
	err = s.use(ctx, func(x *index) (err error) {
		files, err = x.listFiles(ctx, under...)
		return err
	})
	return files, err
}

// listFiles returns the files at or below paths, all without any.
func (x *index) listFiles(ctx context.Context, under ...string) (map[string]indexer.Stored, error) {
	if len(under) > 0 {
		return x.readFilesUnder(ctx, under)
	}
	x.listed.Store(true)
	c := &x.files
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil || 2*len(c.changed) > len(c.files) {
		files, err := x.readFiles(ctx, selectFiles)
		if err != nil {
			return nil, err
		}
		c.files = files
	} else if len(c.changed) > 0 {
		fresh, err := x.readFilesUnder(ctx, slices.Collect(maps.Keys(c.changed)))
		if err != nil {
			return nil, err
		}
		for path := range c.changed {
			delete(c.files, path)
		}
		maps.Copy(c.files, fresh)
	}
	c.changed = map[string]bool{}
	return c.files, nil
}

// markChanged records that files were written, or may have been.
func (c *fileCache) markChanged(files []indexer.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		return
	}
	for _, f := range files {
		c.changed[f.Path] = true
	}
}

// invalidate empties the cache.
func (c *fileCache) invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files, c.changed = nil, nil
}

// readFilesUnder reads the files at or below paths.
func (x *index) readFilesUnder(ctx context.Context, paths []string) (map[string]indexer.Stored, error) {
	list := array(paths)
	return x.readFiles(ctx, selectFilesUnder, list)
}

// readFiles returns the files that a query selects.
func (x *index) readFiles(ctx context.Context, query string, args ...any) (map[string]indexer.Stored, error) {
	files := make(map[string]indexer.Stored)
	err := forEachRow(ctx, x.db.readers, func(rows *sql.Rows) error {
		var path string
		var sum sql.RawBytes
		var mtime int64
		var f indexer.Stored
		err := rows.Scan(&path, &f.Source, &sum, &mtime, &f.Stamp, &f.Size, &f.Date, &f.Skipped)
		copy(f.SHA256[:], sum)
		f.ModTime = time.Unix(0, mtime)
		files[path] = f
		return err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	return files, nil
}
