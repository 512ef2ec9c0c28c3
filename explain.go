package kioku

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"kioku/search"
)

// Explain says what became of the passage at a line of a file. An empty path explains the hits alone. Errors are those
// of Search, and a *search.InputError for a line below 1.
func (m *Memory) Explain(ctx context.Context, q search.Query, path string, line int) (search.Explanation, error) {
	if err := m.enter(); err != nil {
		return search.Explanation{}, err
	}
	defer m.leave()
	ex, err := m.searcher.Load().Explain(ctx, q, path, line)
	if err != nil || ex.Outcome != search.NotACandidate {
		return ex, err
	}
	// A search sees chunks alone; only the index of files knows why there is no chunk at all.
	outcome, text, err := m.absent(ctx, path, line)
	if err == nil && outcome != "" {
		ex.Outcome, ex.Text = outcome, text
	}
	return ex, err
}

// absent says why the index has no chunk at a line of a file; outcome is empty where it has one.
func (m *Memory) absent(ctx context.Context, path string, line int) (outcome, text string, err error) {
	var reason string
	var chunks int
	err = m.store.db.readers.QueryRowContext(ctx, `SELECT error, (SELECT count(*) FROM chunks
			WHERE file = files.id AND start_line <= ?2 AND end_line >= ?2) FROM files WHERE path = ?1`, path, line).
		Scan(&reason, &chunks)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return search.NotIndexed, m.unknown(path), nil
	case err != nil:
		return "", "", fmt.Errorf("look up %s: %w", path, err)
	case reason != "":
		return search.Skipped, fmt.Sprintf("%s is skipped: %s.", path, reason), nil
	case chunks == 0:
		return search.NotIndexed, fmt.Sprintf("%s is indexed, but its line %d is blank or beyond its end.", path, line), nil
	}
	return "", "", nil
}

// unknown says why the index does not know a file.
func (m *Memory) unknown(path string) string {
	if _, err := m.readFile(path); errors.Is(err, ErrNotFound) {
		return path + " is no file of this memory."
	}
	return path + " is not indexed yet; it will be with the next sync."
}
