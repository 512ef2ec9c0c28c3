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

// estimateWords estimates the size of the words in memory, 0 if there are none.
func estimateWords(ctx context.Context, q queryer, m meta) (int64, error) {
	if m.chunks == 0 {
		return 0, nil
	}
	pages, err := countPages(ctx, q)
	return int64(pages)*bytesPerPage + int64(m.chunks)*bytesPerChunk, err
}

// countPages returns the number of pages of FTS5.
func countPages(ctx context.Context, q queryer) (n int, err error) {
	if err = q.QueryRowContext(ctx, "SELECT count(*) FROM chunks_fts_data").Scan(&n); err != nil {
		return 0, fmt.Errorf("count pages of words: %w", err)
	}
	return n, nil
}

// readWords reads the tables of FTS5. It returns an error if the number of documents or tokens is not that of meta.
func readWords(ctx context.Context, q queryer, m meta) (*postings.Index, error) {
	t := postings.Tables{Pages: func(first, last int64) iter.Seq2[[]byte, error] { return readPages(ctx, q, first, last) }}
	err := readRecord(ctx, q, 10, &t.Structure)
	if err == nil {
		err = readRecord(ctx, q, 1, &t.Averages)
	}
	if err == nil {
		t.Docs, err = readDocs(ctx, q, m.chunks)
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
