package store

import (
	"context"
	"time"

	"kioku/embed"
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

// Sizes are the sizes of an index.
type Sizes struct {
	// Path is the path of the database file.
	Path string `json:"path"`
	// Database is the size of the database file in bytes.
	Database int64 `json:"database_bytes"`
	// WAL is the size of the write-ahead log in bytes, 0 if there is none.
	WAL int64 `json:"wal_bytes"`
	// Resident is the size of the vectors and words in memory in bytes, 0 if they are not loaded.
	Resident int64 `json:"resident_bytes"`
}

// Stats returns the totals of the index. Every change updates them, so Stats reads one row.
func (s *Store) Stats(ctx context.Context) (st Stats, err error) {
	err = s.use(ctx, func(x *index) error {
		m, err := readMeta(ctx, x.db.readers)
		st = Stats{IndexID: x.db.pages.ID(), Generation: m.generation, Files: m.files, Chunks: m.chunks, Embedded: m.embedded, Space: m.space,
			Recipe: m.recipe, LastSync: m.lastSync}
		return err
	})
	st.Repair = s.Repair()
	return st, err
}

// Sizes returns the sizes of the index.
func (s *Store) Sizes() Sizes {
	x := s.current()
	return Sizes{Path: x.db.path, Database: fileSize(x.db.path), WAL: fileSize(x.db.path + "-wal"), Resident: x.slabs.Resident()}
}
