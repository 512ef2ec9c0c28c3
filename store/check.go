package store

import (
	"context"
	"fmt"
)

// consistent reports whether the tables of the index contain the same chunks.
func (x *index) consistent(ctx context.Context, m meta) (bool, error) {
	var chunks, fts, files, vecs int
	err := x.db.readers.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM chunks_fts_docsize),
		(SELECT count(*) FROM files WHERE error = '')`).Scan(&chunks, &fts, &files)
	if err != nil {
		return false, fmt.Errorf("count rows: %w", err)
	}
	if vecs, err = countVectors(ctx, x.db.readers, m.space); err != nil {
		return false, err
	}
	return chunks == m.chunks && fts == m.chunks && files == m.files && vecs == m.embedded, nil
}
