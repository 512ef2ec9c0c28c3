package encoder_test

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"runtime"
	"strings"
	"testing"

	"kioku/embed/local/encoder"
)

// TestNewRefuses: a configuration or tensors that do not fit are an error that names what is wrong, and cost no memory.
func TestNewRefuses(t *testing.T) {
	good := newRandomModel(bert, "", encoder.F32)
	const query = "encoder.layer.1.attention.self.query.weight"
	for _, c := range []struct {
		name   string
		change func(*encoder.Config, encoder.Tensors)
		want   string
	}{
		{"family", func(c *encoder.Config, _ encoder.Tensors) { c.ModelType = "gpt2" }, `model_type "gpt2"`},
		{"activation", func(c *encoder.Config, _ encoder.Tensors) { c.Activation = "silu" }, `hidden_act "silu"`},
		{"positions", func(c *encoder.Config, _ encoder.Tensors) { c.PositionType = "rotary" }, `position_embedding_type "rotary"`},
		{"epsilon", func(c *encoder.Config, _ encoder.Tensors) { c.Epsilon = math.NaN() }, "layer_norm_eps"},
		{"negative epsilon", func(c *encoder.Config, _ encoder.Tensors) { c.Epsilon = -1 }, "layer_norm_eps"},
		{"no layers", func(c *encoder.Config, _ encoder.Tensors) { c.Layers = 0 }, "num_hidden_layers is 0"},
		{"2^40 layers", func(c *encoder.Config, _ encoder.Tensors) { c.Layers = 1 << 40 }, "num_hidden_layers is 1099511627776"},
		{"more layers than tensors", func(c *encoder.Config, _ encoder.Tensors) { c.Layers = 3 }, "no tensor encoder.layer.2."},
		{"2^40 dimensions", func(c *encoder.Config, _ encoder.Tensors) { c.Hidden = 1 << 40 }, "hidden_size"},
		{"negative dimensions", func(c *encoder.Config, _ encoder.Tensors) { c.Hidden = -64 }, "hidden_size is -64"},
		{"other dimensions", func(c *encoder.Config, _ encoder.Tensors) { c.Hidden = 128 }, "want [99 128]"},
		{"no heads", func(c *encoder.Config, _ encoder.Tensors) { c.Heads = 0 }, "num_attention_heads is 0"},
		{"three heads", func(c *encoder.Config, _ encoder.Tensors) { c.Heads = 3 }, "not a multiple"},
		{"2^62 tokens", func(c *encoder.Config, _ encoder.Tensors) { c.Vocabulary = 1 << 62 }, "vocab_size"},
		{"more tokens than rows", func(c *encoder.Config, _ encoder.Tensors) { c.Vocabulary = 1 << 24 }, "tensor embeddings.word_embeddings.weight: the shape is [99 64]"},
		{"no positions", func(c *encoder.Config, _ encoder.Tensors) { c.ModelType, c.Padding = "roberta", 149 }, "leaves no position"},
		{"overflowing padding", func(c *encoder.Config, _ encoder.Tensors) { c.ModelType, c.Padding = "roberta", math.MaxInt }, "leaves no position"},
		{"inner", func(c *encoder.Config, _ encoder.Tensors) { c.Inner = 1 << 20 }, "intermediate_size"},
		{"no tensors", func(_ *encoder.Config, m encoder.Tensors) { clear(m) }, "not of the BERT family"},
		{"missing tensor", func(_ *encoder.Config, m encoder.Tensors) { delete(m, query) }, "no tensor " + query},
		{"missing classifier", func(_ *encoder.Config, m encoder.Tensors) { delete(m, "classifier.bias") }, "no tensor classifier.bias"},
		{"type", func(_ *encoder.Config, m encoder.Tensors) {
			m[query] = change(m[query], func(t *encoder.Tensor) { t.Type = "I64" })
		}, "the type is I64"},
		{"shape", func(_ *encoder.Config, m encoder.Tensors) {
			m[query] = change(m[query], func(t *encoder.Tensor) { t.Shape = []int{64, -64} })
		}, "the shape is [64 -64]"},
		{"flat shape", func(_ *encoder.Config, m encoder.Tensors) {
			m[query] = change(m[query], func(t *encoder.Tensor) { t.Shape = []int{4096} })
		}, "the shape is [4096]"},
		{"short data", func(_ *encoder.Config, m encoder.Tensors) {
			m[query] = change(m[query], func(t *encoder.Tensor) { t.Data = t.Data[:len(t.Data)-1] })
		}, "16383 bytes, want 16384"},
		{"infinite bias", func(_ *encoder.Config, m encoder.Tensors) {
			const bias = "encoder.layer.0.output.dense.bias"
			m[bias] = withNumber(m[bias], 3, math.Inf(1))
		}, "tensor encoder.layer.0.output.dense.bias: the model contains"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, tensors := bert, maps.Clone(good)
			c.change(&config, tensors)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := encoder.New(config, tensors, encoder.Options{Head: encoder.Score})
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %s", err, c.want)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
				t.Errorf("%d bytes were allocated", n)
			}
		})
	}
}

