package store

import (
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
		if err := c.checkPages(t.Context()); !IsDamage(err) || c.Pages != page-1 {
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

// Hazards A19, A20: rows that do not agree with each other are found by a check. Wrong texts, words and vectors are mended by
// the row, and other drift by a new index.
func TestCheckMendsDrift(t *testing.T) {
	t.Parallel()
	f := testFile("memory/a.md", newRand(), "harbor", "lantern", "ferry")
	for stmt, byRow := range map[string]bool{
		"UPDATE chunks SET text = 'other' WHERE id = 1":                                                                  true,
		"UPDATE chunks SET sha256 = x'00' WHERE id = 2":                                                                  true,
		"DELETE FROM chunks_fts WHERE rowid = 1; INSERT INTO chunks_fts (rowid, terms) VALUES (1, 'x')":                  true,
		"UPDATE words SET terms = x'0503' WHERE chunk = 1":                                                               true,
		"UPDATE chunks_vec SET embedding = (SELECT embedding FROM chunks_vec WHERE rowid = 2) WHERE rowid = 1":           true,
		"DELETE FROM chunks_vec WHERE rowid = 3; UPDATE meta SET embedded = 2, holes = 1; UPDATE files SET embedded = 2": false,
		"DELETE FROM chunks_fts WHERE rowid = 2":                                                                         false,
		"UPDATE files SET embedded = 1":                                                                                  false,
		"UPDATE chunks_fts_data SET block = zeroblob(40) WHERE id > 10":                                                  false,
		"DELETE FROM chunks_vec WHERE rowid = 3":                                                                         false,
		"UPDATE meta SET chunks = 7":                                                                                     false,
	} {
		t.Run(stmt, func(t *testing.T) {
			s := openTestStore(t, t.TempDir())
			replace(t, s, f)
			if err := recordSync(t, s); err != nil {
				t.Fatal(err)
			}
			if c, err := s.Check(t.Context(), nil); err != nil || len(c.Found) > 0 || c.Texts != 3 || c.Words == 0 || c.Vectors != 9 || c.Pages == 0 && c.Tables == 0 {
				t.Fatalf("before: %+v, %v", c, err)
			}
			want, id := dump(t, s), s.IndexID()
			if _, err := s.current().db.writer.Exec(stmt); err != nil {
				t.Fatal(err)
			}
			c, err := s.Check(t.Context(), nil)
			if err != nil || len(c.Found) == 0 {
				t.Fatalf("%+v, %v", c, err)
			}
			if replaced := s.IndexID() != id; replaced == byRow {
				t.Errorf("the index was replaced: %v", replaced)
			}
			restore(t, s, f)
			if err := putVectors(t.Context(), s, testSpace, f.vectors); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, dump(t, s)); diff != "" {
				t.Error(diff)
			}
			if c, err := s.Check(t.Context(), nil); err != nil || len(c.Found) > 0 {
				t.Errorf("after: %+v, %v", c, err)
			}
		})
	}
}
