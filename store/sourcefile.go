package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"kioku/memory"
)

// SourceFile returns an indexed file without its content. Its Source is empty if the index does not have the file, or lists it only
// with the reason why it is skipped.
func (s *Store) SourceFile(ctx context.Context, path string) (memory.SourceFile, error) {
	return use(ctx, s, func(x *index) (memory.SourceFile, error) {
		file := memory.SourceFile{Path: path}
		var hash []byte
		err := x.db.readers.QueryRowContext(ctx, "SELECT source, date, sha256 FROM files WHERE path = ? AND error = ''", path).
			Scan(&file.Source, &file.Date, &hash)
		if errors.Is(err, sql.ErrNoRows) {
			return file, nil
		}
		if err == nil {
			file.SHA256, err = hashOf(hash)
		}
		if err != nil {
			return file, fmt.Errorf("look up %s: %w", path, err)
		}
		return file, nil
	})
}
