package indexer

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// maxBeside is up to how many files Beside counts.
const maxBeside = 10_000

// Beside is the number of Markdown files in a workspace that are not indexed because the options do not include them. Files
// that ignore files or Options.Exclude exclude do not count.
type Beside struct {
	// Files is the number of files that were counted.
	Files int `json:"files"`
	// More is true if there may be more: they are too many, or it took too long to count them.
	More bool `json:"more,omitempty"`
}

// String returns the number for people, such as "12" or "more than 10,000".
func (b Beside) String() string {
	digits := strconv.Itoa(b.Files)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	if b.More {
		return "more than " + digits
	}
	return digits
}

// besideCount is the last count of Indexer.Beside, and SyncState.LastSync at it.
type besideCount struct {
	Beside
	synced time.Time
}

// Beside counts the Markdown files beside those that are indexed, for at most the given time. It counts once after each full sync.
func (x *Indexer) Beside(ctx context.Context, patience time.Duration) (Beside, error) {
	x.layout.readRecorded()
	if slices.Equal(x.layout.included(), WholeFolder) {
		return Beside{}, ctx.Err()
	}
	synced := x.SyncState().LastSync
	if c := x.beside.Load(); c != nil && c.synced.Equal(synced) {
		return c.Beside, nil
	}
	count, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	beside := x.countFiles(count, x.layout.including(WholeFolder), x.layout.current(), maxBeside)
	if err := ctx.Err(); err != nil {
		return Beside{}, err
	}
	x.beside.Store(&besideCount{beside, synced})
	return beside, nil
}

// HidesFiles reports whether a folder that is indexed whole has Markdown that would not be indexed if it had MEMORY.md or
// memory/ and nothing was recorded in its settings file.
func (x *Indexer) HidesFiles(ctx context.Context) (bool, error) {
	if len(x.layout.include) > 0 || x.layout.isCurated() {
		return false, nil
	}
	hidden := x.countFiles(ctx, x.layout.including(WholeFolder), x.layout.targets, 0)
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("look for Markdown: %w", err)
	}
	return hidden.More, nil
}

// HasMoreThan reports whether the options include more than n files of the workspace by globs.
func (x *Indexer) HasMoreThan(ctx context.Context, n int) (bool, error) {
	counted := x.countFiles(ctx, x.layout.including(x.layout.included()), nil, n)
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("count the Markdown: %w", err)
	}
	return counted.Files == n && counted.More, nil
}

// countFiles counts the files that a target includes and none of the targets of without, up to a limit.
func (x *Indexer) countFiles(ctx context.Context, t target, without []target, limit int) Beside {
	var b Beside
	s := &scan{
		layout: x.layout, targets: []target{t}, limit: x.opt.MaxFileBytes,
		onFolder: func(string) {}, confirmGone: func(string) bool { return true },
		roots: map[string]*openedRoot{}, byPath: map[string]bool{},
	}
	s.enough = func(f *foundFile) bool {
		if _, _, owned := x.layout.ownerAmong(without, x.layout.abs(f.path)); owned || f.skip != "" {
			return false
		}
		b.More = b.Files == limit
		if !b.More {
			b.Files++
		}
		return b.More
	}
	s.scanAll(ctx)
	s.close()
	b.More = b.More || ctx.Err() != nil || s.exhausted != nil
	return b
}
