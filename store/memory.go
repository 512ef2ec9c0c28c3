package store

import (
	"runtime/debug"

	"kioku/store/checksumvfs"
)

// FreeMemory gives memory that is not used any more back to the system: Go's, and SQLite's.
func FreeMemory() {
	debug.FreeOSMemory()
	checksumvfs.Trim()
}
