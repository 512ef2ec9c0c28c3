//go:build !linux && !darwin

package disk

// FreeBytes returns false: the free space is not known here.
func FreeBytes(string) (free uint64, known bool) { return 0, false }
