package slab

import (
	"errors"
	"math"

	"github.com/viterin/vek/vek32"
)

const (
	// maxQuantized is the largest number of a quantized row.
	maxQuantized = 127
	// maxQuery is the largest number of a quantized query.
	maxQuery = 32767
	// rounding is larger than the float32 error of a score.
	rounding = 1e-5
)

// quantize writes the quantized row and returns its scale and slack.
func quantize(quantized []int8, row []float32, inv float32) (scale, slack float32) {
	step := max(vek32.Max(row), -vek32.Min(row)) / maxQuantized
	if math.IsInf(float64(1/step), 0) { // too small to be quantized: the row may be anywhere
		clear(quantized)
		return 0, 1
	}
	// The factor is larger than the float32 error of the sum.
	off := roundToSteps(quantized, row, step)
	return step * inv, float32(math.Sqrt(float64(off)) * float64(inv) * 1.0001)
}

// query is a question in the forms that scans need.
type query struct {
	unit []float32
	// quantized is unit / step, rounded, and slack the distance of quantized * step from unit. They are zero before quantize.
	quantized []int16
	step      float32
	slack     float32
}

// newQuery returns the query of a vector, or an error if it has no direction.
func newQuery(v []float32, dims int) (*query, error) {
	n, err := checkVector(v, dims)
	if err != nil {
		return nil, errors.New("query " + err.Error())
	}
	q := &query{unit: make([]float32, dims)}
	for i, x := range v {
		q.unit[i] = float32(float64(x) / n)
	}
	return q, nil
}

// quantize sets the quantized form. The norm of a quantized row is at most maxQuantized * sqrt(dims), so that the bound on
// the query's norm keeps every sum of products within an int32 (Cauchy and Schwarz).
func (q *query) quantize() {
	var largest float32
	for _, x := range q.unit {
		largest = max(largest, x, -x)
	}
	per := min(maxQuery/float64(largest), (1<<30)/(maxQuantized*math.Sqrt(float64(len(q.unit)))))
	q.quantized, q.step = make([]int16, len(q.unit)), float32(1/per)
	var off float64
	for i, x := range q.unit {
		q.quantized[i] = int16(math.Round(float64(x) * per))
		d := float64(x) - float64(q.quantized[i])*float64(q.step)
		off += d * d
	}
	q.slack = float32(math.Sqrt(off))
}

// maxError returns the largest difference between a quantized score and the cosine for a row with a slack: with the row
// x = c + e and the query y = d + f, x*y - c*d = e*y + f*c, and |c| <= 1 + |e|.
func (q *query) maxError(slack float32) float32 { return slack + q.slack*(1+slack) + rounding }
