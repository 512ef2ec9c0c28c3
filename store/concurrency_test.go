package store

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/search"
	"kioku/store/slab"
)

// Hazard A16: with three writers and a slow reader, nobody gets SQLITE_BUSY, and no commit is lost.
func TestStoreServesConcurrentWritersAndReaders(t *testing.T) {
	t.Parallel()
	s := openWithBudget(t, t.TempDir(), slab.NewBudget(0), false) // without a cache, views need two transactions
	replace(t, s, testFile("memory/first.md", newRand(), "harbor"))
	var writers, readers errgroup.Group
	rounds := testkit.Rounds(30, 10)
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
			for i := range rounds {
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
				err := s.View(t.Context(), true, func(r search.Reader) error {
					v := r.(*view)
					m, err := readMeta(t.Context(), v.vectorsTx)
					return errors.Join(err, errorIf(m.generation != v.meta.generation, "a view has two snapshots"))
				})
				if err != nil {
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
	if m := checkConsistent(t, s); m.files != 1+3*rounds || m.generation != int64(1+2*(1+3*rounds)) {
		t.Errorf("a commit is lost: %+v", m)
	}
}
