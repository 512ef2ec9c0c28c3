package store

import (
	"context"
	"fmt"
)

const (
	// freeShare is 1 / the share of unused pages of a file above which they are given back, and leastFree their least number
	// (1 MB): the next edits need a few.
	freeShare, leastFree = 4, 256
	// vacuumMost is the maximum number of pages in use (256 MB) that are rewritten, since they are in memory meanwhile. A larger
	// file keeps its unused pages for what is written next.
	vacuumMost = 1 << 16
)

// giveBack gives the pages of the file that are not used any more back to the file system, if they are many. SQLite writes the
// file anew in one transaction: searches go on, and changes wait for it. It keeps the rowids, because every table of vec0
// without an INTEGER PRIMARY KEY has an index.
func (x *index) giveBack(ctx context.Context) error {
	var free, pages int
	err := x.db.readers.QueryRowContext(ctx, "SELECT freelist_count, page_count FROM pragma_freelist_count, pragma_page_count").Scan(&free, &pages)
	if err != nil {
		return fmt.Errorf("count unused pages: %w", err)
	}
	if free <= max(leastFree, pages/freeShare) || pages-free > vacuumMost {
		return nil
	}
	for _, stmt := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := x.db.writer.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("give unused pages back: %w", err)
		}
	}
	return nil
}
