package indexer

import (
	"slices"
	"sync"
)

// maxAsked is the maximum number of files that come first in a backfill.
const maxAsked = 64

// askedFiles are the files that answers came from lately, the last at the end. It is safe for concurrent use.
type askedFiles struct {
	mu    sync.Mutex
	paths []string // guarded by mu
	fresh bool     // guarded by mu: files came in since the last call of list
}

// add adds files, in place of those that were asked for longest ago.
func (a *askedFiles) add(paths []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, path := range paths {
		i := slices.Index(a.paths, path)
		if i >= 0 {
			a.paths = slices.Delete(a.paths, i, i+1)
		}
		a.fresh = a.fresh || i < 0
		a.paths = append(a.paths, path)
	}
	a.paths = slices.Delete(a.paths, 0, max(len(a.paths)-maxAsked, 0))
}

// list returns the files.
func (a *askedFiles) list() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fresh = false
	return slices.Clone(a.paths)
}

// changed reports whether there are files that list has not returned yet.
func (a *askedFiles) changed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fresh
}

// Asked notes the files that an answer came from. Their texts are embedded before all others. Only the last 64 files count.
func (b *Backfill) Asked(paths ...string) { b.asked.add(paths) }
