package store

import (
	"context"
	"database/sql"
	"fmt"

	"kioku/embed"
)

// bindWorkspace records the workspace of the index. An index of another workspace is emptied first, so that a search cannot
// answer from there. So is an index whose tables are not consistent.
func (s *Store) bindWorkspace(ctx context.Context, workspace string) error {
	m, err := readMeta(ctx, s.db.writer)
	if err != nil {
		return err
	}
	consistent, err := s.consistent(ctx, m)
	if err != nil {
		return err
	}
	moved := m.workspace != "" && m.workspace != workspace
	switch {
	case moved:
		s.log.Warn("the index was that of another folder; it is emptied and rebuilt from this one", "was", m.workspace, "now", workspace)
	case !consistent:
		s.log.Warn("the tables of the index did not agree; it is emptied and rebuilt")
	case m.workspace == workspace && (m.chunks > 0 || m.chunking == s.chunking):
		return nil
	}
	return s.writeTx(ctx, func(tx *sql.Tx, change *vectorChange) error {
		if !consistent || moved {
			change.reload = true
			if _, err := s.clearIndex(ctx, tx); err != nil {
				return err
			}
			m.chunks = 0
		}
		if m.chunks == 0 {
			m.chunking = s.chunking
		}
		_, err := tx.ExecContext(ctx, "UPDATE meta SET workspace = ?, chunking = ?", workspace, m.chunking)
		return err
	})
}

// checkWorkspace returns an error if the index was made from another workspace.
func (s *Store) checkWorkspace(ctx context.Context, workspace string) error {
	m, err := readMeta(ctx, s.db.readers)
	if err == nil && m.workspace != workspace {
		return fmt.Errorf("it was made from %s, not from %s", m.workspace, workspace)
	}
	return err
}

// consistent reports whether the tables of the index contain the same chunks.
func (s *Store) consistent(ctx context.Context, m meta) (bool, error) {
	var chunks, fts, files, vecs int
	err := s.db.writer.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM chunks_fts_docsize),
		(SELECT count(*) FROM files WHERE error = '')`).Scan(&chunks, &fts, &files)
	if err != nil {
		return false, fmt.Errorf("count rows: %w", err)
	}
	if vecs, err = countVectors(ctx, s.db.writer, m.space); err != nil {
		return false, err
	}
	return chunks == m.chunks && fts == m.chunks && files == m.files && vecs == m.embedded, nil
}

// clearIndex moves the vectors to embedding_cache, empties every other table and resets the totals of meta. It returns the
// space of the vectors.
func (s *Store) clearIndex(ctx context.Context, tx *sql.Tx) (embed.Space, error) {
	s.attachedSpace.Store(nil)
	m, err := readMeta(ctx, tx)
	if err == nil {
		err = salvageVectors(ctx, tx, s.log)
	}
	if err != nil {
		return embed.Space{}, err
	}
	for _, stmt := range []string{
		"INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')",
		"DELETE FROM chunks",
		"DELETE FROM files",
		`UPDATE meta SET space_provider = '', space_model = '', space_dims = 0, space_endpoint = '',
			files = 0, chunks = 0, embedded = 0, terms = 0, last_sync = 0`,
	} {
		if _, err := tx.ExecContext(ctx, stmt); err != nil {
			return embed.Space{}, fmt.Errorf("clear index: %w", err)
		}
	}
	return m.space, nil
}
