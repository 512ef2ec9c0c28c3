package store

import (
	"errors"
	"fmt"
	"kioku/memory"
	"kioku/search"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
)

// Hazard A16: three writers and a reader that takes its time; nobody sees SQLITE_BUSY, and no commit is lost.
func TestWritersAndReadersDoNotDisturbEachOther(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/first.md", newRand(), "harbor"))
	var writers, readers errgroup.Group
	var done atomic.Bool
	begun := make(chan struct{})
	readers.Go(func() error { // one long transaction, begun before all writers
		return s.View(t.Context(), true, func(r search.Reader) error {
			close(begun)
			for !done.Load() {
				ids, err := r.Match(t.Context(), search.Terms{Any: []string{"harbor"}}, memory.Filter{}, 500)
				if err != nil {
					return err
				}
				if len(ids) != 1 {
					return fmt.Errorf("the snapshot moved: %d hits", len(ids))
				}
			}
			return nil
		})
	})
	<-begun
	for w := range 3 {
		writers.Go(func() error {
			r := newRand()
			for i := range 30 {
				f := testFile(fmt.Sprintf("memory/%d-%d.md", w, i), r, "harbor", "lantern")
				if err := write(t.Context(), s, testSpace, f); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for range 4 {
		readers.Go(func() error {
			for !done.Load() {
				if err := s.View(t.Context(), true, func(search.Reader) error { return nil }); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := writers.Wait()
	done.Store(true)
	if err := errors.Join(err, readers.Wait()); err != nil {
		t.Fatal(err)
	}
	if m := checkSound(t, s); m.files != 91 || m.generation != 1+2*91 {
		t.Errorf("a commit is lost: %+v", m)
	}
}
