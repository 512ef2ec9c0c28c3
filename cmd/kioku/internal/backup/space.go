package backup

import (
	"math"

	"kioku/cmd/kioku/internal/modelstore"
)

// spareBytes stay free on the disk that a backup is unpacked to.
const spareBytes = 64 << 20

// freeBytes returns how many bytes may be unpacked into a folder.
func freeBytes(dir string) int64 {
	free, known := modelstore.FreeBytes(dir)
	if !known {
		return math.MaxInt64
	}
	return int64(min(free, math.MaxInt64)) - spareBytes
}
