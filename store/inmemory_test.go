package store

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"kioku/embed"
	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/search"
	"kioku/store/slab"
)

// openWithBudget opens a store whose cached vectors count against a budget.
func openWithBudget(t testing.TB, dir string, budget *slab.Budget, readOnly bool) *Store {
	t.Helper()
	opt := testOptions()
	opt.Vectors, opt.ReadOnly, opt.Cache = budget, readOnly, openTestCache(t, dir)
	s, err := Open(t.Context(), Path(dir, "main"), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.current().db.close() })
	return s
}

// viewCached calls f with a view and reports whether the vectors of the view are cached. It waits for what the view has loaded.
func viewCached(t testing.TB, s *Store, f func(v *view) error) (cached bool) {
	t.Helper()
	defer s.current().slabs.Wait()
	err := s.View(t.Context(), true, func(rd search.Reader) error {
		v := rd.(*view)
		cached = v.vectors != nil
		if f == nil {
			return nil
		}
		return f(v)
	})
	if err != nil {
		t.Fatal(err)
	}
	return cached
}

// sameAnswer compares the cached vectors with chunks_vec in one view: the cosines, the ids except those of ties, and the vectors
// of the chunks.
func sameAnswer(t testing.TB, v *view, q []float32, f memory.Filter, k int) error {
	disk := *v
	disk.vectors, disk.vectorsTx = nil, v.wordsTx
	got, spread, err := v.Nearest(t.Context(), q, f, k)
	if err != nil {
		return err
	}
	want, diskSpread, err := disk.Nearest(t.Context(), q, f, k)
	if err != nil {
		return err
	}
	if math.Abs(spread.Mean-diskSpread.Mean) > 1e-6 || math.Abs(spread.Deviation-diskSpread.Deviation) > 1e-6 {
		return fmt.Errorf("the spread is %v in memory, %v on disk", spread, diskSpread)
	}
	if len(got) != len(want) {
		return fmt.Errorf("generation %d: %d neighbours in memory, %d on disk", v.meta.generation, len(got), len(want))
	}
	const tie = 3e-6 // of float32
	for i := range got {
		if math.Abs(got[i].Cosine-want[i].Cosine) > tie {
			return fmt.Errorf("neighbour %d: %+v in memory, %+v on disk", i, got[i], want[i])
		}
		last := want[len(want)-1].Cosine
		if got[i].Cosine > last+tie && !slices.ContainsFunc(want, func(n search.Neighbor) bool { return n.ID == got[i].ID }) {
			return fmt.Errorf("neighbour %d: %+v is not found on disk", i, got[i])
		}
	}
	return sameVectors(t, v, &disk, got)
}

// sameVectors compares the vectors of chunks in two views.
func sameVectors(t testing.TB, a, b *view, near []search.Neighbor) error {
	ids := []int64{-1}
	for _, n := range near {
		ids = append(ids, n.ID)
	}
	got, err := a.Chunks(t.Context(), ids, true)
	if err != nil {
		return err
	}
	want, err := b.Chunks(t.Context(), ids, true)
	if err != nil {
		return err
	}
	return errorIf(!slices.EqualFunc(got, want, func(a, b search.Chunk) bool {
		return a.ID == b.ID && slices.Equal(a.Vector, b.Vector)
	}), "the chunks have other vectors in memory")
}

// errorIf returns an error if something is wrong.
func errorIf(wrong bool, text string) error {
	if wrong {
		return fmt.Errorf("%s", text)
	}
	return nil
}

// drawFile returns a file of chunks with vectors from a pool, some without one.
func drawFile(r *rand.Rand, n int, pool [][]float32) note {
	sources := []string{memory.SourceMemory, memory.SourceExtra}
	f := testFile(fmt.Sprintf("memory/2026-01-%02d.md", n+1), nil, numbered(fmt.Sprint("n", r.Uint32()), r.IntN(12))...)
	f.Source = sources[n%2]
	for i := range f.Chunks {
		if r.IntN(8) > 0 {
			f.vectors[f.Chunks[i].Hash] = testVector{f.Chunks[i].Text, pool[r.IntN(len(pool))], pool[0]}
		}
	}
	return f
}

