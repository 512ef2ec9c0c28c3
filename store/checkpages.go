package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
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
	// reservedPage is the page at 1 GiB, at which SQLite takes its locks and which it never writes.
	reservedPage = 1<<30/checksumvfs.PageSize + 1
)

// checkPages compares all pages of the file with their checksums, also those that SQLite would not read. Pages that are in the
// log only are not in the file yet.
func (c *checker) checkPages(ctx context.Context) error {
	info, err := os.Stat(c.db.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: its file was removed", errDamaged)
	case err != nil:
		return err
	case !os.SameFile(info, c.db.info):
		return fmt.Errorf("%w: its file was replaced by another", errDamaged)
	}
	buf := make([]byte, pagesPerStep*checksumvfs.PageSize)
	for first := uint32(1); ; first += pagesPerStep {
		var n int
		err := c.step(ctx, func() (err error) {
			n, err = c.comparePages(ctx, first, buf)
			return err
		})
		c.Pages += n
		if err != nil || n < pagesPerStep {
			return err
		}
	}
}

// comparePages compares the pages from one on, as many as fit into buf, and returns how many there were.
func (c *checker) comparePages(ctx context.Context, first uint32, buf []byte) (int, error) {
	n, err := c.file.ReadAt(buf, int64(first-1)*checksumvfs.PageSize)
	if isUnreadable(err) {
		return c.compareEachPage(ctx, first, len(buf)/checksumvfs.PageSize)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	pages := n / checksumvfs.PageSize
	for i := range pages {
		page := buf[i*checksumvfs.PageSize : (i+1)*checksumvfs.PageSize]
		if err := c.comparePage(ctx, first+uint32(i), page); err != nil {
			return i, err
		}
	}
	return pages, nil
}

// compareEachPage compares n pages from one on, of which the disk cannot read some. It ends with an error of damage at the first
// that cannot be read again.
func (c *checker) compareEachPage(ctx context.Context, first uint32, n int) (int, error) {
	page := make([]byte, checksumvfs.PageSize)
	for i := range n {
		number := first + uint32(i)
		size, err := c.file.ReadAt(page, int64(number-1)*checksumvfs.PageSize)
		switch {
		case isUnreadable(err):
			return i, unreadableError(number, err)
		case err != nil && !errors.Is(err, io.EOF):
			return i, err
		case size < checksumvfs.PageSize:
			return i, nil
		}
		if err := c.comparePage(ctx, number, page); err != nil {
			return i, err
		}
	}
	return n, nil
}

// isUnreadable reports whether a disk cannot read what it has. SQLite calls these errors damage too (SQLITE_IOERR_CORRUPTFS).
func isUnreadable(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENXIO)
}

// unreadableError is the error of damage for a page that the disk cannot read.
func unreadableError(number uint32, err error) error {
	return fmt.Errorf("%w: page %d of the file cannot be read: %w", errDamaged, number, err)
}

// comparePage compares a page with its checksum, and page 1 also with the size of the file.
func (c *checker) comparePage(ctx context.Context, number uint32, page []byte) error {
	for try := 0; ; try++ {
		state, err := c.pageState(number, page)
		if err != nil || state == pageGood {
			return err
		}
		if state == pageMissing && try > 0 {
			// The log may have what the file lacks: a checkpoint may have been cut short.
			done, err := c.checkpoint(ctx)
			if err != nil || !done {
				return err
			}
		}
		if try == rereads {
			return fmt.Errorf("%w: page %d of the file does not have its checksum, or the file is cut off", errDamaged, number)
		}
		select {
		case <-time.After(rereadWait):
		case <-ctx.Done():
			return ctx.Err()
		}
		_, err = c.file.ReadAt(page, int64(number-1)*checksumvfs.PageSize)
		if isUnreadable(err) {
			return unreadableError(number, err)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
}

// checkpoint copies the log into the file. done is false if a transaction that reads keeps a part of it in the log, or if this process only
// reads: the page counts as missing then, unless the log has it.
func (c *checker) checkpoint(ctx context.Context) (done bool, err error) {
	if c.db.writer == nil {
		return true, nil
	}
	var busy, log, copied int
	if err := c.db.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &log, &copied); err != nil {
		return false, fmt.Errorf("checkpoint: %w", err)
	}
	return busy == 0 && log == copied, nil
}

// pageState is what a check finds of a page.
type pageState int

const (
	pageGood    pageState = iota
	pageBad               // without its checksum, or that of another index
	pageMissing           // zeros, or behind the end of the file
)

// pageState compares a page once. SQLite writes every page, with zeros where a row was deleted (secure_delete), and reserves one.
func (c *checker) pageState(number uint32, page []byte) (pageState, error) {
	id, ok := checksumvfs.PageID(page, number)
	switch {
	case number == reservedPage:
		return pageGood, nil
	case allZero(page):
		return pageMissing, nil
	case !ok || id != c.db.pages.ID():
		return pageBad, nil
	case number > 1:
		return pageGood, nil
	}
	info, err := c.db.raw.Stat()
	if err != nil {
		return pageBad, err
	}
	if written := int64(binary.BigEndian.Uint32(page[28:])); info.Size() < written*checksumvfs.PageSize {
		return pageMissing, nil
	}
	return pageGood, nil
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
