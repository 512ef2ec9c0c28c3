package encoder

import (
	"fmt"
	"strings"
)

// linear is a matrix with one row for each output, and a bias.
type linear struct {
	weight     Tensor
	bias       []float32
	rows, cols int
}

// norm is the scale and the shift of a layer normalisation.
type norm struct{ scale, shift []float32 }

// layer contains the weights of a layer.
type layer struct {
	query, key, value, attended, inner, outer linear
	attention, output                         norm
}

// embeddings contains the tables whose rows are added up to the first hidden states.
type embeddings struct {
	words            Tensor // looked up in the file
	positions, types []float32
	norm             norm
}

// classifier is the head of a cross-encoder: a matrix with tanh, and a row that is multiplied with the result.
type classifier struct{ dense, out linear }

// loader takes weights from tensors. After the first error it returns zero values.
type loader struct {
	tensors Tensors
	prefix  string
	err     error
}

// newLoader returns a loader that knows the prefix of the names.
func newLoader(tensors Tensors) (*loader, error) {
	const first = "embeddings.word_embeddings.weight"
	for name := range tensors {
		if prefix, ok := strings.CutSuffix(name, first); ok {
			return &loader{tensors: tensors, prefix: prefix}, nil
		}
	}
	return nil, fmt.Errorf("no tensor %s; the model is not of the BERT family", first)
}

// tensor returns the tensor of a name and shape.
func (l *loader) tensor(name string, shape ...int) Tensor {
	if l.err != nil {
		return Tensor{}
	}
	t, ok := l.tensors[name]
	if !ok {
		l.err = fmt.Errorf("no tensor %s", name)
	} else if err := t.check(shape...); err != nil {
		l.err = fmt.Errorf("tensor %s: %w", name, err)
	}
	return t
}

// vector returns the numbers of a tensor, or nil after an error.
func (l *loader) vector(name string, shape ...int) []float32 {
	t := l.tensor(name, shape...)
	if l.err != nil {
		return nil
	}
	v := make([]float32, t.Len())
	_ = t.Decode(v, 0) // its type was checked
	if !finite(v) {
		l.err = fmt.Errorf("tensor %s: %w", name, ErrNotFinite)
	}
	return v
}

// linear returns the matrix and bias of a name.
func (l *loader) linear(name string, rows, cols int) linear {
	return linear{l.tensor(name+".weight", rows, cols), l.vector(name+".bias", rows), rows, cols}
}

// norm returns the layer normalisation of a name. Old files call the scale gamma and the shift beta.
func (l *loader) norm(name string, size int) norm {
	if _, old := l.tensors[name+".gamma"]; old {
		return norm{l.vector(name+".gamma", size), l.vector(name+".beta", size)}
	}
	return norm{l.vector(name+".weight", size), l.vector(name+".bias", size)}
}

// embeddings returns the tables of embeddings.
func (l *loader) embeddings(c Config) embeddings {
	name := l.prefix + "embeddings."
	return embeddings{
		words:     l.tensor(name+"word_embeddings.weight", c.Vocabulary, c.Hidden),
		positions: l.vector(name+"position_embeddings.weight", c.Positions, c.Hidden),
		types:     l.vector(name+"token_type_embeddings.weight", c.Types, c.Hidden),
		norm:      l.norm(name+"LayerNorm", c.Hidden),
	}
}

// layers returns the layers, none after an error.
func (l *loader) layers(c Config) []layer {
	var layers []layer
	for i := 0; i < c.Layers && l.err == nil; i++ {
		name := fmt.Sprintf("%sencoder.layer.%d.", l.prefix, i)
		layers = append(layers, layer{
			query:     l.linear(name+"attention.self.query", c.Hidden, c.Hidden),
			key:       l.linear(name+"attention.self.key", c.Hidden, c.Hidden),
			value:     l.linear(name+"attention.self.value", c.Hidden, c.Hidden),
			attended:  l.linear(name+"attention.output.dense", c.Hidden, c.Hidden),
			inner:     l.linear(name+"intermediate.dense", c.Inner, c.Hidden),
			outer:     l.linear(name+"output.dense", c.Hidden, c.Inner),
			attention: l.norm(name+"attention.output.LayerNorm", c.Hidden),
			output:    l.norm(name+"output.LayerNorm", c.Hidden),
		})
	}
	return layers
}

// classifier returns the head of a cross-encoder with one logit: that of BERT, whose matrix is called pooler, or that of
// RoBERTa.
func (l *loader) classifier(c Config) *classifier {
	if _, ok := l.tensors["classifier.dense.weight"]; ok {
		return &classifier{l.linear("classifier.dense", c.Hidden, c.Hidden), l.linear("classifier.out_proj", 1, c.Hidden)}
	}
	return &classifier{l.linear(l.prefix+"pooler.dense", c.Hidden, c.Hidden), l.linear("classifier", 1, c.Hidden)}
}
