package store

import (
	"context"
	"fmt"
	"time"

	"kioku/embed"
	"kioku/memory"
)

// Stats describes an index as a whole.
type Stats struct {
	// Generation is bumped by every committed change.
	Generation int64
	// Files counts the files that are indexed, and not those that are skipped.
	Files  int
	Chunks int
	// Embedded counts the chunks that have a vector.
	Embedded int
	// Space of the vectors; zero where there are none.
	Space embed.Space
	// LastSync is the end of the last complete sync, zero where there was none.
	LastSync time.Time
}

// Stats returns the totals of the index. They are kept with every change, so this costs one row.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	m, err := readMeta(ctx, s.db.readers)
	return m.stats(), err
}

// stats is what others are told of meta.
func (m meta) stats() Stats {
	return Stats{Generation: m.generation, Files: m.files, Chunks: m.chunks, Embedded: m.embedded, Space: m.space, LastSync: m.lastSync}
}

// Generation returns the generation of the last commit of this process, 0 where there was none.
func (s *Store) Generation() int64 { return s.generation.Load() }

// Sizes are the sizes of an index, in bytes unless said otherwise.
type Sizes struct {
	Path     string
	Database int64
	WAL      int64
	// Cached counts vectors of texts that are not indexed now.
	Cached int
	// Resident is what is held of the vectors in memory.
	Resident int64
}

// Sizes returns the sizes of the index.
func (s *Store) Sizes(ctx context.Context) (Sizes, error) {
	n, err := s.cached(ctx)
	return Sizes{Path: s.db.path, Database: fileSize(s.db.path), WAL: fileSize(s.db.path + "-wal"), Cached: n,
		Resident: s.held.share.Bytes()}, err
}

// Skipped lists the files that are not indexed, and why.
func (s *Store) Skipped(ctx context.Context) ([]memory.SkippedFile, error) {
	rows, err := s.db.readers.QueryContext(ctx, "SELECT path, error FROM files WHERE error <> '' ORDER BY path")
	if err != nil {
		return nil, fmt.Errorf("read skipped files: %w", err)
	}
	defer rows.Close()
	var files []memory.SkippedFile
	for rows.Next() {
		var f memory.SkippedFile
		if err := rows.Scan(&f.Path, &f.Reason); err != nil {
			return nil, fmt.Errorf("read skipped files: %w", err)
		}
		files = append(files, f)
	}
	return files, rows.Err()
}
