package store

import (
	"context"
	"fmt"
)

// mergePages is the number of pages (4 KB) that one step of a merge writes: it locks the writer for about 30 ms, and the write-ahead log
// stays small.
const mergePages = 256

// MergeSegments merges the segments of the words, one transaction a step, until few are left. It does nothing if there are few, or during
// another call. When ctx is done it returns the error of ctx, and the next call continues the merge. The answers of searches never change, so
// the generation stays the same.
//
// FTS5 writes the words of each commit as a new segment of the lowest level, and a look-up
// of a word searches every segment. A merge joins the segments of a level that has two (usermerge in schema.sql) to one of the next
// level, so that few are left, and the largest is written again only after as many words were written as it has.
func (s *Store) MergeSegments(ctx context.Context) error {
	return s.use(ctx, func(x *index) error {
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
	})
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
