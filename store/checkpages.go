package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"kioku/store/checksumvfs"
)

const (
	// pagesPerStep is the number of pages that one step of a check reads.
	pagesPerStep = 256
	// rereads is how often a page without its checksum is read again, rereadWait apart, before it counts as damaged: a
	// checkpoint may be writing it.
	rereads    = 3
	rereadWait = 20 * time.Millisecond
)

// checkPages compares all pages of the file with their checksums, also those that SQLite would not read. Pages that are in the
// log only are not in the file yet.
func (c *checker) checkPages(ctx context.Context) error {
	f, err := os.Open(c.db.path)
	if err != nil {
		return fmt.Errorf("%w: its file cannot be opened: %w", errDamaged, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(info, c.db.info) {
		return fmt.Errorf("%w: its file was replaced by another", errDamaged)
	}
	buf := make([]byte, pagesPerStep*checksumvfs.PageSize)
	for first := uint32(1); ; first += pagesPerStep {
		var n int
		err := c.step(ctx, func() (err error) {
			n, err = c.comparePages(ctx, f, first, buf)
			return err
		})
		c.Pages += n
		if err != nil || n < pagesPerStep {
			return err
		}
	}
}

// comparePages compares the pages from one on, as many as fit into buf, and returns how many there were.
func (c *checker) comparePages(ctx context.Context, f *os.File, first uint32, buf []byte) (int, error) {
	n, err := f.ReadAt(buf, int64(first-1)*checksumvfs.PageSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	pages := n / checksumvfs.PageSize
	for i := range pages {
		page := buf[i*checksumvfs.PageSize : (i+1)*checksumvfs.PageSize]
		if err := c.comparePage(ctx, f, first+uint32(i), page); err != nil {
			return i, err
		}
	}
	return pages, nil
}

// comparePage compares a page with its checksum, and page 1 also with the size of the file.
func (c *checker) comparePage(ctx context.Context, f *os.File, number uint32, page []byte) error {
	for try := 0; ; try++ {
		good, err := c.goodPage(f, number, page)
		if err != nil || good {
			return err
		}
		if try == rereads {
			return fmt.Errorf("%w: page %d of the file does not have its checksum, or the file is cut off", errDamaged, number)
		}
		select {
		case <-time.After(rereadWait):
		case <-ctx.Done():
			return ctx.Err()
		}
		if _, err := f.ReadAt(page, int64(number-1)*checksumvfs.PageSize); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
}

// goodPage reports whether a page has its checksum. A page of zeros that is not the first was never written: SQLite leaves
// such holes, and notices one where it expects a page.
func (c *checker) goodPage(f *os.File, number uint32, page []byte) (bool, error) {
	id, ok := checksumvfs.PageID(page, number)
	if number > 1 {
		return ok && id == c.db.pages.ID() || allZero(page), nil
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	written := int64(binary.BigEndian.Uint32(page[28:]))
	return ok && id == c.db.pages.ID() && info.Size() >= written*checksumvfs.PageSize, nil
}

// allZero reports whether a page contains only zeros.
func allZero(page []byte) bool {
	for _, b := range page {
		if b != 0 {
			return false
		}
	}
	return true
}
