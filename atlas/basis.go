package atlas

import (
	"math/rand/v2"

	"github.com/viterin/vek/vek32"
)

const (
	// maxComponents is the number of principal components that neighbors are looked for in.
	maxComponents = 48
	// powerSteps is the number of steps of the subspace iteration.
	powerSteps = 6
)

// matrix is a list of vectors of equal length.
type matrix struct {
	cols int
	data []float32 // the rows, one after the other
}

// newMatrix returns a matrix of zeros.
func newMatrix(rows, cols int) *matrix { return &matrix{cols, make([]float32, rows*cols)} }

// rows returns the number of rows.
func (m *matrix) rows() int { return len(m.data) / max(m.cols, 1) }

// row returns row i, which shares the memory of the matrix.
func (m *matrix) row(i int) []float32 { return m.data[i*m.cols : (i+1)*m.cols : (i+1)*m.cols] }

// appendRow appends a row, which has the length of all others.
func (m *matrix) appendRow(row []float32) {
	m.cols = len(row)
	m.data = append(m.data, row...)
}

// orthonormalize makes the rows orthonormal (Gram-Schmidt, twice, which is enough in floating point: Giraud 2005). A row that
// depends on those before it becomes zero.
func (m *matrix) orthonormalize() {
	for i := range m.rows() {
		row := m.row(i)
		before := vek32.Norm(row)
		for range 2 {
			for j := range i {
				addScaled(row, m.row(j), -vek32.Dot(row, m.row(j)))
			}
		}
		length := vek32.Norm(row)
		if length <= 1e-5*before || length < 1e-20 {
			clear(row)
			continue
		}
		vek32.DivNumber_Inplace(row, length)
	}
}

// addScaled adds f times b to a.
func addScaled(a, b []float32, f float32) {
	for i, x := range b {
		a[i] += f * x
	}
}

// basis is the principal components of a sample of vectors.
type basis struct {
	mean       []float32
	components *matrix // one a row, about in the order of their variance
}

// newBasis returns the principal components, at most 48, of a sample, by subspace iteration from a random start (Halko, Martinsson,
// Tropp: Finding structure with randomness, SIAM Review 53, 2011, algorithm 4.4). Components without variance are zero.
func newBasis(sample *matrix) *basis {
	rows, cols := sample.rows(), sample.cols
	b := &basis{mean: make([]float32, cols), components: newMatrix(min(maxComponents, cols), cols)}
	for i := range rows {
		addScaled(b.mean, sample.row(i), 1/float32(rows))
	}
	centered := &matrix{cols, append([]float32(nil), sample.data...)}
	for i := range rows {
		addScaled(centered.row(i), b.mean, -1)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range b.components.data {
		b.components.data[i] = float32(random.NormFloat64())
	}
	for range powerSteps {
		b.components.orthonormalize()
		next := newMatrix(b.components.rows(), cols)
		for i := range rows { // times the covariance
			row := centered.row(i)
			for k := range next.rows() {
				addScaled(next.row(k), row, vek32.Dot(row, b.components.row(k)))
			}
		}
		b.components = next
	}
	b.components.orthonormalize()
	return b
}

// reduce writes the coordinates of a vector along the components to out, which has their number.
func (b *basis) reduce(vector, out []float32) {
	for k := range out {
		c := b.components.row(k)
		out[k] = vek32.Dot(vector, c) - vek32.Dot(b.mean, c)
	}
}
