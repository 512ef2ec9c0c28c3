package slab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/viterin/vek/vek32"
	"pgregory.net/rapid"
)

// vectors returns vectors in clusters, a few of them twice, with norms from 0.5 to 2.
func vectors(r *rand.Rand, n, dims int) [][]float32 {
	var centers [][]float32
	for range 1 + n/20 {
		centers = append(centers, noise(r, make([]float32, dims), 1))
	}
	all := make([][]float32, n)
	for i := range all {
		if i > 0 && r.IntN(10) == 0 {
			all[i] = all[r.IntN(i)]
			continue
		}
		v := noise(r, centers[r.IntN(len(centers))], 0.3)
		f := float32((0.5 + 1.5*r.Float64()) / norm(v))
		for j := range v {
			v[j] *= f
		}
		all[i] = v
	}
	return all
}

// noise returns v with noise added, never zero.
func noise(r *rand.Rand, v []float32, amount float64) []float32 {
	v = slices.Clone(v)
	for i := range v {
		v[i] += float32(amount * r.NormFloat64())
	}
	v[0] += 1e-3
	return v
}

// model is the content of a table in plain Go.
type model map[int64][]float32

// nearest returns the cosines of the k nearest by definition, best first.
func (m model) nearest(q []float32, k int, allow *IDs) []Neighbor {
	var all []Neighbor
	for id, v := range m {
		if allow == nil || allow.Has(id) {
			all = append(all, Neighbor{id, cosine(q, v)})
		}
	}
	slices.SortFunc(all, func(a, b Neighbor) int {
		if a.Cosine != b.Cosine {
			return -1 + 2*btoi(a.Cosine < b.Cosine)
		}
		return -1 + 2*btoi(a.ID > b.ID)
	})
	return all[:max(min(k, len(all)), 0)]
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tolerance is the error of float32 arithmetic for vectors of 1 to 1024 dimensions.
const tolerance = 2e-6

// compare returns an error unless got has the cosines of want, and each id its own.
func (m model) compare(got, want []Neighbor, q []float32) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d neighbours, want %d", len(got), len(want))
	}
	seen := map[int64]bool{}
	for i, n := range got {
		v, ok := m[n.ID]
		if !ok || seen[n.ID] {
			return fmt.Errorf("neighbour %d: id %d is not there, or twice", i, n.ID)
		}
		seen[n.ID] = true
		if c := cosine(q, v); math.Abs(c-n.Cosine) > 1e-6 || math.Abs(n.Cosine-want[i].Cosine) > tolerance {
			return fmt.Errorf("neighbour %d: %+v with the cosine %v, want %+v", i, n, c, want[i])
		}
	}
	return nil
}

// quantizedSlab returns a snapshot with quantized rows, however few there are.
func quantizedSlab(t *Table) *Vectors {
	for i, b := range t.blocks {
		t.blocks[i] = b.quantizeAll(t.dims)
	}
	t.quantized = true
	return t.Vectors()
}

// Exact scans, quantized scans and the definition agree after any edits, for any k, dimension and filter.
func TestSlabNearestAgreesWithTheDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dims := rapid.SampledFrom([]int{1, 2, 3, 7, 16, 31, 64, 100, 768, 1024}).Draw(rt, "dims")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		quantized := rapid.Bool().Draw(rt, "quantized")
		pool := vectors(r, 1+r.IntN(400), dims)
		tb, m := NewTable(dims, r.IntN(100)), model{}
		for range rapid.IntRange(1, 5).Draw(rt, "rounds") {
			for range r.IntN(200) {
				id := int64(r.IntN(150)) - 20
				if r.IntN(3) == 0 {
					tb.Delete(id)
					delete(m, id)
					continue
				}
				v := pool[r.IntN(len(pool))]
				if err := tb.Put(id, v); err != nil {
					rt.Fatal(err)
				}
				m[id] = v
			}
			s := tb.Vectors()
			if quantized {
				s = quantizedSlab(tb)
			}
			if s.Len() != len(m) || tb.Len() != len(m) {
				rt.Fatalf("%d rows, want %d", s.Len(), len(m))
			}
			checkSearches(rt, r, s, m, pool)
		}
	})
}

