package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"kioku/store/postings"
)

// bytesPerPage is the size in memory of the words of a page of FTS5, and bytesPerChunk what a chunk adds: an estimate.
const (
	bytesPerPage  = 5000
	bytesPerChunk = 16
)

// loadWordCache starts to load the words if a view before needed them and they are not cached.
func (x *index) loadWordCache() {
	c := x.words
	cached := c.share.Use()
	if cached && c.missed.Load() == 0 || !c.viewed.Swap(true) || c.ctx.Err() != nil || !c.loading.CompareAndSwap(false, true) {
		return
	}
	c.loads.Go(func() {
		defer c.loading.Store(false)
		err := x.fillWordCache(c.ctx)
		if err != nil && c.ctx.Err() == nil {
			x.log.Warn("hold words in memory; they are searched on disk", "err", err)
			c.viewed.Store(false)
		}
	})
}

// fillWordCache loads the words of a snapshot and applies the commits that were made meanwhile.
func (x *index) fillWordCache(ctx context.Context) error {
	c := x.words
	c.setRecording(true)
	defer c.setRecording(false)
	tx, m, err := x.snapshot(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if missed := c.missed.Load(); missed != 0 && missed != m.generation {
		c.missed.Store(m.generation) // another process is writing: the words would be outdated at the next query
		return nil
	}
	if m.chunks == 0 {
		return nil
	}
	c.generations.Store(nil)
	pages, err := countPages(ctx, tx)
	if err != nil || !c.share.Hold(int64(pages)*bytesPerPage+int64(m.chunks)*bytesPerChunk) {
		return err
	}
	words, err := readWords(ctx, tx, m)
	if err != nil {
		c.clear()
		return err
	}
	c.catchUp([]wordGeneration{{m.generation, words}})
	return nil
}

// setRecording starts or ends the recording of commits.
func (c *wordCache) setRecording(on bool) {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	c.recording, c.recorded = on, nil
}

// catchUp applies the recorded commits to words that were loaded, and publishes them.
func (c *wordCache) catchUp(g []wordGeneration) {
	c.commitMu.Lock()
	defer c.commitMu.Unlock()
	for _, change := range c.recorded {
		if g = applyWords(g, change); g == nil {
			break
		}
	}
	c.missed.Store(0)
	c.publish(g)
}

// countPages returns the number of pages of FTS5.
func countPages(ctx context.Context, q queryer) (n int, err error) {
	if err = q.QueryRowContext(ctx, "SELECT count(*) FROM chunks_fts_data").Scan(&n); err != nil {
		return 0, fmt.Errorf("count pages of words: %w", err)
	}
	return n, nil
}

// readWords reads the tables of FTS5. It returns an error if the number of documents or tokens is not that of meta.
func readWords(ctx context.Context, tx *sql.Tx, m meta) (*postings.Index, error) {
	t := postings.Tables{Pages: func(first, last int64) iter.Seq2[[]byte, error] { return readPages(ctx, tx, first, last) }}
	err := readRecord(ctx, tx, 10, &t.Structure)
	if err == nil {
		err = readRecord(ctx, tx, 1, &t.Averages)
	}
	if err == nil {
		t.Docs, err = readDocs(ctx, tx, m.chunks)
	}
	if err != nil {
		return nil, fmt.Errorf("read words: %w", err)
	}
	words, err := postings.Load(t)
	if err == nil && (words.Docs() != m.chunks || words.Tokens() != m.nTerms) {
		err = fmt.Errorf("%w: %d words in %d chunks are there, %d in %d were written", errDamaged,
			words.Tokens(), words.Docs(), m.nTerms, m.chunks)
	}
	return words, err
}

// readRecord reads a record of FTS5.
func readRecord(ctx context.Context, q queryer, id int64, record *[]byte) error {
	return q.QueryRowContext(ctx, "SELECT block FROM chunks_fts_data WHERE id = ?", id).Scan(record)
}

// errSizes: a row of the table of sizes has an unknown format.
var errSizes = errors.New("unknown sizes in chunks_fts")

// readDocs reads the sizes of the chunks, about n.
func readDocs(ctx context.Context, q queryer, n int) ([]postings.Doc, error) {
	docs := make([]postings.Doc, 0, n)
	err := forEachRow(ctx, q, func(rows *sql.Rows) error {
		var d postings.Doc
		var size sql.RawBytes
		if err := rows.Scan(&d.ID, &size, &d.Origin); err != nil {
			return err
		}
		v := varints{b: size}
		if d.Tokens = uint32(v.nextVarint()); v.short {
			return errSizes
		}
		docs = append(docs, d)
		return nil
	}, "SELECT id, sz, origin FROM chunks_fts_docsize ORDER BY id")
	return docs, err
}

// readPages returns the pages of FTS5 with ids from first to last. A page is valid until the next one.
func readPages(ctx context.Context, q queryer, first, last int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		rows, err := q.QueryContext(ctx, "SELECT block FROM chunks_fts_data WHERE id BETWEEN ? AND ? ORDER BY id", first, last)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var page sql.RawBytes
			if err := rows.Scan(&page); err != nil {
				yield(nil, err)
				return
			}
			if !yield(page, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