// drawFilter returns one of several filters, or the empty one.
func drawFilter(r *rand.Rand) memory.Filter {
	return []memory.Filter{{}, {Sources: []string{memory.SourceMemory}}, {PathPrefix: "memory/2026-01-0"},
		{Since: "2026-01-03"}, {Since: "2026-01-02", Until: "2026-01-05"}, {Until: "2025-01-01"}}[r.IntN(6)]
}

// compact compacts the vectors of an index if it has any.
func compact(ctx context.Context, s *Store) error {
	m, err := readMeta(ctx, s.current().db.readers)
	if err != nil || m.space.IsZero() {
		return err
	}
	return s.current().compactVectors(ctx, m.space)
}

// vectorPool returns n unit vectors. A quarter of them is close to another.
func vectorPool(r *rand.Rand, n, dims int) [][]float32 {
	var p [][]float32
	for i := range n {
		v := unit(r, dims)
		if i%4 == 3 {
			v = slices.Clone(p[r.IntN(i)])
			v[r.IntN(dims)] += 1e-3
		}
		p = append(p, v)
	}
	return p
}

// The cache and the disk give the same answer after any writes, for any k, filter and dimension.
func TestVectorCacheAnswersLikeTheDisk(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		space := testSpace
		space.Dims = rapid.SampledFrom([]int{1, 2, 5, 64, 1024}).Draw(rt, "dims")
		s := openWithBudget(t, t.TempDir(), slab.NewBudget(slab.DefaultBudget), false)
		defer s.current().db.close()
		p := vectorPool(r, 40, space.Dims)
		for step := range rapid.IntRange(4, 10).Draw(rt, "steps") {
			var err error
			switch f := drawFile(r, r.IntN(8), p); {
			case step > 3 && r.IntN(6) == 0:
				err = writeAll(t.Context(), s, space, f, drawFile(r, 9, p))
			case r.IntN(5) == 0:
				err = write(t.Context(), s, space, gone(f.Path))
			case step > 2 && r.IntN(5) == 0:
				err = compact(t.Context(), s)
			default:
				err = write(t.Context(), s, space, f, drawFile(r, r.IntN(8), p))
			}
			if err != nil {
				rt.Fatal(err)
			}
			same := func(v *view) error {
				if v.vectors == nil {
					return nil
				}
				return sameAnswer(t, v, p[r.IntN(len(p))], drawFilter(r), 1+r.IntN(60))
			}
			for cached := viewCached(t, s, same); !cached && step%3 == 2; cached = viewCached(t, s, same) {
				if m, err := readMeta(t.Context(), s.current().db.readers); err != nil || m.embedded == 0 {
					break
				}
			}
		}
	})
}

