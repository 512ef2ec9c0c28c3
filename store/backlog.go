package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"

	"kioku/embed"
	"kioku/indexer"
)

const (
	// selectBacklog reads the texts without a vector by files_backlog, the newest files first.
	selectBacklog = `SELECT c.sha256, c.text FROM files f CROSS JOIN chunks c ON c.file = f.id
		WHERE f.embedded < f.chunks AND c.checksum IS NULL ORDER BY f.mtime DESC, f.id, c.id LIMIT ?`
	// selectNewestTexts is the backlog of another space than the index's: all texts.
	selectNewestTexts = `SELECT c.sha256, c.text FROM files f CROSS JOIN chunks c ON c.file = f.id
		ORDER BY f.mtime DESC, f.id, c.id LIMIT ?`
	// selectBare looks the hashes of a JSON array up among the chunks without a vector.
	selectBare = `SELECT c.id, c.file, c.sha256 FROM json_each(?) j CROSS JOIN chunks c
		WHERE c.sha256 = unhex(j.value) AND c.checksum IS NULL`
	// selectAttachable reads cached vectors of a space whose texts are indexed without one. The key of the cache holds all
	// that is asked of it before the vector is read.
	selectAttachable = `SELECT e.sha256, e.vector, e.checksum FROM embedding_cache e
		WHERE e.provider = ? AND e.model = ? AND e.dims = ? AND e.endpoint = ? AND e.input = 'document'
		AND EXISTS (SELECT 1 FROM chunks c WHERE c.sha256 = e.sha256 AND (c.checksum IS NULL OR ?)) LIMIT ?`
	// attachBatch is how many cached vectors one transaction attaches.
	attachBatch = 500
)

// Backlog implements indexer.VectorStore.
func (s *Store) Backlog(ctx context.Context, space embed.Space, limit int) ([]indexer.Text, int, error) {
	tx, m, err := s.snapshot(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer tx.Rollback()
	query, chunks := selectBacklog, m.chunks-m.embedded
	if m.embedded > 0 && !m.space.Matches(space) {
		query, chunks = selectNewestTexts, m.chunks
	}
	if chunks == 0 {
		return nil, 0, nil
	}
	rows, err := tx.QueryContext(ctx, query, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("read texts without a vector: %w", err)
	}
	defer rows.Close()
	var texts []indexer.Text
	seen := map[indexer.Hash]bool{}
	for rows.Next() {
		var hash sql.RawBytes
		var t indexer.Text
		if err := rows.Scan(&hash, &t.Text); err != nil {
			return nil, 0, fmt.Errorf("read texts without a vector: %w", err)
		}
		if copy(t.Hash[:], hash); !seen[t.Hash] {
			seen[t.Hash] = true
			texts = append(texts, t)
		}
	}
	return texts, chunks, rows.Err()
}

// PutVectors implements indexer.VectorStore.
func (s *Store) PutVectors(ctx context.Context, space embed.Space, vectors map[indexer.Hash][]float32) error {
	for _, v := range vectors {
		if err := embed.Check(v, space.Dims); err != nil {
			return fmt.Errorf("store vectors: %w", err)
		}
	}
	if len(vectors) == 0 {
		return nil
	}
	return s.change(ctx, func(w *fileWriter) error { return w.putVectors(ctx, s, space, vectors) })
}

// putVectors stores vectors in chunks_vec, or in the cache if no chunk lacks them.
func (w *fileWriter) putVectors(ctx context.Context, s *Store, space embed.Space, vectors map[indexer.Hash][]float32) error {
	if err := w.enterSpace(ctx, s, space); err != nil {
		return err
	}
	bare, err := w.bareChunks(ctx, vectors)
	if err != nil {
		return fmt.Errorf("store vectors: %w", err)
	}
	cache, err := w.tx.PrepareContext(ctx, insertCached)
	if err != nil {
		return fmt.Errorf("store vectors: %w", err)
	}
	for hash, v := range vectors {
		blob := encodeVector(v)
		for _, c := range bare[hash] {
			if err := w.attach(ctx, c, hash, v, blob); err != nil {
				return fmt.Errorf("store vectors: %w", err)
			}
		}
		if len(bare[hash]) > 0 {
			continue
		}
		var there bool
		err := w.tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM chunks WHERE sha256 = ?)", hash[:]).Scan(&there)
		if err == nil && !there {
			_, err = cache.ExecContext(ctx, space.Provider, space.Model, space.Dims, space.Endpoint, hash[:], blob,
				crc32.Checksum(blob, castagnoli), w.used)
		}
		if err != nil {
			return fmt.Errorf("store vectors: %w", err)
		}
	}
	return nil
}

