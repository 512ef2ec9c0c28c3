package encoder

import (
	"math"

	"github.com/viterin/vek/vek32"
)

// plain is the forward pass in Go. It decodes the weights as it reads them.
type plain struct {
	config Config
	norm   norm
	layers []layer
}

func (p *plain) name() string { return "go" }

func (p *plain) stride() int { return p.config.Hidden }

func (p *plain) close() {}

// arena has, for each row: the hidden states; query, key and value; what attention makes of them; the inner states.
func (p *plain) arena(rows, longest, _ int) int {
	return rows*(6*p.config.Hidden+p.config.Inner) + longest + max(p.config.Hidden, p.config.Inner)
}

// activations are the functions between the two feed-forward matrices.
var activations = map[string]func(float64) float64{
	"gelu":              gelu,
	"gelu_new":          geluTanh,
	"gelu_pytorch_tanh": geluTanh,
	"relu":              func(x float64) float64 { return max(x, 0) },
}

// gelu is x times the probability that a normally distributed number is below x.
func gelu(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) }

// geluTanh is the approximation of gelu by a tanh.
func geluTanh(x float64) float64 {
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

func (p *plain) run(b *batch, _ int) {
	n, h := b.rows(), p.config.Hidden
	memory := b.arena
	take := func(n int) []float32 {
		part := memory[:n]
		memory = memory[n:]
		return part
	}
	x := take(n * h)
	query, key, value, attended, result := take(n*h), take(n*h), take(n*h), take(n*h), take(n*h)
	inner, scores, row := take(n*p.config.Inner), take(b.longest), take(max(h, p.config.Inner))
	p.normalizeRows(x, p.norm)
	for _, l := range p.layers {
		if b.stop.Load() != 0 {
			return
		}
		l.query.applyRows(query, x, row)
		l.key.applyRows(key, x, row)
		l.value.applyRows(value, x, row)
		p.attend(b, query, key, value, attended, scores)
		l.attended.applyRows(result, attended, row)
		p.addNormalized(x, result, l.attention)
		l.inner.applyRows(inner, x, row)
		activate := activations[p.config.Activation]
		for i, v := range inner {
			inner[i] = float32(activate(float64(v)))
		}
		l.outer.applyRows(result, inner, row)
		p.addNormalized(x, result, l.output)
	}
}

// applyRows writes the matrix times each row of x, plus the bias, to out. row is memory for a row of the matrix.
func (l *linear) applyRows(out, x, row []float32) {
	row = row[:l.cols]
	for i := range l.rows {
		l.weight.floats(row, i*l.cols)
		for t := range len(x) / l.cols {
			out[t*l.rows+i] = l.bias[i] + dot(row, x[t*l.cols:])
		}
	}
}

// dot returns the scalar product of a and the beginning of b.
func dot(a, b []float32) float32 { return vek32.Dot(a, b[:len(a)]) }

// attend writes the values of each text, weighted by the softmax of query times key, to out.
func (p *plain) attend(b *batch, query, key, value, out, scores []float32) {
	h := p.config.Hidden
	size := h / p.config.Heads
	scale := 1 / math.Sqrt(float64(size))
	clear(out)
	for t := range len(b.starts) - 1 {
		from, to := int(b.starts[t]), int(b.starts[t+1])
		for at := from * h; at < to*h; at += size { // each head of each row
			scores := scores[:to-from]
			first := from*h + at%h // the same head in the first row of the text
			for i := range scores {
				scores[i] = float32(scale * float64(dot(query[at:at+size], key[first+i*h:])))
			}
			softmax(scores)
			for i, weight := range scores {
				for j := range size {
					out[at+j] += weight * value[first+i*h+j]
				}
			}
		}
	}
}

// softmax replaces v by numbers that add up to 1.
func softmax(v []float32) {
	highest := v[0]
	for _, x := range v {
		highest = max(highest, x)
	}
	var sum float32
	for i, x := range v {
		v[i] = float32(math.Exp(float64(x - highest)))
		sum += v[i]
	}
	for i := range v {
		v[i] /= sum
	}
}

// addNormalized replaces the rows of x by the normalised sum of x and y.
func (p *plain) addNormalized(x, y []float32, n norm) {
	for i := range x {
		x[i] += y[i]
	}
	p.normalizeRows(x, n)
}

// normalizeRows gives each row the mean 0 and the variance 1, and then a scale and a shift.
func (p *plain) normalizeRows(x []float32, n norm) {
	h := p.config.Hidden
	for ; len(x) > 0; x = x[h:] {
		var mean, variance float64
		for _, v := range x[:h] {
			mean += float64(v) / float64(h)
		}
		for _, v := range x[:h] {
			variance += (float64(v) - mean) * (float64(v) - mean) / float64(h)
		}
		inv := 1 / math.Sqrt(variance+p.config.Epsilon)
		for i := range h {
			x[i] = float32((float64(x[i])-mean)*inv)*n.scale[i] + n.shift[i]
		}
	}
}
