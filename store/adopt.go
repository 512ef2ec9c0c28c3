package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"kioku/embed"
	"kioku/indexer"
)

// A generation is all vectors of one space. That of chunks_vec is active: searches use it. Another one is built in the cache
// while the active one answers, and becomes active in one transaction.

const (
	// selectAdoptable reads the cached vectors of a space that chunks can have, for chunks that follow an id.
	selectAdoptable = `SELECT c.id, c.sha256, e.vector, e.windows, e.checksum FROM chunks c CROSS JOIN embedding_cache e
		ON e.sha256 = c.sha256 AND ` + ofSpace + ` WHERE c.id > ?5 ORDER BY c.id LIMIT ?6`
	// deleteAdopted deletes the cached vectors of a space that chunks have.
	deleteAdopted = `DELETE FROM embedding_cache AS e WHERE ` + ofSpace + `
		AND EXISTS (SELECT 1 FROM chunks c WHERE c.sha256 = e.sha256 AND c.checksum IS NOT NULL)`
	// countEmbedded updates the number of embedded chunks of each file.
	countEmbedded = `UPDATE files SET embedded = (SELECT count(checksum) FROM chunks WHERE file = files.id) WHERE chunks > 0`
)

// errNothingToAdopt: the cache has no vector for any chunk.
var errNothingToAdopt = errors.New("the cache has no vector for any text of the index")

// buildVectors writes vectors of a space to the cache, and notes that the space is being built. No search sees a change, so the
// generation stays the same.
func (x *index) buildVectors(ctx context.Context, space embed.Space, vectors vectorsByHash) error {
	x.attachedSpace.Store(nil) // should the space have become that of the index meanwhile
	building, err := encodeSpace(space)
	if err != nil {
		return err
	}
	err = inTx(ctx, x.db.writer, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE meta SET building = ?1 WHERE building <> ?1", building); err != nil {
			return err
		}
		return cacheVectors(ctx, tx, space, vectors, x.opt.Now().Unix())
	})
	if err != nil {
		return err
	}
	return x.maintain(ctx)
}

// encodeSpace returns a space as JSON, "" for none.
func encodeSpace(s embed.Space) (string, error) {
	if s.IsZero() {
		return "", nil
	}
	b, err := json.Marshal(s)
	return string(b), err
}

// adopt implements Store.Adopt.
func (x *index) adopt(ctx context.Context, space embed.Space) (bool, error) {
	space, err := x.resolveSpace(ctx, space)
	if err != nil || space.Dims == 0 {
		return false, err
	}
	m, err := readMeta(ctx, x.db.readers)
	if err != nil || m.space == space {
		return false, err
	}
	err = x.writeIndex(ctx, func(w *fileWriter) error { return w.adopt(ctx, space) })
	if errors.Is(err, errNothingToAdopt) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("switch to the vectors of %s: %w", space.Name(), err)
	}
	x.attachedSpace.Store(nil)
	return true, nil
}

// adopt moves the vectors of the index to the cache, and those of a space from there.
func (w *fileWriter) adopt(ctx context.Context, space embed.Space) error {
	if !w.meta.space.IsZero() {
		if err := clearVectors(ctx, w.tx); err != nil {
			return err
		}
	}
	if err := w.setSpace(ctx, space); err != nil {
		return err
	}
	w.hasCached = false // deleteAdopted deletes all at once
	for last, more := int64(-1), true; more; {
		found, err := w.adoptable(ctx, space, last)
		if err != nil {
			return err
		}
		for _, a := range found {
			if err := w.adoptVector(ctx, a); err != nil {
				return err
			}
			last = a.chunk
		}
		more = len(found) > 0
	}
	if w.meta.embedded == 0 {
		return errNothingToAdopt
	}
	if _, err := w.tx.ExecContext(ctx, deleteAdopted, spaceArgs(space)...); err != nil {
		return err
	}
	if _, err := w.tx.ExecContext(ctx, countEmbedded); err != nil {
		return err
	}
	if w.meta.building == space {
		w.meta.building = embed.Space{}
	}
	return nil
}

// adoptedVector is a cached vector, and the chunk that it is for.
type adoptedVector struct {
	storedVector
	chunk  int64
	hash   indexer.Hash
	intact bool
}

// adoptable returns cached vectors of a space for some of the chunks that follow an id.
func (w *fileWriter) adoptable(ctx context.Context, space embed.Space, after int64) ([]adoptedVector, error) {
	var found []adoptedVector
	err := forEachRow(ctx, w.tx, func(rows *sql.Rows) error {
		var a adoptedVector
		var hash sql.RawBytes
		var sum uint32
		if err := rows.Scan(&a.chunk, &hash, &a.vector, &a.windows, &sum); err != nil {
			return err
		}
		h, err := hashOf(hash)
		a.hash, a.intact = h, a.storedVector.intact(sum, space.Dims)
		found = append(found, a)
		return err
	}, selectAdoptable, append(spaceArgs(space), after, attachBatch)...)
	return found, err
}

// adoptVector writes a vector that is intact, and deletes a damaged one.
func (w *fileWriter) adoptVector(ctx context.Context, a adoptedVector) error {
	if !a.intact {
		return deleteCachedVectors(ctx, w.tx, w.meta.space, []indexer.Hash{a.hash})
	}
	if err := w.writeVector(ctx, a.chunk, a.hash, a.storedVector); err != nil {
		return err
	}
	_, err := w.tx.ExecContext(ctx, "UPDATE chunks SET checksum = ? WHERE id = ?", a.checksum(), a.chunk)
	return err
}