// change returns a changed copy of a tensor.
func change(t encoder.Tensor, f func(*encoder.Tensor)) encoder.Tensor {
	f(&t)
	return t
}

// withNumber returns a copy of an F32 tensor with another number at a position.
func withNumber(t encoder.Tensor, at int, number float64) encoder.Tensor {
	data := append([]byte(nil), t.Data...)
	binary.LittleEndian.PutUint32(data[4*at:], math.Float32bits(float32(number)))
	t.Data = data
	return t
}

// TestNewAndEncodeRefuseNumbersThatAreNotFinite: in a matrix of a layer, in a token's embedding, and as the result of
// large weights, are errors and never vectors.
func TestNewAndEncodeRefuseNumbersThatAreNotFinite(t *testing.T) {
	t.Parallel()
	const words, query, scale = "embeddings.word_embeddings.weight", "encoder.layer.1.attention.self.query.weight", "encoder.layer.1.output.LayerNorm.weight"
	in := randomInput(bert, 40)
	for _, kernel := range encoder.Kernels() {
		for _, c := range []struct {
			tensor string
			at     int
			number float64
		}{{words, int(in.IDs[7])*64 + 5, math.NaN()}, {words, int(in.IDs[7]) * 64, math.Inf(-1)}, {query, 4095, math.NaN()}, {query, 0, math.Inf(1)}, {scale, 7, 3e38}} {
			for _, int8 := range []bool{false, true} {
				tensors := newRandomModel(bert, "", encoder.F32)
				tensors[c.tensor] = withNumber(tensors[c.tensor], c.at, c.number)
				e, err := encoder.NewWithKernel(kernel, bert, tensors, encoder.Options{Int8: int8})
				if err == nil {
					_, err = e.Encode(t.Context(), []encoder.Input{in}, 1)
					e.Close()
				}
				if !errors.Is(err, encoder.ErrNotFinite) {
					t.Errorf("%s, %s = %g, int8 %v: %v", kernel, c.tensor, c.number, int8, err)
				}
			}
		}
	}
}

// TestEncodeRefusesInputs: without tokens, with too many, and with ids that have no embedding.
func TestEncodeRefusesInputs(t *testing.T) {
	t.Parallel()
	e := newEncoder(t, encoder.Kernels()[0], bert, newRandomModel(bert, "", encoder.F32), encoder.Options{})
	for want, in := range map[string]encoder.Input{
		"text 1: no tokens":                               {},
		"text 1: 151 tokens, the model takes 150":         {IDs: make([]int32, 151)},
		"text 1: token id -1, the model has 99":           {IDs: []int32{1, -1}},
		"text 1: token id 99, the model has 99":           {IDs: []int32{99}},
		"text 1: 1 segment types for 2 tokens":            {IDs: []int32{1, 2}, Types: []int32{0}},
		"text 1: segment type 2, the model has 2":         {IDs: []int32{1, 2}, Types: []int32{0, 2}},
		"text 1: segment type -2147483648, the model has": {IDs: []int32{1}, Types: []int32{math.MinInt32}},
	} {
		_, err := e.Encode(t.Context(), []encoder.Input{{IDs: []int32{1}}, in}, 1)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// TestMaxTokensOfRobertaLeavesOutThePadding: positions begin after that of the padding token.
func TestMaxTokensOfRobertaLeavesOutThePadding(t *testing.T) {
	t.Parallel()
	config := configs()["xlm-roberta"]
	e := newEncoder(t, encoder.Kernels()[0], config, newRandomModel(config, "roberta.", encoder.F32), encoder.Options{})
	if n := config.MaxTokens(); n != 148 {
		t.Errorf("%d tokens, want 148 of 150 positions", n)
	}
	if _, err := e.Encode(t.Context(), []encoder.Input{randomInput(config, 148)}, 1); err != nil {
		t.Error(err)
	}
}
