package local

import "path/filepath"

// Shared reports whether two models share their weights.
func Shared(a, b *Model) bool { return a.weights != nil && a.weights == b.weights }

// Opened returns how many weights of a folder are in memory.
func Opened(dir string) int {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	n := 0
	for key := range opened.weights {
		if key.dir == filepath.Clean(dir) {
			n++
		}
	}
	return n
}
