package store

import (
	"context"
	"fmt"
)

// mergePages is the number of pages (4 KB) that one step of a merge writes: it locks the writer for about 30 ms, and the write-ahead log
// stays small.
const mergePages = 256

// mergeSegments implements Store.MergeSegments. FTS5 writes the words of each commit as a new segment of the lowest level, and a look-up
// of a word searches every segment. A merge joins the segments of a level that has two (usermerge in schema.sql) to one of the next
// level, so that few are left, and the largest is written again only after as many words were written as it has.
func (x *index) mergeSegments(ctx context.Context) error {
	if !x.mergeMu.TryLock() {
		return nil
	}
	defer x.mergeMu.Unlock()
	for merged := true; merged; {
		var err error
		if merged, err = x.mergeStep(ctx); err != nil {
			return fmt.Errorf("merge segments: %w", err)
		}
	}
	return nil
}

// mergeStep makes one step of a merge. It returns false if there was nothing to merge: then FTS5 changes no row but its own record.
func (x *index) mergeStep(ctx context.Context) (bool, error) {
	conn, err := x.db.writer.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	var before, after int
	if err := conn.QueryRowContext(ctx, "SELECT total_changes()").Scan(&before); err != nil {
		return false, err
	}
	if _, err := conn.ExecContext(ctx, "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('merge', ?)", mergePages); err != nil {
		return false, err
	}
	err = conn.QueryRowContext(ctx, "SELECT total_changes()").Scan(&after)
	return after-before >= 2, err
}
