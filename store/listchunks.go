package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"kioku/internal/text"
	"kioku/memory"
)

// selectChunksOf reads the chunks of a file.
const selectChunksOf = `SELECT start_line, end_line, headings, date, language, embedded, text FROM chunks
	WHERE file = ? ORDER BY start_line, end_line, id`

// Chunks returns the chunks of the file with a path. It returns memory.ErrNotFound if the index has no such file.
func (s *Store) Chunks(ctx context.Context, path string) (memory.Chunks, error) {
	return use(ctx, s, func(x *index) (memory.Chunks, error) { return x.chunksOf(ctx, path) })
}

// chunksOf implements Store.Chunks.
func (x *index) chunksOf(ctx context.Context, path string) (memory.Chunks, error) {
	tx, _, err := x.snapshot(ctx)
	if err != nil {
		return memory.Chunks{}, err
	}
	defer tx.Rollback()
	var file int64
	found := memory.Chunks{Path: path}
	err = tx.QueryRowContext(ctx, "SELECT id, error FROM files WHERE path = ?", path).Scan(&file, &found.Skipped)
	if errors.Is(err, sql.ErrNoRows) {
		return memory.Chunks{}, memory.ErrNotFound
	} else if err != nil {
		return memory.Chunks{}, fmt.Errorf("look up %s: %w", path, err)
	}
	err = forEachRow(ctx, tx, func(rows *sql.Rows) error {
		var c memory.Chunk
		var body string
		err := rows.Scan(&c.StartLine, &c.EndLine, &c.Heading, &c.Date, &c.Language, &c.Embedded, &body)
		c.Tokens = text.EstimateTokens(body)
		found.Chunks = append(found.Chunks, c)
		return err
	}, selectChunksOf, file)
	if err != nil {
		return memory.Chunks{}, fmt.Errorf("read the chunks of %s: %w", path, err)
	}
	return found, nil
}
