package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"

	"kioku/embed"
	"kioku/store/slab"
	"kioku/vectors"
)

// selectEmbedded reads the embedded chunks that follow an id.
const selectEmbedded = `SELECT c.id, c.file, c.sha256, c.text, w.codes, v.embedding FROM (SELECT id, file, sha256, text FROM chunks
		WHERE id > ? AND embedded = 1 ORDER BY id LIMIT ?) c LEFT JOIN windows w ON w.chunk = c.id LEFT JOIN chunks_vec v ON v.rowid = c.id`

// wrongVector is a chunk whose vector is to be embedded again.
type wrongVector struct{ chunk, file int64 }

// reconcile makes the index and the cache agree if the index was filled from another cache.
func (x *index) reconcile(ctx context.Context) error {
	m, err := readMeta(ctx, x.db.readers)
	id := x.opt.Cache.ID()
	if err != nil || m.cache == id || id == 0 {
		return err
	}
	var all []wrongVector
	for last, more := int64(-1), m.embedded > 0; more; {
		wrong, next, n, err := x.compareVectors(ctx, last, true)
		if err != nil {
			return err
		}
		all, last, more = append(all, wrong...), next, n > 0
	}
	return x.writeTx(ctx, func(tx *sql.Tx, change *slab.Change) error {
		for _, w := range all {
			if err := unembed(ctx, tx, w, change); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "UPDATE meta SET cache = ?", id)
		return err
	})
}

// embeddedChunk is an embedded chunk as the index has it.
type embeddedChunk struct {
	wrongVector
	vectors.Text
	vector  []float32
	windows []byte
}

// compareVectors compares some embedded chunks that follow an id with the cache. It returns those whose vectors are not those of the cache, or
// of which the cache lacks a window, the last id and the number of chunks. With restore, it copies documents that the cache lacks there.
func (x *index) compareVectors(ctx context.Context, after int64, restore bool) (wrong []wrongVector, last int64, n int, err error) {
	m, err := readMeta(ctx, x.db.readers)
	if err != nil || m.space.IsZero() {
		return nil, after, 0, err
	}
	chunks, err := x.readEmbedded(ctx, after)
	if err != nil || len(chunks) == 0 {
		return nil, after, 0, err
	}
	texts, hashes := make([]vectors.Text, len(chunks)), make([]vectors.Hash, len(chunks))
	for i, c := range chunks {
		texts[i], hashes[i] = c.Text, c.Hash
	}
	known, err := x.opt.Cache.Known(ctx, m.space, vectors.Document, hashes)
	if err != nil {
		return nil, after, 0, err
	}
	lacking := map[vectors.Key][]float32{}
	for _, c := range chunks {
		if restore && !known[c.Hash] && embed.Check(c.vector, m.space.Dims) == nil {
			lacking[vectors.Key{Kind: vectors.Document, Hash: c.Hash}] = c.vector
		}
	}
	if len(lacking) > 0 {
		if err := x.opt.Cache.Put(ctx, m.space, lacking); err != nil {
			return nil, after, 0, err
		}
	}
	whole, err := x.opt.Cache.Complete(ctx, m.space, texts)
	for _, c := range chunks {
		e, ok := whole[c.Hash]
		if !ok || !bytes.Equal(encodeVector(e.Vector), encodeVector(c.vector)) || !bytes.Equal(embed.EncodeWindows(e.Windows), c.windows) {
			wrong = append(wrong, c.wrongVector)
		}
	}
	return wrong, chunks[len(chunks)-1].chunk, len(chunks), err
}

// readEmbedded returns some embedded chunks that follow an id.
func (x *index) readEmbedded(ctx context.Context, after int64) ([]embeddedChunk, error) {
	var chunks []embeddedChunk
	err := forEachRow(ctx, x.db.readers, func(rows *sql.Rows) error {
		var c embeddedChunk
		var hash, vector sql.RawBytes
		if err := rows.Scan(&c.chunk, &c.file, &hash, &c.Body, &c.windows, &vector); err != nil {
			return err
		}
		copy(c.Hash[:], hash) // one of another length is not known
		c.vector = decodeVector(vector)
		chunks = append(chunks, c)
		return nil
	}, selectEmbedded, after, embedBatch)
	return chunks, vectorError(err)
}

// unembed removes the vector of a chunk, unless another process has changed it meanwhile.
func unembed(ctx context.Context, tx *sql.Tx, w wrongVector, change *slab.Change) error {
	res, err := tx.ExecContext(ctx, "UPDATE chunks SET embedded = 0 WHERE id = ? AND file = ? AND embedded = 1", w.chunk, w.file)
	if err != nil {
		return fmt.Errorf("remove vector: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	for _, stmt := range []struct {
		query string
		arg   int64
	}{
		{deleteVectorSQL, w.chunk},
		{deleteWindowsSQL, w.chunk},
		{"UPDATE files SET embedded = embedded - 1 WHERE id = ?", w.file},
		{"UPDATE meta SET embedded = embedded - 1, holes = holes + 1 WHERE id = ?", 1},
	} {
		if _, err := tx.ExecContext(ctx, stmt.query, stmt.arg); err != nil {
			return fmt.Errorf("remove vector: %w", vectorError(err))
		}
	}
	change.Drop(w.chunk)
	return nil
}
