package atlas

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// crowds returns n vectors around k random centers on the sphere, and the center of each.
func crowds(n, k, dims int, noise float64, seed uint64) (*matrix, []int) {
	random := rand.New(rand.NewPCG(seed, 9))
	centers := newMatrix(k, dims)
	for i := range centers.data {
		centers.data[i] = float32(random.NormFloat64() / math.Sqrt(float64(dims)))
	}
	m, of := newMatrix(n, dims), make([]int, n)
	for i := range n {
		of[i] = random.IntN(k)
		for j, c := range centers.row(of[i]) {
			m.row(i)[j] = c + float32(noise*random.NormFloat64()/math.Sqrt(float64(dims)))
		}
	}
	return m, of
}

// reduced returns vectors along the principal components of the first 2,000.
func reduced(m *matrix) *matrix {
	return reduceBy(newBasis(&matrix{m.cols, m.data[:min(m.rows(), basisSample)*m.cols]}), m)
}

// reduceBy returns vectors along the components of a basis.
func reduceBy(b *basis, m *matrix) *matrix {
	out := newMatrix(m.rows(), b.components.rows())
	for i := range m.rows() {
		b.reduce(m.row(i), out.row(i))
	}
	return out
}

// flat returns points as a matrix.
func flat(points []point) *matrix {
	m := newMatrix(0, 2)
	for _, p := range points {
		m.appendRow([]float32{p.X, p.Y})
	}
	return m
}

// preserved returns the part of the ten nearest neighbors of each vector that are among the ten nearest of its point.
func preserved(t *testing.T, vectors, points *matrix) float64 {
	t.Helper()
	near := func(m *matrix) *neighbors {
		n, err := nearestNeighbors(t.Context(), m, 10, func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	a, b := near(vectors), near(points)
	same := 0
	for i := range vectors.rows() {
		for _, j := range a.ids[i*10 : i*10+10] {
			if slices.Contains(b.ids[i*10:i*10+10], j) {
				same++
			}
		}
	}
	return float64(same) / float64(10*vectors.rows())
}

// laidOut returns the layout of vectors, with the places before, which may be nil.
func laidOut(t *testing.T, m *matrix, before []*point) []point {
	t.Helper()
	out, err := layOut(t.Context(), m, before, time.Minute, func(string, float64) {})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range out {
		if !(p.X >= 0 && p.X <= 1 && p.Y >= 0 && p.Y <= 1) {
			t.Fatalf("point %d of %d is at %v, which is not in the unit square", i, len(out), p)
		}
	}
	return out
}

// Neighbors are kept near to each other, better than by principal components alone, also within crowds of noise.
func TestLayoutKeepsNeighborsBetterThanPrincipalComponents(t *testing.T) {
	t.Parallel()
	vectors, _ := crowds(1200, 25, 64, 0.5, 1)
	short := reduced(vectors)
	plain := newMatrix(0, 2)
	for i := range short.rows() {
		plain.appendRow(short.row(i)[:2])
	}
	pca := preserved(t, vectors, plain)
	drawn := preserved(t, vectors, flat(laidOut(t, short, nil)))
	if t.Logf("kept: %.2f by two principal components, %.2f by the layout", pca, drawn); drawn < 1.6*pca {
		t.Errorf("the layout keeps %.2f of the neighbors, two principal components %.2f", drawn, pca)
	}
}

// The same vectors give the same picture.
func TestLayoutIsDeterministic(t *testing.T) {
	t.Parallel()
	vectors, _ := crowds(500, 8, 32, 0.5, 2)
	if !slices.Equal(laidOut(t, reduced(vectors), nil), laidOut(t, reduced(vectors), nil)) {
		t.Error("two pictures of the same vectors differ")
	}
}

// No point is NaN or outside of the square for no vectors, one, two, and many identical ones.
func TestLayoutTakesAnyVectors(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 3, 20, 500} {
		same := newMatrix(n, 8)
		for i := range same.data {
			same.data[i] = 0.25
		}
		points := laidOut(t, reduced(same), nil)
		if len(points) != n {
			t.Errorf("%d points of %d vectors", len(points), n)
		}
		clusters, of := findClusters(points)
		if len(of) != n || n > 0 && len(clusters) > max(1, n/4) {
			t.Errorf("%d vectors: %d clusters, %d assignments", n, len(clusters), len(of))
		}
		laidOut(t, newMatrix(n, 1), nil)
	}
}

// A picture of nearly the same vectors is nearly the same if it begins with the one before: what is drawn anew stays in its place.
func TestLayoutStaysCloseToThePictureBefore(t *testing.T) {
	t.Parallel()
	vectors, _ := crowds(600, 12, 48, 0.5, 3)
	basis := newBasis(vectors)
	first := laidOut(t, reduceBy(basis, vectors), nil)
	more, _ := crowds(600, 12, 48, 0.5, 3)
	extra, _ := crowds(60, 12, 48, 0.5, 3) // near the same centers
	more.data = append(more.data, extra.data...)
	before := make([]*point, 660)
	for i := range first {
		before[i] = &first[i]
	}
	second := laidOut(t, reduceBy(basis, more), before)
	moved := medianDistance(first, second[:600])
	fresh := medianDistance(first, laidOut(t, reduceBy(basis, more), nil)[:600])
	if t.Logf("moved by %.3f, without the picture before by %.3f", moved, fresh); moved > 0.05 {
		t.Errorf("the points have moved by %.3f in the median", moved)
	}
}

// medianDistance returns the median distance between two lists of points.
func medianDistance(a, b []point) float64 {
	var all []float64
	for i := range a {
		all = append(all, math.Hypot(float64(a[i].X-b[i].X), float64(a[i].Y-b[i].Y)))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// The layout ends with its context, and with its time budget as it is then.
func TestLayoutEndsInTime(t *testing.T) {
	t.Parallel()
	vectors, _ := crowds(1500, 12, 48, 0.5, 4)
	short := reduced(vectors)
	ctx, cancel := context.WithCancel(t.Context())
	phases := map[string]float64{}
	_, err := layOut(ctx, short, nil, time.Minute, func(phase string, part float64) {
		if part < phases[phase] || part > 1 {
			t.Errorf("%s is at %v after %v", phase, part, phases[phase])
		}
		phases[phase] = part
		if phase == phaseLayout && part > 0.1 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || phases[phaseNeighbors] == 0 || phases[phaseLayout] > 0.2 {
		t.Errorf("%v, %v", err, phases)
	}
	if out, err := layOut(t.Context(), short, nil, time.Nanosecond, func(string, float64) {}); err != nil || len(out) != 1500 {
		t.Errorf("%d points, %v", len(out), err)
	}
}

// BenchmarkLayout draws 20,000 vectors of 384 dimensions, with the basis; the goal is a few seconds of one core.
func BenchmarkLayout(b *testing.B) {
	vectors, _ := crowds(20_000, 60, 384, 0.7, 6)
	for b.Loop() {
		points, err := layOut(b.Context(), reduced(vectors), nil, time.Minute, func(string, float64) {})
		if err != nil {
			b.Fatal(err)
		}
		clusters, _ := findClusters(points)
		b.ReportMetric(float64(len(clusters)), "clusters")
	}
}
