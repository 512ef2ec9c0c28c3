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

// IsLoaded reports whether the weights of a model were read.
func IsLoaded(m *Model) bool { return m.weights.table != nil || m.weights.encoder != nil }
