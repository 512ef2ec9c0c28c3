package modelstore

import (
	"errors"
	"fmt"
)

// spareBytes stay free on the disk of the models.
const spareBytes = 64 << 20

var (
	// errTooLarge reports a file or archive beyond the limits.
	errTooLarge = errors.New("it is larger than any model that can be used")
	// errUnsafe reports a redirect or an archive that honest sources do not have.
	errUnsafe = errors.New("this is not safe")
)

// checkSpace returns an error if a folder's disk has no room for so many more bytes. It returns none if that is not known.
func checkSpace(dir string, bytes int64) error {
	free, known := FreeBytes(dir)
	if known && bytes > 0 && uint64(bytes)+spareBytes > free {
		return fmt.Errorf("%w: %d MB are needed in %s, and %d MB are free; make room, or name another folder with --state",
			ErrNoSpace, (uint64(bytes)+spareBytes)>>20, dir, free>>20)
	}
	return nil
}

// ErrNoSpace reports that the disk has no room.
var ErrNoSpace = errors.New("the disk is full")
