package projection_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kioku/projection"
)

// crowds returns n vectors around k random centers on the sphere, and the center of each.
func crowds(n, k, dims int, noise float64, seed uint64) (*projection.Matrix, []int) {
	random := rand.New(rand.NewPCG(seed, 9))
	centers := projection.NewMatrix(k, dims)
	for i := range centers.Data {
		centers.Data[i] = float32(random.NormFloat64() / math.Sqrt(float64(dims)))
	}
	m, of := projection.NewMatrix(n, dims), make([]int, n)
	for i := range n {
		of[i] = random.IntN(k)
		for j, c := range centers.Row(of[i]) {
			m.Row(i)[j] = c + float32(noise*random.NormFloat64()/math.Sqrt(float64(dims)))
		}
	}
	return m, of
}

// reduced returns vectors along the principal components of all of them.
func reduced(m *projection.Matrix) *projection.Matrix {
	return reduceAll(projection.NewBasis(m, 1), m)
}

// reduceAll returns vectors along the components of a basis.
func reduceAll(b *projection.Basis, m *projection.Matrix) *projection.Matrix {
	out := projection.NewMatrix(m.Rows(), b.Components())
	for i := range m.Rows() {
		b.Reduce(m.Row(i), out.Row(i))
	}
	return out
}

// flat returns points as a matrix.
func flat(points []projection.Point) *projection.Matrix {
	m := projection.NewMatrix(0, 2)
	for _, p := range points {
		m.Append([]float32{p.X, p.Y})
	}
	return m
}

