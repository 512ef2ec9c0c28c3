package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kioku/internal/text"
	"kioku/memory"
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

// Locate looks up a line of a file. It returns no error if the index does not know the file.
func (s *Store) Locate(ctx context.Context, path string, line int) (l Location, err error) {
	err = s.read(ctx, "look up "+path, func(tx *sql.Tx, _ meta) error {
		err := tx.QueryRowContext(ctx, `SELECT 1, f.error, c.id IS NOT NULL FROM files f
			LEFT JOIN chunks c ON c.file = f.id AND c.start_line <= ?2 AND c.end_line >= ?2
			WHERE f.path = ?1 ORDER BY c.start_line LIMIT 1`, path, line).Scan(&l.Known, &l.Skipped, &l.Chunk)
		return unlessNoRows(err)
	})
	return l, err
}

// unlessNoRows returns an error, but nil for a query without a row.
func unlessNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// SourceFile returns an indexed file without its content. Its Source is empty if the index does not have the file, or lists it only
// with the reason why it is skipped.
func (s *Store) SourceFile(ctx context.Context, path string) (memory.SourceFile, error) {
	file := memory.SourceFile{Path: path}
	err := s.read(ctx, "look up "+path, func(tx *sql.Tx, _ meta) error {
		var hash []byte
		err := tx.QueryRowContext(ctx, "SELECT source, date, sha256 FROM files WHERE path = ? AND error = ''", path).Scan(&file.Source, &file.Date, &hash)
		if err == nil {
			file.SHA256, err = hashOf(hash)
		}
		return unlessNoRows(err)
	})
	return file, err
}

// selectChunksOf reads the chunks of a file.
const selectChunksOf = `SELECT start_line, end_line, headings, date, language, embedded, text FROM chunks
	WHERE file = ? ORDER BY start_line, end_line, id`

// Chunks returns the chunks of the file with a path. It returns memory.ErrNotFound if the index has no such file.
func (s *Store) Chunks(ctx context.Context, path string) (found memory.Chunks, err error) {
	err = s.read(ctx, "read the chunks of "+path, func(tx *sql.Tx, _ meta) error {
		found = memory.Chunks{Path: path}
		var file int64
		err := tx.QueryRowContext(ctx, "SELECT id, error FROM files WHERE path = ?", path).Scan(&file, &found.Skipped)
		if errors.Is(err, sql.ErrNoRows) {
			return memory.ErrNotFound
		}
		if err != nil {
			return err
		}
		return forEachRow(ctx, tx, func(rows *sql.Rows) error {
			var c memory.Chunk
			var body string
			err := rows.Scan(&c.StartLine, &c.EndLine, &c.Heading, &c.Date, &c.Language, &c.Embedded, &body)
			c.Tokens = text.EstimateTokens(body)
			found.Chunks = append(found.Chunks, c)
			return err
		}, selectChunksOf, file)
	})
	return found, err
}

// selectListed selects the files that a filter allows, in the order of their paths. ?6 includes skipped files. Undated files
// are left out if the filter has dates.
const selectListed = `SELECT f.path, f.source, f.title, f.date, f.tags, f.aliases, f.chunks, f.size, f.mtime, f.error FROM files f
	WHERE (?1 = '' OR instr(?1, ',' || f.source || ',') > 0)
	AND substr(f.path, 1, length(?2)) = ?2
	AND (?3 = '' OR f.date >= ?3) AND (?4 = '' OR f.date <> '' AND f.date <= ?4)
	AND ` + MeetsConditions + `
	AND (?6 OR f.error = '')
	ORDER BY f.path`

// List returns the files that a query selects, which package kioku has checked. selects says whether the glob of the query
// selects a path.
func (s *Store) List(ctx context.Context, q memory.FileQuery, selects func(path string) bool) (list memory.FileList, err error) {
	err = s.read(ctx, "list files", func(tx *sql.Tx, _ meta) error {
		list = memory.FileList{}
		return forEachRow(ctx, tx, func(rows *sql.Rows) error {
			var f memory.File
			var mtime int64
			err := rows.Scan(&f.Path, &f.Source, &f.Title, &f.Date, jsonColumn{&f.Tags}, jsonColumn{&f.Aliases}, &f.Chunks, &f.Size, &mtime, &f.Skipped)
			if err != nil || !selects(f.Path) {
				return err
			}
			list.Total++
			switch {
			case f.Path <= q.After:
				return nil
			case len(list.Files) == q.Limit:
				list.Next = list.Files[q.Limit-1].Path
				return nil
			}
			if mtime > 0 {
				f.ModTime = time.Unix(0, mtime)
			}
			list.Files = append(list.Files, f)
			return nil
		}, selectListed, append(FilterArgs(q.Filter), q.Skipped)...)
	})
	return list, err
}

// selectSkipped selects the files that are not indexed, and those of which something could not be read.
const selectSkipped = `SELECT path, error, 0 FROM files WHERE error <> ''
	UNION ALL SELECT f.path, d.value, 1 FROM fields d JOIN files f ON f.id = d.file
		WHERE d.name = ?1
	ORDER BY 1`

// Skipped returns the files that are not indexed, and the transcripts of which lines are not, with the reasons, in the order of
// their paths.
func (s *Store) Skipped(ctx context.Context) (files []memory.SkippedFile, err error) {
	err = s.read(ctx, "read skipped files", func(tx *sql.Tx, _ meta) error {
		files = nil
		return forEachRow(ctx, tx, func(rows *sql.Rows) error {
			var f memory.SkippedFile
			err := rows.Scan(&f.Path, &f.Reason, &f.Indexed)
			files = append(files, f)
			return err
		}, selectSkipped, fieldRemark)
	})
	return files, err
}

// jsonColumn is a JSON text of a column, which is read into to.
type jsonColumn struct{ to any }

// Scan implements sql.Scanner.
func (c jsonColumn) Scan(column any) error {
	text, _ := column.(string)
	if err := json.Unmarshal([]byte(text), c.to); err != nil {
		return fmt.Errorf("%w: a list is none: %w", errDamaged, err)
	}
	return nil
}
