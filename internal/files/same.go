package files

import (
	"os"
	"path/filepath"
)

// SameFolder reports whether two paths name the same folder.
func SameFolder(one, other string) bool {
	a, errA := os.Stat(one)
	b, errB := os.Stat(other)
	if errA != nil || errB != nil {
		return filepath.Clean(one) == filepath.Clean(other)
	}
	return os.SameFile(a, b)
}
