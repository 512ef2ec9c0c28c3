package store

import (
	"context"
	"database/sql"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"kioku/embed"
	"kioku/indexer"
)

const (
	// selectBacklog reads the texts without a vector by files_backlog, those of the newest files first.
	selectBacklog = `SELECT c.sha256, f.names, c.text FROM files f CROSS JOIN chunks c ON c.file = f.id
		WHERE f.embedded < f.chunks AND f.out_of_scope = 0 AND c.checksum IS NULL ORDER BY f.mtime DESC, f.id DESC, c.id`
	// selectNewestTexts reads all texts: the backlog of a space other than that of the index.
	selectNewestTexts = `SELECT c.sha256, f.names, c.text FROM files f CROSS JOIN chunks c ON c.file = f.id
		WHERE f.out_of_scope = 0 ORDER BY f.mtime DESC, f.id DESC, c.id`
	// selectPending looks up the hashes of a JSON array among the chunks without a vector.
	selectPending = `SELECT c.id, c.file, c.sha256 FROM json_each(?) j CROSS JOIN chunks c
		WHERE c.sha256 = unhex(j.value) AND c.checksum IS NULL`
)

// backlog implements Store.Backlog.
func (x *index) backlog(ctx context.Context, space embed.Space, limit int) ([]indexer.Text, int, error) {
	tx, m, err := x.snapshot(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer tx.Rollback()
	query, chunks := selectBacklog, m.chunks-m.embedded-(m.out.chunks-m.out.embedded)
	if m.embedded > 0 && !m.space.Matches(space) {
		query, chunks = selectNewestTexts, m.chunks-m.out.chunks
	}
	if chunks == 0 {
		return nil, 0, nil
	}
	texts, err := distinctTexts(ctx, tx, query, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("read texts without a vector: %w", err)
	}
	return texts, chunks, nil
}

// distinctTexts returns the first different texts of a query, which computes its rows one by one.
func distinctTexts(ctx context.Context, q queryer, query string, limit int) ([]indexer.Text, error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var texts []indexer.Text
	seen := map[indexer.Hash]bool{}
	for len(texts) < limit && rows.Next() {
		var hash sql.RawBytes
		var names, text string
		if err := rows.Scan(&hash, &names, &text); err != nil {
			return nil, err
		}
		h, err := hashOf(hash)
		if err != nil {
			return nil, err
		}
		if !seen[h] {
			seen[h] = true
			texts = append(texts, indexer.Text{Hash: h, Text: indexer.EmbeddedText(names, text)})
		}
	}
	return texts, rows.Err()
}

// putVectors implements Store.PutVectors.
func (x *index) putVectors(ctx context.Context, space embed.Space, vectors map[indexer.Hash][]float32) error {
	for _, v := range vectors {
		if err := embed.Check(v, space.Dims); err != nil {
			return fmt.Errorf("store vectors: %w", err)
		}
	}
	if len(vectors) == 0 {
		return nil
	}
	return x.writeIndex(ctx, func(w *fileWriter) error {
		if err := x.switchSpace(ctx, w, space); err != nil {
			return err
		}
		if err := w.putVectors(ctx, vectors); err != nil {
			return fmt.Errorf("store vectors: %w", err)
		}
		return nil
	})
}

// switchSpace makes space the space of the index. Vectors of another space move to the cache.
func (x *index) switchSpace(ctx context.Context, w *fileWriter, space embed.Space) error {
	if w.meta.space == space {
		return nil
	}
	if w.meta.embedded > 0 {
		if err := clearVectors(ctx, w.tx); err != nil {
			return err
		}
		x.attachedSpace.Store(nil)
	}
	return w.setSpace(ctx, space)
}

// putVectors writes vectors to chunks_vec, or to the cache if the index does not contain their text.
func (w *fileWriter) putVectors(ctx context.Context, vectors map[indexer.Hash][]float32) error {
	pending, err := w.pendingChunks(ctx, slices.Collect(maps.Keys(vectors)))
	if err != nil {
		return err
	}
	insertCache, err := w.tx.PrepareContext(ctx, insertCached)
	if err != nil {
		return err
	}
	sp := w.meta.space
	for hash, v := range vectors {
		blob := encodeVector(v)
		for _, c := range pending[hash] {
			if err := w.attachVector(ctx, c, hash, v, blob); err != nil {
				return err
			}
		}
		if len(pending[hash]) > 0 {
			continue
		}
		var indexed bool
		err := w.tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM chunks WHERE sha256 = ?)", hash[:]).Scan(&indexed)
		if err == nil && !indexed {
			_, err = insertCache.ExecContext(ctx, sp.Provider, sp.Model, sp.Dims, sp.Endpoint, hash[:], blob,
				crc32.Checksum(blob, castagnoli), w.now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pendingChunk is a chunk without a vector, and its file.
type pendingChunk struct{ id, file int64 }

// pendingChunks returns the chunks without a vector that have the texts with these hashes.
func (w *fileWriter) pendingChunks(ctx context.Context, hashes []indexer.Hash) (map[indexer.Hash][]pendingChunk, error) {
	list, err := hexList(hashes)
	if err != nil {
		return nil, err
	}
	pending := map[indexer.Hash][]pendingChunk{}
	err = forEachRow(ctx, w.tx, func(rows *sql.Rows) error {
		var c pendingChunk
		var hash sql.RawBytes
		if err := rows.Scan(&c.id, &c.file, &hash); err != nil {
			return err
		}
		h, err := hashOf(hash)
		pending[h] = append(pending[h], c)
		return err
	}, selectPending, list)
	return pending, err
}
