package speed

import (
	"math"
	"math/rand/v2"

	"kioku/store/vector"
)

// vectorSet is unit vectors as models make them of texts: they lie in clusters, of which some are large and most small, along
// few directions, and are noisy.
type vectorSet struct {
	r       *rand.Rand
	axes    [][]float32
	centers [][]float32
	zipf    *rand.Zipf
	noise   []float32
	data    []float32 // the rows, one after the other
	queries [][]float32
	asked   int
}

// vectorQueries is how many questions there are before they begin anew.
const vectorQueries = 64

// Shape of the vectors: the nearest of a question have cosines from 0.6 to 0.9, any two about 0.1.
const (
	vectorAxes     = 96
	vectorClusters = 1000
	// axesOfRow are how many axes set a row apart from its cluster, and by how much of its length.
	axesOfRow, awayFromCluster = 6, 0.5
	noiseOfRow                 = 0.4
)

// newVectorSet returns n vectors, the same ones each time.
func newVectorSet(n int) *vectorSet {
	r := rand.New(rand.NewPCG(7, 7))
	s := &vectorSet{r: r, zipf: rand.NewZipf(r, 1.1, 10, vectorClusters-1), noise: make([]float32, 1<<20)}
	for i := range s.noise {
		s.noise[i] = float32(r.NormFloat64())
	}
	for range vectorAxes {
		s.axes = append(s.axes, normalised(s.gauss(make([]float32, vectorDims), 1)))
	}
	for range vectorClusters {
		c := make([]float32, vectorDims)
		for i, a := range s.axes {
			add(c, a, float32(r.NormFloat64()/math.Sqrt(float64(1+i/4))))
		}
		s.centers = append(s.centers, normalised(c))
	}
	s.data = make([]float32, 0, n*vectorDims)
	for range n {
		s.data = append(s.data, s.draw()...)
	}
	for range vectorQueries {
		s.queries = append(s.queries, s.draw())
	}
	return s
}

// query returns the next question, a vector of the same kind as the rows and none of them.
func (s *vectorSet) query() []float32 {
	s.asked++
	return s.queries[s.asked%vectorQueries]
}

// draw returns a new vector.
func (s *vectorSet) draw() []float32 {
	v := make([]float32, vectorDims)
	copy(v, s.centers[s.zipf.Uint64()])
	for range axesOfRow {
		add(v, s.axes[s.r.IntN(vectorAxes)], awayFromCluster*float32(s.r.NormFloat64()/math.Sqrt(axesOfRow)))
	}
	return normalised(s.gauss(v, float32(noiseOfRow/math.Sqrt(vectorDims))))
}

// gauss adds noise to v.
func (s *vectorSet) gauss(v []float32, amount float32) []float32 {
	add(v, s.noise[s.r.IntN(len(s.noise)-len(v)):], amount)
	return v
}

// add adds a times f to v.
func add(v, a []float32, f float32) {
	for i := range v {
		v[i] += f * a[i]
	}
}

// normalised scales v to unit length in place.
func normalised(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	f := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= f
	}
	return v
}

// len returns how many rows there are.
func (s *vectorSet) len() int { return len(s.data) / vectorDims }

// row returns a row.
func (s *vectorSet) row(i int) []float32 { return s.data[i*vectorDims : (i+1)*vectorDims] }

// slab returns the first n rows as Kioku holds them, with ids from 1.
func (s *vectorSet) slab(n int) (*vector.Slab, error) {
	t := vector.NewTable(vectorDims, n)
	for i := range n {
		if err := t.Put(int64(i)+1, s.row(i)); err != nil {
			return nil, err
		}
	}
	return t.Slab(), nil
}

// heldVectors returns n vectors, and as Kioku holds them.
func heldVectors(n int) (*vectorSet, *vector.Slab, error) {
	set := newVectorSet(n)
	slab, err := set.slab(n)
	return set, slab, err
}
