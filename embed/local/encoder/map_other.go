//go:build !unix

package encoder

import (
	"io"
	"os"
)

// mapFile reads size bytes of file into memory, on systems whose mapped files can be neither replaced nor deleted.
func mapFile(file *os.File, size int64) ([]byte, func([]byte) error, error) {
	content := make([]byte, size)
	_, err := io.ReadFull(io.NewSectionReader(file, 0, size), content)
	return content, func([]byte) error { return nil }, err
}
