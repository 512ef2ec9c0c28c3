package encoder_test

import (
	"encoding/binary"
	"fmt"
	"math"

	"kioku/embed/local/encoder"
)

// matrix is a slice of rows.
type matrix [][]float64

// reference is a forward pass in 64 bits that is written to be read, and shares no code with the package.
type reference struct {
	config  encoder.Config
	tensors encoder.Tensors
	prefix  string
}

// tensor decodes a tensor as a matrix; a vector has one row.
func (r reference) tensor(name string) matrix {
	t, ok := r.tensors[name]
	if !ok {
		panic("no tensor " + name)
	}
	cols := t.Shape[len(t.Shape)-1]
	var m matrix
	for data := t.Data; len(data) > 0; {
		row := make([]float64, cols)
		for i := range row {
			switch t.Type {
			case encoder.F32:
				row[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
				data = data[4:]
			case encoder.BF16:
				row[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(data)) << 16))
				data = data[2:]
			default:
				row[i] = fromHalf(binary.LittleEndian.Uint16(data))
				data = data[2:]
			}
		}
		m = append(m, row)
	}
	return m
}

// fromHalf decodes a finite number of 16 bits.
func fromHalf(h uint16) float64 {
	sign := 1 - 2*float64(h>>15)
	if exponent := int(h>>10) & 31; exponent > 0 {
		return sign * math.Ldexp(1+float64(h&1023)/1024, exponent-15)
	}
	return sign * math.Ldexp(float64(h&1023), -24)
}

// linear returns x times the transposed matrix of a name, plus its bias.
func (r reference) linear(name string, x matrix) matrix {
	weight, bias := r.tensor(name+".weight"), r.tensor(name + ".bias")[0]
	y := make(matrix, len(x))
	for t := range x {
		for o, row := range weight {
			sum := bias[o]
			for i, w := range row {
				sum += w * x[t][i]
			}
			y[t] = append(y[t], sum)
		}
	}
	return y
}

// normalized returns the layer normalisation of x + y.
func (r reference) normalized(name string, x, y matrix) matrix {
	scale, shift := r.tensor(name + ".weight")[0], r.tensor(name + ".bias")[0]
	out := make(matrix, len(x))
	for t := range x {
		n := float64(len(x[t]))
		var mean, variance float64
		for i := range x[t] {
			mean += (x[t][i] + y[t][i]) / n
		}
		for i := range x[t] {
			variance += math.Pow(x[t][i]+y[t][i]-mean, 2) / n
		}
		for i := range x[t] {
			out[t] = append(out[t], (x[t][i]+y[t][i]-mean)/math.Sqrt(variance+r.config.Epsilon)*scale[i]+shift[i])
		}
	}
	return out
}

// attention returns the values, weighted for each head by the softmax of the scores of query and key.
func (r reference) attention(query, key, value matrix) matrix {
	out := make(matrix, len(query))
	size := r.config.Hidden / r.config.Heads
	for t := range query {
		out[t] = make([]float64, r.config.Hidden)
		for head := 0; head < r.config.Hidden; head += size {
			var sum float64
			weights := make([]float64, len(key))
			for s := range key {
				for i := head; i < head+size; i++ {
					weights[s] += query[t][i] * key[s][i] / math.Sqrt(float64(size))
				}
				weights[s] = math.Exp(weights[s])
				sum += weights[s]
			}
			for s := range key {
				for i := head; i < head+size; i++ {
					out[t][i] += weights[s] / sum * value[s][i]
				}
			}
		}
	}
	return out
}

// activate applies the activation function of the configuration.
func (r reference) activate(x matrix) matrix {
	for _, row := range x {
		for i, v := range row {
			switch r.config.Activation {
			case "gelu":
				row[i] = v * 0.5 * math.Erfc(-v/math.Sqrt2)
			case "gelu_new":
				row[i] = 0.5 * v * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
			default:
				row[i] = math.Max(v, 0)
			}
		}
	}
	return x
}

// hidden returns the last hidden states of an input.
func (r reference) hidden(in encoder.Input) matrix {
	name, first := r.prefix+"embeddings.", 0
	if r.config.ModelType != "bert" {
		first = r.config.Padding + 1
	}
	words, positions, types := r.tensor(name+"word_embeddings.weight"), r.tensor(name+"position_embeddings.weight"), r.tensor(name+"token_type_embeddings.weight")
	var x, rest matrix
	for i, id := range in.IDs {
		kind := int32(0)
		if in.Types != nil {
			kind = in.Types[i]
		}
		x, rest = append(x, words[id]), append(rest, nil)
		for j := range words[id] {
			rest[i] = append(rest[i], positions[first+i][j]+types[kind][j])
		}
	}
	x = r.normalized(name+"LayerNorm", x, rest)
	for i := range r.config.Layers {
		name := fmt.Sprintf("%sencoder.layer.%d.", r.prefix, i)
		self := name + "attention.self."
		attended := r.attention(r.linear(self+"query", x), r.linear(self+"key", x), r.linear(self+"value", x))
		x = r.normalized(name+"attention.output.LayerNorm", x, r.linear(name+"attention.output.dense", attended))
		inner := r.activate(r.linear(name+"intermediate.dense", x))
		x = r.normalized(name+"output.LayerNorm", x, r.linear(name+"output.dense", inner))
	}
	return x
}

// vector returns the unit vector of the mean of the hidden states, or of the first.
func (r reference) vector(head encoder.Head, in encoder.Input) []float64 {
	hidden := r.hidden(in)
	if head == encoder.CLS {
		hidden = hidden[:1]
	}
	v := make([]float64, r.config.Hidden)
	var squares float64
	for i := range v {
		for _, row := range hidden {
			v[i] += row[i]
		}
		squares += v[i] * v[i]
	}
	for i := range v {
		v[i] /= math.Sqrt(squares)
	}
	return v
}

// score returns the logit of a cross-encoder whose two matrices have the given names.
func (r reference) score(in encoder.Input, dense, out string) float64 {
	pooled := r.linear(dense, r.hidden(in)[:1])
	for i, x := range pooled[0] {
		pooled[0][i] = math.Tanh(x)
	}
	return r.linear(out, pooled)[0][0]
}