// checkSearches compares searches with the definition, with and without a filter, quantized and not.
func checkSearches(rt *rapid.T, r *rand.Rand, s *Vectors, m model, pool [][]float32) {
	for range 5 {
		q := pool[r.IntN(len(pool))]
		if r.IntN(2) == 0 {
			q = noise(r, q, 0.2)
		}
		k := r.IntN(len(m)+10) - 1
		var allow *IDs
		if r.IntN(2) == 0 {
			var ids []int64
			for range r.IntN(150) {
				ids = append(ids, int64(r.IntN(170))-30)
			}
			allow = NewIDs(ids)
		}
		want := m.nearest(q, k, allow)
		got, err := s.Nearest(q, k, allow)
		if err != nil {
			rt.Fatal(err)
		}
		if err := m.compare(got, want, q); err != nil {
			rt.Fatal(err)
		}
		qq, err := newQuery(q, s.dims)
		if err != nil || k <= 0 || !s.quantized {
			continue
		}
		if got, ok := s.scanQuantized(qq, k, allow); ok {
			if err := m.compare(got, want, q); err != nil {
				rt.Fatal("quantized: ", err)
			}
		}
	}
	for id, v := range m {
		if !slices.Equal(s.Vector(id), v) {
			rt.Fatalf("vector %d is not the one that was put", id)
		}
	}
}

