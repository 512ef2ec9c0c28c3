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
	// IndexID is the id of the index, see Store.IndexID.
	IndexID uint64
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
	// Recipe is how these are made, see Options.Recipe; empty if it is not known.
	Recipe string
	// LastSync is the end of the last complete sync, zero if there was none.
	LastSync time.Time
	// Repair describes the damage that is being mended, nil if there is none.
	Repair *Repair
}

// stats implements Store.Stats.
func (x *index) stats(ctx context.Context) (Stats, error) {
	m, err := readMeta(ctx, x.db.readers)
	return Stats{IndexID: x.db.pages.ID(), Generation: m.generation, Files: m.files,
		Chunks: m.chunks, Embedded: m.embedded, Space: m.space, Recipe: m.recipe,
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
	// Resident is the size of the vectors and words in memory in bytes, 0 if they are not loaded.
	Resident int64
}

// sizes implements Store.Sizes.
func (x *index) sizes() Sizes {
	return Sizes{Path: x.db.path, Database: fileSize(x.db.path), WAL: fileSize(x.db.path + "-wal"),
		Resident: x.slabs.Resident()}
}

// selectSkipped selects the files that are not indexed, and those of which something could not be read.
const selectSkipped = `SELECT path, error, 0 FROM files WHERE error <> ''
	UNION ALL SELECT f.path, d.value, 1 FROM fields d JOIN files f ON f.id = d.file
		WHERE d.name = ?1
	ORDER BY 1`

// skipped implements Store.Skipped.
func (x *index) skipped(ctx context.Context) ([]memory.SkippedFile, error) {
	var files []memory.SkippedFile
	err := forEachRow(ctx, x.db.readers, func(rows *sql.Rows) error {
		var f memory.SkippedFile
		err := rows.Scan(&f.Path, &f.Reason, &f.Indexed)
		files = append(files, f)
		return err
	}, selectSkipped, fieldRemark)
	if err != nil {
		return nil, fmt.Errorf("read skipped files: %w", err)
	}
	return files, nil
}
