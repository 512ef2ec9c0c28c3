package store

import (
	"context"
	"runtime/debug"

	"kioku/store/checksumvfs"
)

// FreeMemory gives memory that is not used any more back to the system: Go's, and SQLite's.
func FreeMemory() {
	debug.FreeOSMemory()
	checksumvfs.Trim()
}

// Shrink empties the page cache of the connection that writes, which a whole sync fills with more than edits need.
func (s *Store) Shrink(ctx context.Context) error {
	return s.use(ctx, func(x *index) error {
		_, err := x.db.writer.ExecContext(ctx, "PRAGMA shrink_memory")
		return err
	})
}
