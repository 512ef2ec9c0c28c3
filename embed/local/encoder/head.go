package encoder

import (
	"math"

	"github.com/viterin/vek/vek32"
)

// result returns what the head makes of the rows of a text.
func (e *Encoder) result(b *batch, from, to int) []float32 {
	dims := e.config.Hidden
	out := make([]float32, dims)
	switch e.head {
	case Score:
		return []float32{e.scoring.score(b.row(from, dims))}
	case CLS:
		copy(out, b.row(from, dims))
	default:
		for i := from; i < to; i++ {
			for j, x := range b.row(i, dims) {
				out[j] += x
			}
		}
	}
	normalize(out)
	return out
}

// normalize divides v by its norm. A vector without a direction becomes NaN, which checkOutput refuses.
func normalize(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
}

// finite reports whether all numbers are finite.
func finite(v []float32) bool {
	var sum float32
	for _, x := range v {
		sum += x * 0 // 0, or NaN for infinite and undefined numbers
	}
	return sum == 0
}

// score returns the logit for the first hidden state of a text.
func (c *classifier) score(hidden []float32) float32 {
	pooled := make([]float32, c.dense.rows)
	c.dense.apply(pooled, hidden)
	for i, x := range pooled {
		pooled[i] = float32(math.Tanh(float64(x)))
	}
	var logit [1]float32
	c.out.apply(logit[:], pooled)
	return logit[0]
}

// apply writes the matrix times x, plus the bias, to out.
func (l *linear) apply(out, x []float32) {
	row := make([]float32, l.cols)
	for i := range out {
		_ = l.weight.Decode(row, i*l.cols) // New has checked its type
		out[i] = l.bias[i] + vek32.Dot(row, x[:len(row)])
	}
}
