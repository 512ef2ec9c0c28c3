package encoder_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"kioku/embed/local/encoder"
)

// randomModel makes weights for tests.
type randomModel struct {
	tensors encoder.Tensors
	random  *rand.Rand
	kind    encoder.Type
}

// newRandomModel returns the tensors of a model with random weights. The classifier is that of BERT or RoBERTa.
func newRandomModel(c encoder.Config, prefix string, kind encoder.Type) encoder.Tensors {
	m := &randomModel{encoder.Tensors{}, rand.New(rand.NewPCG(uint64(c.Hidden), uint64(c.Heads))), kind}
	m.add(prefix+"embeddings.word_embeddings.weight", 1, c.Vocabulary, c.Hidden)
	m.add(prefix+"embeddings.position_embeddings.weight", .3, c.Positions, c.Hidden)
	m.add(prefix+"embeddings.token_type_embeddings.weight", .3, c.Types, c.Hidden)
	m.norm(prefix+"embeddings.LayerNorm", c.Hidden)
	for i := range c.Layers {
		name := fmt.Sprintf("%sencoder.layer.%d.", prefix, i)
		for _, part := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
			m.linear(name+part, c.Hidden, c.Hidden)
		}
		m.norm(name+"attention.output.LayerNorm", c.Hidden)
		m.linear(name+"intermediate.dense", c.Inner, c.Hidden)
		m.linear(name+"output.dense", c.Hidden, c.Inner)
		m.norm(name+"output.LayerNorm", c.Hidden)
	}
	if c.ModelType == "bert" {
		m.linear(prefix+"pooler.dense", c.Hidden, c.Hidden)
		m.linear("classifier", 1, c.Hidden)
	} else {
		m.linear("classifier.dense", c.Hidden, c.Hidden)
		m.linear("classifier.out_proj", 1, c.Hidden)
	}
	return m.tensors
}

// linear adds a matrix and a bias.
func (m *randomModel) linear(name string, rows, cols int) {
	m.add(name+".weight", 1.5/math.Sqrt(float64(cols)), rows, cols)
	m.add(name+".bias", .1, rows)
}

// norm adds a normalisation.
func (m *randomModel) norm(name string, size int) {
	m.add(name+".weight", .5, size)
	m.add(name+".bias", .1, size)
}

// add adds a tensor of normally distributed numbers.
func (m *randomModel) add(name string, deviation float64, shape ...int) {
	n := 1
	for _, s := range shape {
		n *= s
	}
	t := encoder.Tensor{Type: m.kind, Shape: shape}
	for range n {
		bits := math.Float32bits(float32(m.random.NormFloat64() * deviation))
		switch m.kind {
		case encoder.F32:
			t.Data = binary.LittleEndian.AppendUint32(t.Data, bits)
		case encoder.BF16:
			t.Data = binary.LittleEndian.AppendUint16(t.Data, uint16(bits>>16))
		default:
			t.Data = binary.LittleEndian.AppendUint16(t.Data, toHalf(bits))
		}
	}
	m.tensors[name] = t
}

// toHalf cuts a number to 16 bits. Numbers below 2^-14 lose their exponent and become others of about that size.
func toHalf(bits uint32) uint16 {
	exponent := max(int(bits>>23)&255-112, 0)
	return uint16(bits>>31)<<15 | uint16(exponent)<<10 | uint16(bits>>13)&1023
}

// randomInput returns an input of a number of tokens.
func randomInput(c encoder.Config, tokens int) encoder.Input {
	random := rand.New(rand.NewPCG(1, uint64(tokens)))
	var in encoder.Input
	for i := range tokens {
		in.IDs = append(in.IDs, int32(random.IntN(c.Vocabulary)))
		in.Types = append(in.Types, int32(min(2*i/tokens, c.Types-1)))
	}
	return in
}
