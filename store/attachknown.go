package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"kioku/embed"
	"kioku/indexer"
)

const (
	// selectAttachable reads cached vectors of a space whose texts are indexed without a vector. The key of the cache contains
	// every column that is compared.
	selectAttachable = `SELECT e.sha256, e.vector, e.windows, e.checksum FROM embedding_cache e
		WHERE ` + ofSpace + `
		AND EXISTS (SELECT 1 FROM chunks c WHERE c.sha256 = e.sha256 AND c.checksum IS NULL) LIMIT ?5`
	// attachBatch is the maximum number of cached vectors that one transaction attaches.
	attachBatch = 500
)

// attachKnown implements Store.AttachKnown.
func (x *index) attachKnown(ctx context.Context, space embed.Space) (n int, err error) {
	space, err = x.resolveSpace(ctx, space)
	if done := x.attachedSpace.Load(); err != nil || space.Dims == 0 || done != nil && *done == space {
		return 0, err
	}
	x.attachedSpace.Store(&space) // before the first query, so that a concurrent clearIndex resets it
	inSpace := false
	defer func() {
		// Files that are written into an index of another space, or of none, leave their cached vectors where they are.
		if err != nil || !inSpace {
			x.attachedSpace.Store(nil)
		}
	}()
	for {
		known, damaged, current, err := x.attachableVectors(ctx, space)
		if err == nil && len(damaged) > 0 {
			err = deleteCachedVectors(ctx, x.db.writer, space, damaged)
		}
		if err == nil && len(known) > 0 {
			err = x.putStored(ctx, space, known)
		}
		if err != nil {
			return n, fmt.Errorf("attach known vectors: %w", err)
		}
		if n += len(known); len(known)+len(damaged) == 0 {
			inSpace = current == space
			return n, nil
		}
	}
}

// attachableVectors returns cached vectors that chunks lack, the hashes of damaged ones, and the space of the index. It returns
// none if the index has vectors of another space.
func (x *index) attachableVectors(ctx context.Context, space embed.Space) (vectorsByHash, []indexer.Hash, embed.Space, error) {
	tx, m, err := x.snapshot(ctx)
	if err != nil {
		return nil, nil, embed.Space{}, err
	}
	defer tx.Rollback()
	known := vectorsByHash{}
	if m.embedded > 0 && m.space != space {
		return known, nil, m.space, nil
	}
	damaged, err := collectVectors(ctx, tx, known, space.Dims, selectAttachable, append(spaceArgs(space), attachBatch)...)
	return known, damaged, m.space, err
}

// resolveSpace fills in an unknown dimension of a space: that of the index if it has the same space, else that of the vectors
// that were cached last. It stays 0 if there are none.
func (x *index) resolveSpace(ctx context.Context, space embed.Space) (embed.Space, error) {
	if space.IsZero() || space.Dims != 0 {
		return space, nil
	}
	m, err := readMeta(ctx, x.db.readers)
	if err != nil || !m.space.IsZero() && m.space.Matches(space) {
		return m.space, err
	}
	err = x.db.readers.QueryRowContext(ctx, `SELECT dims FROM embedding_cache
			WHERE provider = ? AND model = ? AND endpoint = ? ORDER BY used DESC LIMIT 1`,
		space.Provider, space.Model, space.Endpoint).Scan(&space.Dims)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return space, fmt.Errorf("look up dimension: %w", err)
	}
	return space, nil
}
