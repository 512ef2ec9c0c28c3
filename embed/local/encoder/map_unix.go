//go:build unix

package encoder

import (
	"os"
	"syscall"
)

// mapFile maps size bytes of file into memory, read only. Several processes that map the same file share its pages.
func mapFile(file *os.File, size int64) ([]byte, func([]byte) error, error) {
	mapped, err := syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	return mapped, syscall.Munmap, err
}