// preserved returns the part of the ten nearest neighbors of each vector that are among the ten nearest of its point.
func preserved(t *testing.T, vectors, points *projection.Matrix) float64 {
	t.Helper()
	near := func(m *projection.Matrix) *projection.Neighbors {
		n, err := projection.NearestNeighbors(t.Context(), m, 10, 1, func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	a, b := near(vectors), near(points)
	same := 0
	for i := range vectors.Rows() {
		for _, j := range a.IDs[i*10 : i*10+10] {
			if slices.Contains(b.IDs[i*10:i*10+10], j) {
				same++
			}
		}
	}
	return float64(same) / float64(10*vectors.Rows())
}

func project(t *testing.T, m *projection.Matrix, opt projection.Options) projection.Layout {
	t.Helper()
	out, err := projection.Project(t.Context(), m, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range out.Points {
		if !(p.X >= 0 && p.X <= 1 && p.Y >= 0 && p.Y <= 1) {
			t.Fatalf("point %d of %d is at %v, which is not in the unit square", i, len(out.Points), p)
		}
	}
	return out
}

// Neighbors are kept near to each other, better than by principal components alone, also within crowds of noise.
func TestProjectKeepsNeighborsBetterThanPrincipalComponents(t *testing.T) {
	t.Parallel()
	vectors, _ := crowds(1200, 25, 64, 0.5, 1)
	short := reduced(vectors)
	plain := projection.NewMatrix(0, 2)
	for i := range short.Rows() {
		plain.Append(short.Row(i)[:2])
	}
	pca := preserved(t, vectors, plain)
	drawn := preserved(t, vectors, flat(project(t, short, projection.Options{}).Points))
	if t.Logf("kept: %.2f by two principal components, %.2f by the layout", pca, drawn); drawn < 1.6*pca {
		t.Errorf("the layout keeps %.2f of the neighbors, two principal components %.2f", drawn, pca)
	}
}

// The same vectors and seed give the same picture, another seed another one.
func TestProjectIsDeterministic(t *testing.T) {
	t.Parallel()
	vectors, _ := crowds(2000, 8, 32, 0.5, 2) // more than are compared pair by pair
	short := reduced(vectors)
	a, b := project(t, short, projection.Options{Seed: 7}), project(t, short, projection.Options{Seed: 7})
	if !slices.Equal(a.Points, b.Points) {
		t.Error("two pictures of the same vectors differ")
	}
	if other := project(t, short, projection.Options{Seed: 8}); slices.Equal(a.Points, other.Points) {
		t.Error("the seed has no effect")
	}
}

// No point is NaN or outside of the square for no vectors, one, two, and many identical ones.
func TestProjectTakesAnyVectors(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 3, 20, 1700} {
		same := projection.NewMatrix(n, 8)
		for i := range same.Data {
			same.Data[i] = 0.25
		}
		out := project(t, reduced(same), projection.Options{Neighbors: 15})
		if len(out.Points) != n {
			t.Errorf("%d points of %d vectors", len(out.Points), n)
		}
		clusters, of := projection.Clusters(out.Points)
		if len(of) != n || n > 0 && len(clusters) > max(1, n/4) {
			t.Errorf("%d vectors: %d clusters, %d assignments", n, len(clusters), len(of))
		}
		project(t, projection.NewMatrix(n, 1), projection.Options{})
	}
}

// A picture of nearly the same vectors is nearly the same if it begins with the one before: what is drawn anew stays in its place.
func TestProjectStaysCloseToThePictureBefore(t *testing.T) {
	t.Parallel()
	vectors, _ := crowds(1000, 12, 48, 0.5, 3)
	basis := projection.NewBasis(vectors, 1)
	first := project(t, reduceAll(basis, vectors), projection.Options{})
	more, _ := crowds(1000, 12, 48, 0.5, 3)
	extra, _ := crowds(60, 12, 48, 0.5, 3) // near the same centers
	more.Data = append(more.Data, extra.Data...)
	start := &projection.Start{Points: make([]projection.Point, 1060), Known: make([]bool, 1060)}
	copy(start.Points, first.Points)
	for i := range 1000 {
		start.Known[i] = true
	}
	second := project(t, reduceAll(basis, more), projection.Options{Start: start, Seed: 5})
	if moved := median(first.Points, second.Points[:1000]); moved > 0.05 {
		t.Errorf("the points have moved by %.3f in the median", moved)
	}
	fresh := project(t, reduceAll(basis, more), projection.Options{Seed: 5})
	if moved := median(first.Points, fresh.Points[:1000]); moved < 0.1 {
		t.Errorf("without the picture before they have moved by only %.3f, so that the test shows nothing", moved)
	}
}

// median returns the median distance between two lists of points.
func median(a, b []projection.Point) float64 {
	var all []float64
	for i := range a {
		all = append(all, math.Hypot(float64(a[i].X-b[i].X), float64(a[i].Y-b[i].Y)))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// The picture ends with its context, and with its time budget as it is then.
func TestProjectEndsInTime(t *testing.T) {
	t.Parallel()
	vectors, _ := crowds(3000, 12, 48, 0.5, 4)
	short := reduced(vectors)
	ctx, cancel := context.WithCancel(t.Context())
	phases := map[string]float64{}
	_, err := projection.Project(ctx, short, projection.Options{Progress: func(phase string, part float64) {
		if part < phases[phase] || part > 1 {
			t.Errorf("%s is at %v after %v", phase, part, phases[phase])
		}
		phases[phase] = part
		if phase == projection.PhaseLayout && part > 0.1 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || phases[projection.PhaseNeighbors] == 0 || phases[projection.PhaseLayout] > 0.2 {
		t.Errorf("%v, %v", err, phases)
	}
	if out := project(t, short, projection.Options{Budget: time.Nanosecond}); len(out.Points) != 3000 || out.Epochs != 0 {
		t.Errorf("%d points after %d epochs", len(out.Points), out.Epochs)
	}
}

// The approximate neighbors are nearly the true ones.
func TestNearestNeighborsFindsNearlyAll(t *testing.T) {
	t.Parallel()
	vectors, _ := crowds(4000, 40, 50, 0.8, 5)
	near, err := projection.NearestNeighbors(t.Context(), vectors, 10, 1, func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	random, found := rand.New(rand.NewPCG(1, 1)), 0
	for range 200 {
		i := random.IntN(vectors.Rows())
		for _, j := range exact(vectors, i, 10) {
			if slices.Contains(near.IDs[i*10:i*10+10], j) {
				found++
			}
		}
	}
	if found < 1900 {
		t.Errorf("%d of 2000 nearest neighbors were found", found)
	}
}

// exact returns the k nearest rows of a row.
func exact(m *projection.Matrix, i, k int) []int32 {
	distances := make([]float64, m.Rows())
	order := make([]int32, 0, m.Rows())
	for j := range m.Rows() {
		for c, x := range m.Row(j) {
			distances[j] += float64(x-m.Row(i)[c]) * float64(x-m.Row(i)[c])
		}
		if j != i {
			order = append(order, int32(j))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		if distances[a] < distances[b] {
			return -1
		}
		return 1
	})
	return order[:k]
}

// BenchmarkProject draws 20,000 vectors of 384 dimensions, with the basis; the goal is a few seconds of one core.
func BenchmarkProject(b *testing.B) {
	vectors, _ := crowds(20_000, 60, 384, 0.7, 6)
	for b.Loop() {
		sample := &projection.Matrix{Cols: 384, Data: vectors.Data[:2000*384]}
		short := reduceAll(projection.NewBasis(sample, 1), vectors)
		out, err := projection.Project(b.Context(), short, projection.Options{})
		if err != nil {
			b.Fatal(err)
		}
		clusters, _ := projection.Clusters(out.Points)
		b.ReportMetric(float64(len(clusters)), "clusters")
	}
}