func TestSlabNearestPrefersSmallerIDsOfEqualVectors(t *testing.T) {
	t.Parallel()
	tb := NewTable(3, 0)
	for _, id := range []int64{9, 4, 7, 1, 8} {
		if err := tb.Put(id, []float32{1, 2, 3}); err != nil {
			t.Fatal(err)
		}
	}
	near, err := tb.Vectors().Nearest([]float32{1, 2, 3}, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{1, 4, 7} {
		if near[i].ID != want {
			t.Errorf("neighbour %d is %d, want %d", i, near[i].ID, want)
		}
	}
}

func TestSlabDoesNotChangeWithItsTable(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	const n, dims = 3000, 256
	tb, m := NewTable(dims, 0), model{}
	for i, v := range vectors(r, n, dims) {
		m[int64(i)] = v
		if err := tb.Put(int64(i), v); err != nil {
			t.Fatal(err)
		}
	}
	s := quantizedSlab(tb)
	var g sync.WaitGroup
	g.Go(func() {
		for i, v := range vectors(r, n, dims) {
			if i%3 == 0 {
				tb.Delete(int64(i))
			} else if err := tb.Put(int64(i+n/2), v); err != nil {
				t.Error(err)
			}
			if i%100 == 0 {
				tb.Vectors()
			}
		}
	})
	for i := range int64(30) {
		near, err := s.Nearest(m[i*100], 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.compare(near, m.nearest(m[i*100], 10, nil), m[i*100]); err != nil {
			t.Error(err)
		}
		if !slices.Equal(s.Vector(i), m[i]) {
			t.Errorf("vector %d changed", i)
		}
	}
	g.Wait()
}

func TestTableReusesRowsOfDeletedVectors(t *testing.T) {
	t.Parallel()
	tb := NewTable(8, 0)
	r := rand.New(rand.NewPCG(4, 4))
	for round := range 20 {
		for i, v := range vectors(r, 500, 8) {
			tb.Delete(int64((round-1)*500 + i))
			if err := tb.Put(int64(round*500+i), v); err != nil {
				t.Fatal(err)
			}
		}
	}
	if span := tb.Vectors().span(); span > 501 {
		t.Errorf("%d rows for 500 vectors", span)
	}
}

func TestSlabNearestIsTheSameWithoutSIMD(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	all := vectors(r, 500, 96)
	tb := NewTable(96, 0)
	for i, v := range all {
		if err := tb.Put(int64(i), v); err != nil {
			t.Fatal(err)
		}
	}
	m := model{}
	for i, v := range all {
		m[int64(i)] = v
	}
	defer vek32.SetAcceleration(true)
	for _, on := range []bool{true, false} {
		vek32.SetAcceleration(on)
		for _, q := range all[:20] {
			near, err := tb.Vectors().Nearest(q, 10, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.compare(near, m.nearest(q, 10, nil), q); err != nil {
				t.Errorf("acceleration %v: %v", on, err)
			}
		}
	}
}

func TestTablePutRefusesVectorsWithoutADirection(t *testing.T) {
	t.Parallel()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	tb := NewTable(2, 0)
	if err := tb.Put(1, []float32{1, 0}); err != nil {
		t.Fatal(err)
	}
	for _, v := range [][]float32{{0, 0}, {nan, 1}, {1, nan}, {inf, 1}, {-inf, inf}, {1e-30, 0}, {3e38, 3e38}, {1}, {1, 2, 3}, nil} {
		if err := tb.Put(2, v); err == nil {
			t.Errorf("%v was put", v)
		}
		if near, err := tb.Vectors().Nearest(v, 1, nil); err == nil {
			t.Errorf("%v has the neighbours %v", v, near)
		}
	}
	if err := tb.Put(math.MinInt64, []float32{1, 0}); err == nil || tb.Len() != 1 {
		t.Errorf("a reserved id was taken, or something refused: %d rows, %v", tb.Len(), err)
	}
}

// Of numbers that differ by many powers of ten, most are 0 when quantized.
func TestSlabCandidatesIncludeTheNearest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	const dims = 48
	tb, m := NewTable(dims, 0), model{}
	for i := range int64(600) {
		v := make([]float32, dims)
		for j := range v {
			v[j] = float32(r.NormFloat64() * math.Pow(10, float64(r.IntN(12)-6)))
		}
		v[r.IntN(dims)] = 1
		m[i] = v
		if err := tb.Put(i, v); err != nil {
			t.Fatal(err)
		}
	}
	s := quantizedSlab(tb)
	for i := range int64(50) {
		q, err := newQuery(m[i], dims)
		if err != nil {
			t.Fatal(err)
		}
		found := map[int64]bool{}
		for _, c := range s.candidates(q, 10, nil) {
			found[s.blocks[c.block].ids[c.row]] = true
		}
		for _, n := range m.nearest(m[i], 10, nil) {
			if !found[n.ID] {
				t.Errorf("query %d: %+v is no candidate", i, n)
			}
		}
	}
}

func TestSlabNearestEndsQuantizedScansThatDoNotHelp(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	tb := NewTable(4, 0)
	for i := range int64(2000) {
		if err := tb.Put(i, noise(r, []float32{1, 2, 3, 4}, 1e-4)); err != nil {
			t.Fatal(err)
		}
	}
	s := quantizedSlab(tb)
	for range maxDense {
		if !s.Quantized() {
			t.Fatal("quantized scans end too early")
		}
		if _, err := s.Nearest([]float32{1, 2, 3, 4}, 3, nil); err != nil {
			t.Fatal(err)
		}
	}
	if s.Quantized() {
		t.Error("quantized rows are still scanned")
	}
}

func TestIDsIsASet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		gen := rapid.OneOf(rapid.Int64Range(-100, 300), rapid.Int64())
		ids := rapid.SliceOf(gen).Draw(rt, "ids")
		want := map[int64]bool{}
		for _, id := range ids {
			want[id] = true
		}
		s := NewIDs(slices.Clone(ids))
		if len(s.List()) != len(want) {
			rt.Fatalf("%d ids, want %d", len(s.List()), len(want))
		}
		for _, id := range append(rapid.SliceOf(gen).Draw(rt, "others"), ids...) {
			if s.Has(id) != want[id] {
				rt.Fatalf("Has(%d) = %v", id, s.Has(id))
			}
		}
	})
}
