package store

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kioku/store/checksumvfs"
)

// badSector is a file of which the disk cannot read a page.
type badSector struct {
	io.ReaderAt
	page int
}

// ReadAt implements io.ReaderAt.
func (b badSector) ReadAt(p []byte, offset int64) (int, error) {
	bad := int64(b.page-1) * checksumvfs.PageSize
	if offset <= bad && bad < offset+int64(len(p)) {
		return 0, fmt.Errorf("read: %w", syscall.EIO)
	}
	return b.ReaderAt.ReadAt(p, offset)
}

// Hazard A04: a page that the disk cannot read is damage, and the pages before it are compared.
func TestCheckFindsAPageThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, harbor(200))
	flushLog(t, s)
	x := s.current()
	for _, page := range []int{1, 7, 20} {
		c := checker{index: x, file: badSector{x.db.raw, page}}
		if err := c.checkPages(t.Context()); !isDamage(err) || c.Pages != page-1 {
			t.Errorf("page %d: %d pages are compared, %v", page, c.Pages, err)
		}
	}
}

// Hazard A04: a check during which the index is replaced says so, and checks the new index.
func TestCheckTellsOfARepairMeanwhile(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := harbor(20)
	replace(t, s, f)
	damaged := s.current()
	checked, err := s.Check(t.Context(), func(time.Duration) error {
		if s.current() != damaged {
			return nil
		}
		if err := s.noticeDamage(t.Context(), damaged, fmt.Errorf("%w: by a test", errDamaged)); err != nil {
			return err
		}
		restore(t, s, f)
		return nil
	})
	if err != nil || len(checked.Found) != 1 || checked.Texts != 20 || checked.Vectors == 0 {
		t.Errorf("%+v, %v", checked, err)
	}
}

// Hazard A20: a check compares the vectors behind a gap of any length.
func TestCheckComparesVectorsBehindAGap(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, harbor(3*checkRows))
	for _, stmt := range []string{
		fmt.Sprintf("DELETE FROM chunks_vec WHERE rowid <= %d", checkRows+5),
		fmt.Sprintf("UPDATE chunks SET checksum = checksum + 1 WHERE id = %d", 2*checkRows+10),
	} {
		if _, err := s.current().db.writer.Exec(stmt); err != nil {
			t.Fatal(err)
		}
	}
	checked, err := s.Check(t.Context(), nil)
	if err != nil || checked.Vectors < 2*checkRows-5 {
		t.Errorf("%+v, %v", checked, err)
	}
	if !slices.ContainsFunc(checked.Found, func(s string) bool { return strings.Contains(s, "a vector does not have its checksum") }) {
		t.Errorf("found %q", checked.Found)
	}
}
