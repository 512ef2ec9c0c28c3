package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"kioku/embed"
	"kioku/memory"
)

// Stats are the totals of an index.
type Stats struct {
	// Generation is incremented by every committed change, from 0.
	Generation int64
	// Files is the number of indexed files, without skipped ones.
	Files int
	// Chunks is the number of chunks.
	Chunks int
	// Embedded is the number of chunks with a vector.
	Embedded int
	// Space is the embedding space of the vectors, zero if there are none.
	Space embed.Space
	// LastSync is the end of the last complete sync, zero if there was none.
	LastSync time.Time
}

// Stats returns the totals of the index. Every change updates them, so Stats reads one row.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	m, err := readMeta(ctx, s.db.readers)
	return Stats{Generation: m.generation, Files: m.files, Chunks: m.chunks, Embedded: m.embedded, Space: m.space,
		LastSync: m.lastSync}, err
}

// Sizes are the sizes of an index.
type Sizes struct {
	// Path is the path of the database file.
	Path string
	// Database is the size of the database file in bytes.
	Database int64
	// WAL is the size of the write-ahead log in bytes, 0 if there is none.
	WAL int64
	// Cached is the number of cached vectors of texts that are not indexed now.
	Cached int
	// Resident is the size of the vectors in memory in bytes, 0 if they are not loaded.
	Resident int64
}

// Sizes returns the sizes of the index.
func (s *Store) Sizes(ctx context.Context) (Sizes, error) {
	n, err := s.countCached(ctx)
	return Sizes{Path: s.db.path, Database: fileSize(s.db.path), WAL: fileSize(s.db.path + "-wal"), Cached: n,
		Resident: s.vectors.share.Bytes()}, err
}

// Skipped returns the files that are not indexed, with the reasons, in the order of their paths.
func (s *Store) Skipped(ctx context.Context) ([]memory.SkippedFile, error) {
	var files []memory.SkippedFile
	err := forEachRow(ctx, s.db.readers, func(rows *sql.Rows) error {
		var f memory.SkippedFile
		err := rows.Scan(&f.Path, &f.Reason)
		files = append(files, f)
		return err
	}, "SELECT path, error FROM files WHERE error <> '' ORDER BY path")
	if err != nil {
		return nil, fmt.Errorf("read skipped files: %w", err)
	}
	return files, nil
}
