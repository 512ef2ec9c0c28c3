package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"

	"kioku/embed"
	"kioku/indexer"
)

const (
	// selectBacklog reads the texts without a vector by files_backlog, those of the newest files first.
	selectBacklog = `SELECT c.sha256, f.names, c.text, NULL FROM files f CROSS JOIN chunks c ON c.file = f.id
		WHERE f.embedded < f.chunks AND f.out_of_scope = 0 AND c.checksum IS NULL ORDER BY f.mtime DESC, f.id DESC, c.id`

	// The other backlogs are the chunks in scope for which a condition holds.
	//
	// lacksWindows: the vector of the index has no windows.
	lacksWindows = "c.checksum IS NOT NULL AND NOT EXISTS (SELECT 1 FROM windows w WHERE w.chunk = c.id)"
	// lacksCached: the cache has no vector of a space.
	lacksCached = "NOT EXISTS (SELECT 1 FROM embedding_cache e WHERE e.sha256 = c.sha256 AND " + ofSpace + ")"
	// lacksCachedWindows: the cache has a vector of a space without windows.
	lacksCachedWindows = "EXISTS (SELECT 1 FROM embedding_cache e WHERE e.sha256 = c.sha256 AND e.windows IS NULL AND " + ofSpace + ")"
	// ofSpace: a cached vector is of a space.
	ofSpace = "e.provider = ?1 AND e.model = ?2 AND e.dims = ?3 AND e.endpoint = ?4 AND e.input = 'document'"

	// countUnembedded counts the chunks of such a backlog, and selectUnembedded reads the first ?5 texts: each once, newest files first.
	countUnembedded  = "SELECT count(*) FROM files f JOIN chunks c ON c.file = f.id WHERE f.out_of_scope = 0 AND "
	selectUnembedded = `SELECT c.sha256, f.names, c.text, %s FROM (
			SELECT c.id AS id FROM files f JOIN chunks c ON c.file = f.id WHERE f.out_of_scope = 0 AND %s
			GROUP BY c.sha256 ORDER BY max(f.mtime) DESC, max(f.id) DESC, min(c.id) LIMIT ?5) i
		CROSS JOIN chunks c ON c.id = i.id CROSS JOIN files f ON f.id = c.file`
	// indexedVector and cachedVector are the vectors of a text without windows.
	indexedVector = "(SELECT v.embedding FROM chunks_vec v WHERE v.rowid = c.id)"
	cachedVector  = "(SELECT e.vector FROM embedding_cache e WHERE e.sha256 = c.sha256 AND " + ofSpace + ")"

	// selectPending looks up the hashes of a JSON array among the chunks that lack a vector or its windows.
	selectPending = `SELECT c.id, c.file, c.sha256, c.checksum IS NOT NULL FROM json_each(?) j CROSS JOIN chunks c
		WHERE c.sha256 = unhex(j.value) AND (c.checksum IS NULL OR NOT EXISTS (SELECT 1 FROM windows w WHERE w.chunk = c.id))`
)

// backlog implements Store.Backlog.
func (x *index) backlog(ctx context.Context, space embed.Space, limit int) (texts []indexer.Text, chunks int, err error) {
	b := backlogReader{ctx: ctx, limit: limit, seen: map[indexer.Hash]bool{}, each: func(t indexer.Text) { texts = append(texts, t) }}
	if err := x.readBacklog(&b, space); err != nil {
		return nil, 0, fmt.Errorf("read texts without a vector: %w", err)
	}
	return texts, b.chunks, nil
}

// forEachUnembedded implements Store.ForEachUnembedded.
func (x *index) forEachUnembedded(ctx context.Context, space embed.Space, each func(indexer.Text)) error {
	b := backlogReader{ctx: ctx, limit: math.MaxInt32, seen: map[indexer.Hash]bool{}, each: each}
	return x.readBacklog(&b, space)
}

