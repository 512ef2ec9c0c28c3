package vector

import (
	"errors"
	"math"

	"github.com/viterin/vek/vek32"
)

const (
	// maxCode is the largest code of a number.
	maxCode = 127
	// maxQuery is the largest number of a query beside codes.
	maxQuery = 32767
	// rounding is more than what the float32 arithmetic of a score can be off.
	rounding = 1e-5
)

// encode writes the codes of a row and returns the row's scale and slack.
func encode(codes []int8, row []float32, inv float32) (scale, slack float32) {
	step := max(vek32.Max(row), -vek32.Min(row)) / maxCode
	if math.IsInf(float64(1/step), 0) { // too small to be told apart; nothing is known of the row then
		clear(codes)
		return 0, 1
	}
	// The sum is one of float32, the factor more than what that can be off.
	off := round(codes, row, step)
	return step * inv, float32(math.Sqrt(float64(off)) * float64(inv) * 1.0001)
}

// query is a question in the forms that scans need.
type query struct {
	unit []float32
	// whole is unit / step in whole numbers, and slack how far that is off.
	whole []int16
	step  float32
	slack float32
}

// newQuery prepares a question.
func newQuery(v []float32, dims int) (*query, error) {
	n, err := check(v, dims)
	if err != nil {
		return nil, errors.New("query " + err.Error())
	}
	q := &query{unit: make([]float32, dims)}
	for i, x := range v {
		q.unit[i] = float32(float64(x) / n)
	}
	return q, nil
}

// code fills in the whole numbers. The norm of a row of codes is at most maxCode * sqrt(dims), so that the bound on the
// query's norm keeps every sum of products within an int32 (Cauchy and Schwarz).
func (q *query) code() {
	var largest float32
	for _, x := range q.unit {
		largest = max(largest, x, -x)
	}
	per := min(maxQuery/float64(largest), (1<<30)/(maxCode*math.Sqrt(float64(len(q.unit)))))
	q.whole, q.step = make([]int16, len(q.unit)), float32(1/per)
	var off float64
	for i, x := range q.unit {
		q.whole[i] = int16(math.Round(float64(x) * per))
		d := float64(x) - float64(q.whole[i])*float64(q.step)
		off += d * d
	}
	q.slack = float32(math.Sqrt(off))
}

// reach returns how far a score by codes can be from the cosine, for a row with the given slack: with the row x = c + e
// and the query y = d + f, x*y - c*d = e*y + f*c, and |c| <= 1 + |e|.
func (q *query) reach(slack float32) float32 { return slack + q.slack*(1+slack) + rounding }
