package store

import (
	"context"
	"database/sql"
	"fmt"
)

// cacheAllSQL copies all vectors of the index to the cache.
const cacheAllSQL = `INSERT INTO embedding_cache (provider, model, dims, endpoint, input, sha256, vector, windows, checksum, used)
	SELECT m.space_provider, m.space_model, m.space_dims, m.space_endpoint, 'document', c.sha256, v.embedding, w.codes, c.checksum,
		unixepoch() FROM meta m CROSS JOIN chunks c CROSS JOIN chunks_vec v LEFT JOIN windows w ON w.chunk = c.id
	WHERE c.checksum IS NOT NULL AND v.rowid = c.id
	ON CONFLICT DO NOTHING`

// clearVectors moves all vectors of the index to the cache. The caller updates the totals of meta.
func clearVectors(ctx context.Context, tx *sql.Tx) error {
	for _, stmt := range []string{
		cacheAllSQL,
		"DROP TABLE chunks_vec",
		"DELETE FROM windows",
		"UPDATE chunks SET checksum = NULL WHERE checksum IS NOT NULL",
		"UPDATE files SET embedded = 0 WHERE embedded > 0",
	} {
		if _, err := tx.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("clear vectors: %w", vectorError(err))
		}
	}
	return nil
}

// clearIndex moves the vectors to embedding_cache, empties the tables of files and chunks and resets the totals of meta. What was
// derived stays: the episodes are detached, so that files which are written again in this transaction keep theirs with their claims.
// It returns the row of meta from before.
func (x *index) clearIndex(ctx context.Context, tx *sql.Tx) (meta, error) {
	x.attachedSpace.Store(nil)
	m, err := readMeta(ctx, tx)
	if err == nil && !m.space.IsZero() {
		err = clearVectors(ctx, tx)
	}
	if err != nil {
		return meta{}, err
	}
	for _, stmt := range []string{
		"INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')",
		"DELETE FROM chunks",
		"DELETE FROM fields",
		"DELETE FROM aka",
		"DELETE FROM links",
		"UPDATE payload_episode SET file = NULL",
		"DELETE FROM files",
		`UPDATE meta SET space_provider = '', space_model = '', space_dims = 0, space_endpoint = '',
			space_recipe = '', files = 0, chunks = 0, embedded = 0, windowed = 0, terms = 0, out_files = 0, out_chunks = 0, out_embedded = 0, last_sync = 0`,
	} {
		if _, err := tx.ExecContext(ctx, stmt); err != nil {
			return meta{}, fmt.Errorf("clear index: %w", err)
		}
	}
	return m, nil
}