// Readers compare the cache with the disk in one snapshot while files are written, the index is rebuilt and vec0 is compacted.
func TestVectorCacheIsNeverStale(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	p := vectorPool(r, 60, testSpace.Dims)
	for n := range 8 {
		replace(t, s, drawFile(r, n, p))
	}
	var done atomic.Bool
	var cached, disk atomic.Int64
	var readers, writers errgroup.Group
	for i := range 3 {
		readers.Go(func() error {
			r := rand.New(rand.NewPCG(uint64(i), 5))
			for !done.Load() || cached.Load() == 0 {
				err := s.View(t.Context(), true, func(rd search.Reader) error {
					v := rd.(*view)
					if v.vectors == nil {
						disk.Add(1)
						return nil
					}
					cached.Add(1)
					return sameAnswer(t, v, p[r.IntN(len(p))], drawFilter(r), 1+r.IntN(30))
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	for i := range 2 {
		writers.Go(func() error {
			r := rand.New(rand.NewPCG(uint64(i), 6))
			for step := range testkit.Rounds(60, 30) {
				if err := writeStep(t.Context(), s, r, p, step); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := writers.Wait()
	done.Store(true)
	if err == nil {
		err = readers.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d views in memory, %d on disk", cached.Load(), disk.Load())
}

// writeStep writes a file, or now and then rebuilds the index or compacts its vectors.
func writeStep(ctx context.Context, s *Store, r *rand.Rand, pool [][]float32, step int) error {
	f := drawFile(r, r.IntN(8), pool)
	switch {
	case step%20 == 19:
		return writeAll(ctx, s, testSpace, f, drawFile(r, 9, pool))
	case step%15 == 14:
		return compact(ctx, s)
	}
	return write(ctx, s, testSpace, f)
}

func TestVectorCacheIsLoadedFromTheSecondViewOn(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", newRand(), numbered("n", 20)...))
	if viewCached(t, s, nil) || s.current().slabs.Resident() > 0 {
		t.Error("the first view has the vectors loaded")
	}
	viewCached(t, s, nil)
	if !viewCached(t, s, nil) {
		t.Error("the second view did not have the vectors loaded")
	}
	replace(t, s, testFile("memory/b.md", newRand(), numbered("m", 20)...))
	if !viewCached(t, s, nil) {
		t.Error("a commit made the vectors unusable")
	}
	replace(t, s, gone("memory/b.md"))
	if !viewCached(t, s, nil) {
		t.Error("a deletion made the vectors unusable")
	}
	if err := writeAll(t.Context(), s, testSpace, testFile("memory/c.md", newRand(), "n")); err != nil {
		t.Fatal(err)
	}
	if !viewCached(t, s, nil) {
		t.Error("a rebuild made the vectors unusable")
	}
}

// A view that began before a commit uses the vectors of its snapshot.
func TestVectorCacheKeepsTheVectorsOfAView(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	replace(t, s, testFile("memory/a.md", r, numbered("n", 50)...))
	loadSlab(t, s)
	q := unit(r, testSpace.Dims)
	if !viewCached(t, s, func(v *view) error {
		replace(t, s, gone("memory/a.md"))
		return sameAnswer(t, v, q, memory.Filter{}, 10)
	}) {
		t.Error("the vectors are not in memory")
	}
	if near := nearest(t, s, memory.Filter{}, q, 10); len(near) != 0 {
		t.Errorf("removed vectors are found: %v", near)
	}
}

// While another process writes, the disk answers. The vectors are loaded again after its last commit.
func TestVectorCacheReloadsAfterAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner := openWithBudget(t, dir, slab.NewBudget(slab.DefaultBudget), false)
	r := newRand()
	replace(t, owner, testFile("memory/a.md", r, numbered("n", 30)...))
	reader := openWithBudget(t, dir, slab.NewBudget(slab.DefaultBudget), true)
	check := func(want bool) {
		t.Helper()
		q := unit(r, testSpace.Dims)
		if got := viewCached(t, reader, func(v *view) error { return sameAnswer(t, v, q, memory.Filter{}, 7) }); got != want {
			t.Errorf("in memory: %v", got)
		}
	}
	check(false)
	viewCached(t, reader, nil)
	check(true)
	for n := range 3 {
		replace(t, owner, testFile(fmt.Sprintf("memory/%d.md", n), r, numbered(fmt.Sprint("m", n), 30)...))
		check(false)
	}
	viewCached(t, reader, nil)
	check(true)
	check(true)
}

func TestVectorCacheOfAnIdleStoreIsEvicted(t *testing.T) {
	t.Parallel()
	one := residentBytes(t, testFile("memory/a.md", newRand(), numbered("n", 100)...))
	memory := slab.NewBudget(one + one/20)
	var stores []*Store
	for range 2 {
		s := openWithBudget(t, t.TempDir(), memory, false)
		replace(t, s, testFile("memory/a.md", newRand(), numbered("n", 100)...))
		stores = append(stores, s)
	}
	a, b := stores[0], stores[1]
	viewCached(t, a, nil)
	viewCached(t, a, nil)
	if !viewCached(t, a, nil) {
		t.Fatal("the first does not fit")
	}
	for range 3 { // in turn: the first keeps its vectors
		if viewCached(t, b, nil) || !viewCached(t, a, nil) {
			t.Error("two stores in use evict each other")
		}
	}
	viewCached(t, b, nil)
	viewCached(t, b, nil)
	if !viewCached(t, b, nil) || a.current().slabs.Resident() != 0 {
		t.Error("an idle store keeps its vectors")
	}
	if memory.Held() > memory.Limit() {
		t.Errorf("%d bytes of %d are cached", memory.Held(), memory.Limit())
	}
}

// residentBytes returns the size of a file in memory.
func residentBytes(t *testing.T, f note) int64 {
	t.Helper()
	s := openTestStore(t, t.TempDir())
	replace(t, s, f)
	loadSlab(t, s)
	return s.current().slabs.Resident()
}

func TestVectorCacheReleasesVectorsBeyondTheBudget(t *testing.T) {
	t.Parallel()
	budget := slab.NewBudget(residentBytes(t, testFile("memory/a.md", newRand(), numbered("n", 50)...)))
	s := openWithBudget(t, t.TempDir(), budget, false)
	r := newRand()
	replace(t, s, testFile("memory/a.md", r, numbered("n", 40)...))
	loadSlab(t, s)
	if !viewCached(t, s, nil) {
		t.Fatal("40 of 50 rows do not fit")
	}
	replace(t, s, testFile("memory/b.md", r, numbered("m", 20)...))
	if budget.Held() != 0 || viewCached(t, s, nil) {
		t.Errorf("60 of 50 rows are cached: %d bytes", budget.Held())
	}
	if near := nearest(t, s, memory.Filter{}, unit(r, testSpace.Dims), 100); len(near) != 60 {
		t.Errorf("%d neighbours, want 60", len(near))
	}
	replace(t, s, gone("memory/b.md"))
	loadSlab(t, s)
	if !viewCached(t, s, nil) {
		t.Error("vectors that fit again are not cached again")
	}
}

func TestNearestRefusesQueriesWithoutADirection(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", newRand(), "one", "two"))
	nan := float32(math.NaN())
	for _, cached := range []bool{false, true} {
		if cached {
			loadSlab(t, s)
		}
		if got := viewCached(t, s, func(v *view) error {
			for _, q := range [][]float32{{0, 0, 0, 0}, {nan, 0, 0, 1}, {1e-30, 0, 0, 0}} {
				if near, _, err := v.Nearest(t.Context(), q, memory.Filter{}, 2); err == nil {
					t.Errorf("%v has the neighbours %v", q, near)
				}
			}
			near, _, err := v.Nearest(t.Context(), []float32{1, 0, 0}, memory.Filter{}, 2)
			return errorIf(err != nil || near != nil, "a query of another dimension has neighbours")
		}); got != cached {
			t.Errorf("in memory: %v", got)
		}
	}
}

// After all vectors are deleted, those of another dimension need no rebuild.
func TestVectorCacheFollowsAChangeOfDimension(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	r := newRand()
	replace(t, s, testFile("memory/a.md", r, "one", "two"))
	viewCached(t, s, nil)
	viewCached(t, s, nil)
	replace(t, s, gone("memory/a.md"))
	f := testFile("memory/a.md", nil, "one", "two")
	f.vectors[f.Chunks[0].Hash], f.vectors[f.Chunks[1].Hash] = testVectors(r, 9, "one"), testVectors(r, 9, "two")
	if err := write(t.Context(), s, embed.Space{Provider: "test", Model: "n", Dims: 9}, f); err != nil {
		t.Fatal(err)
	}
	if !viewCached(t, s, func(v *view) error { return sameAnswer(t, v, unit(r, 9), memory.Filter{}, 5) }) {
		t.Error("the vectors are not in memory")
	}
}
