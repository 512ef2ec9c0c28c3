package projection

import (
	"math"
	"math/rand/v2"
)

// Matrix is a list of vectors of equal length.
type Matrix struct {
	// Cols is the length of a row.
	Cols int
	// Data are the rows, one after the other.
	Data []float32
}

// NewMatrix returns a matrix of zeros.
func NewMatrix(rows, cols int) *Matrix { return &Matrix{Cols: cols, Data: make([]float32, rows*cols)} }

// Rows returns the number of rows.
func (m *Matrix) Rows() int {
	if m.Cols == 0 {
		return 0
	}
	return len(m.Data) / m.Cols
}

// Row returns row i, which shares the memory of the matrix.
func (m *Matrix) Row(i int) []float32 { return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols] }

// Append appends a row.
func (m *Matrix) Append(row []float32) { m.Data = append(m.Data, row...) }

// fillNormal fills the matrix with normally distributed numbers.
func (m *Matrix) fillNormal(random *rand.Rand) {
	for i := range m.Data {
		m.Data[i] = float32(random.NormFloat64())
	}
}

// orthonormalize makes the rows orthonormal (Gram-Schmidt, twice, which is enough in floating point: Giraud 2005). A row that
// depends on those before it becomes zero.
func (m *Matrix) orthonormalize() {
	for i := range m.Rows() {
		row := m.Row(i)
		before := norm(row)
		for range 2 {
			for j := range i {
				addScaled(row, m.Row(j), -dot(row, m.Row(j)))
			}
		}
		length := norm(row)
		if length <= 1e-5*before || length < 1e-20 {
			clear(row)
			continue
		}
		scale(row, 1/length)
	}
}

// dot returns the inner product of two vectors of equal length.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// distance returns the square of the Euclidean distance of two vectors of equal length.
func distance(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		d0, d1, d2, d3 := a[i]-b[i], a[i+1]-b[i+1], a[i+2]-b[i+2], a[i+3]-b[i+3]
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
	}
	for ; i < len(a); i++ {
		d := a[i] - b[i]
		s0 += d * d
	}
	return s0 + s1 + s2 + s3
}

// norm returns the length of a vector.
func norm(v []float32) float32 { return float32(math.Sqrt(float64(dot(v, v)))) }

// scale multiplies a vector by f.
func scale(v []float32, f float32) {
	for i := range v {
		v[i] *= f
	}
}

// addScaled adds f times b to a.
func addScaled(a, b []float32, f float32) {
	b = b[:len(a)]
	for i := range a {
		a[i] += f * b[i]
	}
}
