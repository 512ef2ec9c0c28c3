package projection

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// maxComponents is the number of principal components that neighbors are looked for in.
	maxComponents = 50
	// powerSteps is the number of steps of the subspace iteration.
	powerSteps = 4
)

// Basis is the principal components of a sample of vectors.
type Basis struct {
	mean       []float32
	components *Matrix // one a row, the one with the most variance first
}

// NewBasis returns the principal components, at most 50, of a sample, by subspace iteration from a random start (Halko, Martinsson,
// Tropp: Finding structure with randomness, SIAM Review 53, 2011, algorithm 4.4). Components without variance are zero.
func NewBasis(sample *Matrix, seed uint64) *Basis {
	rows, cols := sample.Rows(), sample.Cols
	b := &Basis{mean: make([]float32, cols), components: NewMatrix(min(maxComponents, cols), cols)}
	if rows == 0 {
		return b
	}
	for i := range rows {
		addScaled(b.mean, sample.Row(i), 1/float32(rows))
	}
	centered := NewMatrix(rows, cols)
	copy(centered.Data, sample.Data)
	for i := range rows {
		addScaled(centered.Row(i), b.mean, -1)
	}
	b.components.fillNormal(rand.New(rand.NewPCG(seed, 1)))
	for range powerSteps {
		b.components.orthonormalize()
		b.components = powerStep(centered, b.components)
	}
	b.components.orthonormalize()
	b.sort(centered)
	return b
}

// powerStep returns the rows of v multiplied by the covariance of x, without its factor.
func powerStep(x, v *Matrix) *Matrix {
	out := NewMatrix(v.Rows(), v.Cols)
	for i := range x.Rows() {
		row := x.Row(i)
		for k := range v.Rows() {
			addScaled(out.Row(k), row, dot(row, v.Row(k)))
		}
	}
	return out
}

// sort turns the components so that each explains as much of the variance as it can, the first the most.
func (b *Basis) sort(centered *Matrix) {
	k := b.components.Rows()
	covariance := make([][]float64, k)
	for i := range covariance {
		covariance[i] = make([]float64, k)
	}
	y := make([]float32, k)
	for r := range centered.Rows() {
		for i := range k {
			y[i] = dot(centered.Row(r), b.components.Row(i))
		}
		for i := range k {
			for j := range k {
				covariance[i][j] += float64(y[i]) * float64(y[j])
			}
		}
	}
	values, vectors := eigen(covariance)
	order := make([]int, k)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[j], values[i]) })
	turned := NewMatrix(k, b.components.Cols)
	for to, from := range order {
		row := turned.Row(to)
		for i := range k {
			addScaled(row, b.components.Row(i), float32(vectors[i][from]))
		}
		fixSign(row)
	}
	b.components = turned
}

// fixSign turns a component so that its largest number is positive: the sign of a component is arbitrary.
func fixSign(row []float32) {
	largest := float32(0)
	for _, x := range row {
		if math.Abs(float64(x)) > math.Abs(float64(largest)) {
			largest = x
		}
	}
	if largest < 0 {
		scale(row, -1)
	}
}

// Components returns the number of components.
func (b *Basis) Components() int { return b.components.Rows() }

// Reduce writes the coordinates of a vector along the components to out, which has their number.
func (b *Basis) Reduce(vector, out []float32) {
	for k := range out {
		c := b.components.Row(k)
		out[k] = dot(vector, c) - dot(b.mean, c)
	}
}

// eigen returns the eigenvalues and, as columns, the eigenvectors of a symmetric matrix, which it destroys (cyclic Jacobi: Golub, Van
// Loan: Matrix Computations, 4th edition, section 8.5).
func eigen(a [][]float64) (values []float64, vectors [][]float64) {
	n := len(a)
	vectors = make([][]float64, n)
	for i := range vectors {
		vectors[i] = make([]float64, n)
		vectors[i][i] = 1
	}
	for range 30 {
		if largestOff(a) <= 1e-12 {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				jacobi(a, vectors, p, q)
			}
		}
	}
	values = make([]float64, n)
	for i := range values {
		values[i] = a[i][i]
	}
	return values, vectors
}

// largestOff returns the largest element off the diagonal, relative to the largest on it.
func largestOff(a [][]float64) float64 {
	off, on := 0.0, 0.0
	for i := range a {
		on = max(on, math.Abs(a[i][i]))
		for j := range i {
			off = max(off, math.Abs(a[i][j]))
		}
	}
	if on == 0 {
		return 0
	}
	return off / on
}

// jacobi makes a[p][q] zero by a rotation.
func jacobi(a, v [][]float64, p, q int) {
	if a[p][q] == 0 {
		return
	}
	theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
	t := 1 / (math.Abs(theta) + math.Hypot(theta, 1))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Hypot(t, 1)
	s := t * c
	for k := range a {
		a[k][p], a[k][q] = c*a[k][p]-s*a[k][q], s*a[k][p]+c*a[k][q]
	}
	for k := range a {
		a[p][k], a[q][k] = c*a[p][k]-s*a[q][k], s*a[p][k]+c*a[q][k]
		v[k][p], v[k][q] = c*v[k][p]-s*v[k][q], s*v[k][p]+c*v[k][q]
	}
}
