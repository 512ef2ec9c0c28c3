// Package disk has what copying large files needs: the free space of a disk, and a reader that can be canceled and tells how far it is.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// spareBytes stay free on a disk.
const spareBytes = 64 << 20

// ErrFull reports that a disk has no room.
var ErrFull = errors.New("the disk is full")

// CheckSpace returns an error if a folder's disk has no room for so many more bytes. It returns none if that is not known.
func CheckSpace(dir string, bytes int64) error {
	free, known := FreeBytes(dir)
	if known && bytes > 0 && uint64(bytes)+spareBytes > free {
		return fmt.Errorf("%w: %d MB are needed in %s, and %d MB are free; make room, or name another folder with --state",
			ErrFull, (uint64(bytes)+spareBytes)>>20, dir, free>>20)
	}
	return nil
}

// Reader is a reader that ends with a context.
type Reader struct {
	// Context of the call that reads.
	Context context.Context
	// From is what is read.
	From io.Reader
	// Each is told after each read how many bytes there were so far; nil tells nobody.
	Each func(n int64)

	n int64
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if err := r.Context.Err(); err != nil {
		return 0, err
	}
	n, err := r.From.Read(p)
	if r.n += int64(n); r.Each != nil {
		r.Each(r.n)
	}
	return n, err
}
