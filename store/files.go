package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"kioku/indexer"
)

const (
	selectFiles = "SELECT path, source, sha256, mtime, size, error FROM files"

	// selectFilesUnder reads the files at or below the names of a JSON array; "0" follows "/". CROSS JOIN keeps SQLite from
	// walking the whole table instead.
	selectFilesUnder = `WITH f AS (
			SELECT f.* FROM json_each(?1) j CROSS JOIN files f ON f.path = j.value
			UNION ALL SELECT f.* FROM json_each(?1) j CROSS JOIN files f
			ON f.path > rtrim(j.value, '/') || '/' AND f.path < rtrim(j.value, '/') || '0')
		SELECT path, source, sha256, mtime, size, error FROM f`
)

// knownFiles is the table files in memory: a sync of an unchanged folder reads nothing else from the index, and as a
// query it would take longer than the look at the folder. Only this process writes the table.
type knownFiles struct {
	mu      sync.Mutex                // guards what follows
	all     map[string]indexer.Stored // nil where nothing is known
	changed map[string]bool           // files of all that were written since
}

// Files implements indexer.Store.
func (s *Store) Files(ctx context.Context, under ...string) (map[string]indexer.Stored, error) {
	if len(under) > 0 {
		return s.filesUnder(ctx, under)
	}
	k := &s.known
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil || 2*len(k.changed) > len(k.all) {
		rows, err := s.db.readers.QueryContext(ctx, selectFiles)
		if err != nil {
			return nil, fmt.Errorf("read files: %w", err)
		}
		if k.all, err = scanFiles(rows); err != nil {
			return nil, err
		}
	} else if len(k.changed) > 0 {
		fresh, err := s.filesUnder(ctx, slices.Collect(maps.Keys(k.changed)))
		if err != nil {
			return nil, err
		}
		for path := range k.changed {
			delete(k.all, path)
		}
		maps.Copy(k.all, fresh)
	}
	k.changed = map[string]bool{}
	return k.all, nil
}

// wrote notes that files were written, or may have been.
func (k *knownFiles) wrote(files []indexer.File) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		return
	}
	for _, f := range files {
		k.changed[f.Path] = true
	}
}

// forget gives up what is known.
func (k *knownFiles) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all, k.changed = nil, nil
}

// filesUnder reads the files at or below some names.
func (s *Store) filesUnder(ctx context.Context, names []string) (map[string]indexer.Stored, error) {
	list, err := json.Marshal(names)
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	rows, err := s.db.readers.QueryContext(ctx, selectFilesUnder, string(list))
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	return scanFiles(rows)
}

// scanFiles reads rows of files to their end.
func scanFiles(rows *sql.Rows) (map[string]indexer.Stored, error) {
	defer rows.Close()
	files := make(map[string]indexer.Stored)
	for rows.Next() {
		var path string
		var sum sql.RawBytes
		var mtime int64
		var f indexer.Stored
		if err := rows.Scan(&path, &f.Source, &sum, &mtime, &f.Size, &f.Skipped); err != nil {
			return nil, fmt.Errorf("read files: %w", err)
		}
		copy(f.SHA256[:], sum)
		f.ModTime = time.Unix(0, mtime)
		files[path] = f
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	return files, nil
}
