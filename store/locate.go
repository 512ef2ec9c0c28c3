package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Location describes a line of a file in the index. The zero value is the location in a file that the index does not know.
type Location struct {
	// Known reports that the index contains the file, perhaps as a skipped one.
	Known bool
	// Skipped is the reason why the file is not indexed, "" if it is indexed.
	Skipped string
	// Chunk reports that a chunk contains the line.
	Chunk bool
}

// locate implements Store.Locate.
func (x *index) locate(ctx context.Context, path string, line int) (Location, error) {
	l := Location{Known: true}
	err := x.db.readers.QueryRowContext(ctx, `SELECT f.error, c.id IS NOT NULL FROM files f
			LEFT JOIN chunks c ON c.file = f.id AND c.start_line <= ?2 AND c.end_line >= ?2
			WHERE f.path = ?1 ORDER BY c.start_line LIMIT 1`, path, line).Scan(&l.Skipped, &l.Chunk)
	if errors.Is(err, sql.ErrNoRows) {
		return Location{}, nil
	}
	if err != nil {
		return Location{}, fmt.Errorf("look up %s: %w", path, err)
	}
	return l, nil
}
