package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kioku/memory"
)

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
func (s *Store) List(ctx context.Context, q memory.FileQuery, selects func(path string) bool) (memory.FileList, error) {
	return use(ctx, s, func(x *index) (memory.FileList, error) { return x.list(ctx, q, selects) })
}

// list implements Store.List.
func (x *index) list(ctx context.Context, q memory.FileQuery, selects func(path string) bool) (memory.FileList, error) {
	var list memory.FileList
	err := forEachRow(ctx, x.db.readers, func(rows *sql.Rows) error {
		var f memory.File
		var tags, aliases sql.RawBytes
		var mtime int64
		err := rows.Scan(&f.Path, &f.Source, &f.Title, &f.Date, &tags, &aliases, &f.Chunks, &f.Size, &mtime, &f.Skipped)
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
		if err := errors.Join(json.Unmarshal(tags, &f.Tags), json.Unmarshal(aliases, &f.Aliases)); err != nil {
			return fmt.Errorf("%w: the tags or aliases of %s are no list: %w", errDamaged, f.Path, err)
		}
		list.Files = append(list.Files, f)
		return nil
	}, selectListed, append(FilterArgs(q.Filter), q.Skipped)...)
	if err != nil {
		return memory.FileList{}, fmt.Errorf("list files: %w", err)
	}
	return list, nil
}