// readBacklog reads the backlog of a space.
func (x *index) readBacklog(b *backlogReader, space embed.Space) (err error) {
	if b.space, err = x.resolveSpace(b.ctx, space); err != nil {
		return err
	}
	tx, m, err := x.snapshot(b.ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	b.tx = tx
	if m.embedded == 0 || m.space.Matches(b.space) {
		return b.readIndexed(m)
	}
	if err := b.readLacking(lacksCached, "NULL"); err != nil {
		return err
	}
	return b.readLacking(lacksCachedWindows, cachedVector)
}

// backlogReader reads a backlog within one snapshot.
type backlogReader struct {
	ctx    context.Context
	tx     *sql.Tx
	space  embed.Space
	limit  int
	seen   map[indexer.Hash]bool // the texts that were read
	each   func(indexer.Text)    // takes the texts in their order
	chunks int
}

// readIndexed reads the backlog of the space of the index: by its totals first, so that an index that is whole costs nothing.
func (b *backlogReader) readIndexed(m meta) error {
	if b.chunks = m.chunks - m.embedded - (m.out.chunks - m.out.embedded); b.chunks > 0 {
		if err := b.readTexts(selectBacklog); err != nil {
			return err
		}
	}
	if m.windowed == m.embedded {
		return nil
	}
	return b.readLacking(lacksWindows, indexedVector)
}

// readLacking reads the chunks for which a condition holds, with their known vectors.
func (b *backlogReader) readLacking(condition, vector string) error {
	args := spaceArgs(b.space)
	var n int
	if err := b.tx.QueryRowContext(b.ctx, countUnembedded+condition, args...).Scan(&n); err != nil || n == 0 {
		return err
	}
	b.chunks += n
	args = append(args, b.limit)
	return b.readTexts(fmt.Sprintf(selectUnembedded, vector, condition), args...)
}

// readTexts reads the different texts of a query, which computes its rows one by one, up to the limit.
func (b *backlogReader) readTexts(query string, args ...any) error {
	if len(b.seen) >= b.limit {
		return nil
	}
	rows, err := b.tx.QueryContext(b.ctx, query, args...)
	if err != nil {
		return vectorError(err)
	}
	defer rows.Close()
	for len(b.seen) < b.limit && rows.Next() {
		var hash, vector sql.RawBytes
		var names, text string
		if err := rows.Scan(&hash, &names, &text, &vector); err != nil {
			return err
		}
		h, err := hashOf(hash)
		if err != nil {
			return err
		}
		if b.seen[h] {
			continue
		}
		b.seen[h] = true
		t := indexer.Text{Hash: h, Text: indexer.EmbeddedText(names, text), Body: text}
		if v := decodeVector(vector); embed.Check(v, b.space.Dims) == nil {
			t.Vector = v
		}
		b.each(t)
	}
	return vectorError(rows.Err())
}

// putVectors implements Store.PutVectors.
func (x *index) putVectors(ctx context.Context, space embed.Space, vectors map[indexer.Hash]indexer.Vectors) error {
	stored := make(vectorsByHash, len(vectors))
	for hash, v := range vectors {
		if err := checkVectors(v, space.Dims); err != nil {
			return fmt.Errorf("store vectors: %w", err)
		}
		stored[hash] = newStoredVector(v)
	}
	if len(stored) == 0 {
		return nil
	}
	m, err := readMeta(ctx, x.db.readers)
	if err == nil && m.embedded > 0 && m.space != space {
		err = x.buildVectors(ctx, space, stored)
	} else if err == nil {
		err = x.putStored(ctx, space, stored)
	}
	if err != nil {
		return fmt.Errorf("store vectors: %w", err)
	}
	return nil
}

// checkVectors returns an error unless a vector and its windows can be stored and compared.
func checkVectors(v indexer.Vectors, dims int) error {
	if err := embed.Check(v.Vector, dims); err != nil {
		return err
	}
	for _, w := range v.Windows {
		if len(w.Codes) != dims {
			return fmt.Errorf("a window has %d dimensions, want %d", len(w.Codes), dims)
		}
	}
	return nil
}

// putStored writes vectors to an index of their space or without vectors.
func (x *index) putStored(ctx context.Context, space embed.Space, vectors vectorsByHash) error {
	return x.writeIndex(ctx, func(w *fileWriter) error {
		switch {
		case w.meta.space == space:
		case w.meta.embedded > 0:
			return cacheVectors(ctx, w.tx, space, vectors, w.now)
		default:
			if err := w.setSpace(ctx, space); err != nil {
				return err
			}
		}
		return w.putVectors(ctx, vectors)
	})
}

// putVectors writes vectors to chunks_vec, or to the cache if the index does not contain their text.
func (w *fileWriter) putVectors(ctx context.Context, vectors vectorsByHash) error {
	pending, err := w.pendingChunks(ctx, slices.Collect(maps.Keys(vectors)))
	if err != nil {
		return err
	}
	gone := vectorsByHash{}
	for hash, v := range vectors {
		for _, c := range pending[hash] {
			if c.embedded && v.windows == nil {
				continue
			}
			if err := w.attachVector(ctx, c, hash, v); err != nil {
				return err
			}
		}
		if len(pending[hash]) > 0 {
			continue
		}
		var indexed bool
		err := w.tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM chunks WHERE sha256 = ?)", hash[:]).Scan(&indexed)
		if err != nil {
			return err
		}
		if !indexed {
			gone[hash] = v
		}
	}
	return cacheVectors(ctx, w.tx, w.meta.space, gone, w.now)
}

// pendingChunk is a chunk without a vector, or with one that has no windows, and its file.
type pendingChunk struct {
	id, file int64
	embedded bool
}

// pendingChunks returns the chunks that have the texts with these hashes and lack a vector or its windows.
func (w *fileWriter) pendingChunks(ctx context.Context, hashes []indexer.Hash) (map[indexer.Hash][]pendingChunk, error) {
	list, err := hexList(hashes)
	if err != nil {
		return nil, err
	}
	pending := map[indexer.Hash][]pendingChunk{}
	err = forEachRow(ctx, w.tx, func(rows *sql.Rows) error {
		var c pendingChunk
		var hash sql.RawBytes
		if err := rows.Scan(&c.id, &c.file, &hash, &c.embedded); err != nil {
			return err
		}
		h, err := hashOf(hash)
		pending[h] = append(pending[h], c)
		return err
	}, selectPending, list)
	return pending, err
}