// enterSpace makes space that of the index. The vectors of another one move to the cache.
func (w *fileWriter) enterSpace(ctx context.Context, s *Store, space embed.Space) error {
	if w.meta.space == space {
		return nil
	}
	if w.meta.embedded > 0 {
		if err := clearVectors(ctx, w.tx, s.log); err != nil {
			return err
		}
		s.attached.Store(nil)
	}
	return w.setSpace(ctx, space)
}

// bareChunk is a chunk without a vector, and its file.
type bareChunk struct{ id, file int64 }

// bareChunks returns the chunks that lack the vectors of some texts.
func (w *fileWriter) bareChunks(ctx context.Context, vectors map[indexer.Hash][]float32) (map[indexer.Hash][]bareChunk, error) {
	hashes := make([]indexer.Hash, 0, len(vectors))
	for h := range vectors {
		hashes = append(hashes, h)
	}
	list, err := hexList(hashes)
	if err != nil {
		return nil, err
	}
	rows, err := w.tx.QueryContext(ctx, selectBare, list)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	bare := map[indexer.Hash][]bareChunk{}
	for rows.Next() {
		var c bareChunk
		var hash sql.RawBytes
		if err := rows.Scan(&c.id, &c.file, &hash); err != nil {
			return nil, err
		}
		bare[indexer.Hash(hash)] = append(bare[indexer.Hash(hash)], c)
	}
	return bare, rows.Err()
}

// attach gives a chunk its vector.
func (w *fileWriter) attach(ctx context.Context, c bareChunk, hash indexer.Hash, v []float32, blob []byte) error {
	if err := w.insertVector(ctx, c.id, hash, v, blob); err != nil {
		return err
	}
	_, err := w.tx.ExecContext(ctx, "UPDATE chunks SET checksum = ? WHERE id = ?", crc32.Checksum(blob, castagnoli), c.id)
	if err == nil {
		_, err = w.tx.ExecContext(ctx, "UPDATE files SET embedded = embedded + 1 WHERE id = ?", c.file)
	}
	return err
}

// AttachKnown implements indexer.VectorStore.
func (s *Store) AttachKnown(ctx context.Context, space embed.Space) (n int, err error) {
	space, err = s.resolve(ctx, space)
	if done := s.attached.Load(); err != nil || space.Dims == 0 || done != nil && *done == space {
		return 0, err
	}
	s.attached.Store(&space) // before looking: what empties the index meanwhile takes it back
	defer func() {
		if err != nil {
			s.attached.Store(nil)
		}
	}()
	for {
		known, damaged, err := s.attachableVectors(ctx, space)
		if err == nil && len(damaged) > 0 {
			err = s.forgetCached(ctx, space, damaged)
		}
		if err == nil {
			err = s.PutVectors(ctx, space, known)
		}
		if err != nil {
			return n, fmt.Errorf("attach known vectors: %w", err)
		}
		if n += len(known); len(known)+len(damaged) == 0 {
			return n, nil
		}
	}
}

// attachableVectors reads cached vectors that chunks lack, and the hashes of those that are damaged.
func (s *Store) attachableVectors(ctx context.Context, space embed.Space) (map[indexer.Hash][]float32, []indexer.Hash, error) {
	tx, m, err := s.snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer tx.Rollback()
	other := m.embedded > 0 && m.space != space
	known := map[indexer.Hash][]float32{}
	damaged, err := collectVectors(ctx, tx, known, space.Dims, selectAttachable,
		space.Provider, space.Model, space.Dims, space.Endpoint, other, attachBatch)
	return known, damaged, err
}

// forgetCached deletes cached vectors.
func (s *Store) forgetCached(ctx context.Context, sp embed.Space, hashes []indexer.Hash) error {
	var errs []error
	for _, h := range hashes {
		_, err := s.db.writer.ExecContext(ctx, deleteCached, h[:], sp.Provider, sp.Model, sp.Dims, sp.Endpoint)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
