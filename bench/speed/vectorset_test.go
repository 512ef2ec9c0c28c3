package speed

import (
	"math"
	"math/rand/v2"
	"sync"

	"kioku/store/slab"
)

const (
	// vectorDims is the length of the vectors of all rows.
	vectorDims = 768
	// vectorQueries is the number of different questions.
	vectorQueries = 64
	// vectorAxes and vectorClusters shape the vectors: the nearest of a question have cosines from 0.6 to 0.9, any two
	// have about 0.1.
	vectorAxes, vectorClusters = 96, 1000
	// rowAxes is how many axes set a row apart from its cluster, by rowOffset of its length; rowNoise is the length of the
	// noise of a row.
	rowAxes, rowOffset, rowNoise = 6, 0.5, 0.4
)

// vectorSet contains unit vectors as models make them of texts: they lie in clusters, a few large and most small, along
// few directions, and are noisy.
type vectorSet struct {
	r       *rand.Rand
	zipf    *rand.Zipf
	axes    [][]float32
	centers [][]float32
	data    []float32 // the rows, one after the other
	queries [][]float32
	asked   int // how often query was called
}

// newVectorSet returns n vectors, the same ones each time.
func newVectorSet(n int) *vectorSet {
	r := rand.New(rand.NewPCG(7, 7))
	s := &vectorSet{r: r, zipf: rand.NewZipf(r, 1.1, 10, vectorClusters-1)}
	for range vectorAxes {
		axis := make([]float32, vectorDims)
		addNoise(axis, r.Uint64(), 1)
		s.axes = append(s.axes, normalize(axis))
	}
	for range vectorClusters {
		center := make([]float32, vectorDims)
		for i, axis := range s.axes {
			addScaled(center, axis, float32(r.NormFloat64()/math.Sqrt(float64(1+i/4))))
		}
		s.centers = append(s.centers, normalize(center))
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

// draw returns a new vector.
func (s *vectorSet) draw() []float32 {
	v := make([]float32, vectorDims)
	copy(v, s.centers[s.zipf.Uint64()])
	for range rowAxes {
		addScaled(v, s.axes[s.r.IntN(vectorAxes)], float32(rowOffset*s.r.NormFloat64()/math.Sqrt(rowAxes)))
	}
	addNoise(v, s.r.Uint64(), float32(rowNoise/math.Sqrt(vectorDims)))
	return normalize(v)
}

// query returns the next question: a vector of the same kind as the rows, and none of them.
func (s *vectorSet) query() []float32 {
	s.asked++
	return s.queries[s.asked%vectorQueries]
}

// row returns a row.
func (s *vectorSet) row(i int) []float32 { return s.data[i*vectorDims : (i+1)*vectorDims] }

// vectors returns the first n rows as Kioku caches them, with ids from 1.
func (s *vectorSet) vectors(n int) (*slab.Vectors, error) {
	t := slab.NewTable(vectorDims, n)
	for i := range n {
		if err := t.Put(int64(i)+1, s.row(i)); err != nil {
			return nil, err
		}
	}
	return t.Vectors(), nil
}

// newVectorSlab returns n vectors, and the same as Kioku caches them.
func newVectorSlab(n int) (*vectorSet, *slab.Vectors, error) {
	set := newVectorSet(n)
	cached, err := set.vectors(n)
	return set, cached, err
}

// noise returns a long run of normally distributed numbers, the same in each process. A stretch of it is a random vector
// that costs far less than to draw one.
var noise = sync.OnceValue(func() []float32 {
	r := rand.New(rand.NewPCG(7, 42))
	run := make([]float32, 1<<20)
	for i := range run {
		run[i] = float32(r.NormFloat64())
	}
	return run
})

// addNoise adds to v the stretch of noise that a number selects, times f.
func addNoise(v []float32, selects uint64, f float32) {
	run := noise()
	addScaled(v, run[selects%uint64(len(run)-len(v)):], f)
}

// addScaled adds a times f to v.
func addScaled(v, a []float32, f float32) {
	for i := range v {
		v[i] += f * a[i]
	}
}

// normalize scales v to unit length in place and returns it.
func normalize(v []float32) []float32 {
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
