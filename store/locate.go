package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Location is what the index knows of a line of a file.
type Location struct {
	// Known says that the index has the file, be it skipped.
	Known bool
	// Skipped is why the file is not indexed, empty where it is.
	Skipped string
	Source  string
	// Chunk says that a chunk covers the line; Date is then its date, empty where it has none.
	Chunk bool
	Date  string
}

// Locate looks up a line of a file. A file that the index does not know is no error.
func (s *Store) Locate(ctx context.Context, path string, line int) (Location, error) {
	l := Location{Known: true}
	var date sql.NullString
	err := s.db.readers.QueryRowContext(ctx, `SELECT f.source, f.error, c.date FROM files f
			LEFT JOIN chunks c ON c.file = f.id AND c.start_line <= ?2 AND c.end_line >= ?2
			WHERE f.path = ?1 ORDER BY c.start_line LIMIT 1`, path, line).Scan(&l.Source, &l.Skipped, &date)
	if errors.Is(err, sql.ErrNoRows) {
		return Location{}, nil
	}
	if err != nil {
		return Location{}, fmt.Errorf("look up %s: %w", path, err)
	}
	l.Chunk, l.Date = date.Valid, date.String
	return l, nil
}
