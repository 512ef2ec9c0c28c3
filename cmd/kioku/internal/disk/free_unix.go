//go:build linux || darwin

package disk

import "syscall"

// FreeBytes returns how much a user may still write on the disk of a folder, and whether that is known.
func FreeBytes(dir string) (free uint64, known bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return uint64(st.Bavail) * uint64(st.Bsize), true
}
