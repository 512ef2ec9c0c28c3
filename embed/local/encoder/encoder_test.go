package encoder_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/embed/local/encoder"
)

// bert is a small configuration whose heads have as many numbers as those of MiniLM.
var bert = encoder.Config{ModelType: "bert", Layers: 2, Hidden: 64, Heads: 2, Inner: 160, Vocabulary: 99, Positions: 150, Types: 2, Epsilon: 1e-12, Activation: "gelu"}

// configs are configurations that go different ways through the kernels.
func configs() map[string]encoder.Config {
	odd := bert // nothing is a multiple of a vector
	odd.Hidden, odd.Heads, odd.Inner = 21, 3, 37
	roberta := bert
	roberta.ModelType, roberta.Types, roberta.Padding, roberta.Epsilon = "xlm-roberta", 1, 1, 1e-5
	wide := bert // the inner states are multiplied in two blocks, and heads are wider than a panel
	wide.Layers, wide.Hidden, wide.Heads, wide.Inner, wide.Activation = 1, 96, 2, 1600, "gelu_new"
	relu := bert
	relu.Heads, relu.Activation = 64, "relu"
	return map[string]encoder.Config{"bert": bert, "odd": odd, "xlm-roberta": roberta, "wide": wide, "relu": relu}
}

// lengths are numbers of tokens: one, and those at the edges of tiles, and of the runs of queries and rows.
var lengths = []int{1, 2, 12, 13, 65, 97}

// example is a random model, inputs of all lengths, and the vectors of the reference.
type example struct {
	config  encoder.Config
	tensors encoder.Tensors
	inputs  []encoder.Input
	want    [][]float64
}

// examples are the examples of configs. They are computed once.
var examples = sync.OnceValue(func() map[string]example {
	all := map[string]example{}
	for name, config := range configs() {
		e := example{config: config, tensors: newRandomModel(config, "", encoder.F32)}
		ref := reference{config, e.tensors, ""}
		for _, n := range lengths {
			in := randomInput(config, n)
			e.inputs, e.want = append(e.inputs, in), append(e.want, ref.vector(encoder.Mean, in))
		}
		all[name] = e
	}
	return all
})

// TestEncodeEqualsTheReference: each kernel, in 32 bits, computes what a forward pass in 64 bits does.
func TestEncodeEqualsTheReference(t *testing.T) {
	t.Parallel()
	for name, x := range examples() {
		for _, kernel := range encoder.Kernels() {
			for _, threads := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s/%s/%d", name, kernel, threads), func(t *testing.T) {
					got, err := newEncoder(t, kernel, x.config, x.tensors, encoder.Options{}).Encode(t.Context(), x.inputs, threads)
					if err != nil {
						t.Fatal(err)
					}
					for i := range got {
						if d := distance(got[i], x.want[i]); d > 5e-6 {
							t.Errorf("%d tokens: the distance is %g", lengths[i], d)
						}
					}
				})
			}
		}
	}
}

// newEncoder returns an encoder with a kernel.
func newEncoder(tb testing.TB, kernel string, config encoder.Config, tensors encoder.Tensors, options encoder.Options) *encoder.Encoder {
	tb.Helper()
	e, err := encoder.NewWithKernel(kernel, config, tensors, options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { e.Close() })
	return e
}

// distance returns the largest difference of two numbers of the vectors.
func distance(a []float32, b []float64) float64 {
	var d float64
	for i, x := range a {
		d = max(d, math.Abs(float64(x)-b[i]))
	}
	return d
}

// TestEncodeReadsEveryType: weights of 16 bits, a prefix of the names and the first hidden state as the vector.
func TestEncodeReadsEveryType(t *testing.T) {
	t.Parallel()
	for _, kind := range []encoder.Type{encoder.F32, encoder.F16, encoder.BF16} {
		tensors := newRandomModel(bert, "bert.", kind)
		e := newEncoder(t, encoder.Kernels()[0], bert, tensors, encoder.Options{Head: encoder.CLS})
		in := randomInput(bert, 20)
		got, err := e.Encode(t.Context(), []encoder.Input{in}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(got[0], reference{bert, tensors, "bert."}.vector(encoder.CLS, in)); d > 5e-6 {
			t.Errorf("%s: the distance is %g", kind, d)
		}
	}
}

// TestEncodeInt8IsNear: with weights of 8 bits the cosine with the exact vector is at least .98.
func TestEncodeInt8IsNear(t *testing.T) {
	t.Parallel()
	for name, x := range examples() {
		for _, kernel := range encoder.Kernels() {
			e := newEncoder(t, kernel, x.config, x.tensors, encoder.Options{Int8: true})
			got, err := e.Encode(t.Context(), x.inputs, 2)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				var cosine float64
				for j, n := range v {
					cosine += x.want[i][j] * float64(n)
				}
				if cosine < .98 {
					t.Errorf("%s, %s, %d tokens: the cosine is %.4f", name, e.Kernel(), lengths[i], cosine)
				}
			}
		}
	}
}

// TestEncodeScoresPairs: a cross-encoder returns one logit for a question and a passage, told apart by segment types.
func TestEncodeScoresPairs(t *testing.T) {
	t.Parallel()
	for name, heads := range map[string][2]string{"bert": {"pooler.dense", "classifier"}, "xlm-roberta": {"classifier.dense", "classifier.out_proj"}} {
		config := configs()[name]
		tensors := newRandomModel(config, "", encoder.F32)
		for _, kernel := range encoder.Kernels() {
			e := newEncoder(t, kernel, config, tensors, encoder.Options{Head: encoder.Score})
			in := []encoder.Input{randomInput(config, 30), randomInput(config, 7)}
			got, err := e.Encode(t.Context(), in, 1)
			if err != nil {
				t.Fatal(err)
			}
			for i := range in {
				want := reference{config, tensors, ""}.score(in[i], heads[0], heads[1])
				if len(got[i]) != e.Dims() || math.Abs(float64(got[i][0])-want) > 2e-5 {
					t.Errorf("%s, %s: logit %v, want %.6f", name, kernel, got[i], want)
				}
			}
		}
	}
}

// TestEncodeGivesATextTheSameVectorInAnyBatch: to the last bit, with any number of threads.
func TestEncodeGivesATextTheSameVectorInAnyBatch(t *testing.T) {
	t.Parallel()
	tensors := newRandomModel(bert, "", encoder.F32)
	for _, kernel := range encoder.Kernels() {
		for _, int8 := range []bool{false, true} {
			e := newEncoder(t, kernel, bert, tensors, encoder.Options{Int8: int8})
			var in []encoder.Input
			var want [][]float32
			for _, n := range lengths {
				in = append(in, randomInput(bert, n))
				alone, err := e.Encode(t.Context(), in[len(in)-1:], 1)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, alone[0])
			}
			for threads := 1; threads < 4; threads++ {
				got, err := e.Encode(t.Context(), in, threads)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%s, %d threads: %v\n%s", e.Kernel(), threads, err, diff)
				}
				together, err := e.Encode(t.Context(), in[5:], threads)
				if err != nil || !slices.Equal(want[5], together[0]) {
					t.Errorf("%s: %d threads compute another vector together: %v", e.Kernel(), threads, err)
				}
			}
		}
	}
}

// TestRunStopsBeforeALayer: when the caller has given up, the embeddings are normalised and no layer is computed, whether one
// thread works or several together.
func TestRunStopsBeforeALayer(t *testing.T) {
	t.Parallel()
	tensors := newRandomModel(bert, "", encoder.F32)
	for _, kernel := range encoder.Kernels() {
		for _, threads := range []int{1, 4} {
			e := newEncoder(t, kernel, bert, tensors, encoder.Options{})
			before, after := e.RunStopped(randomInput(bert, 9), threads)
			sum := make([]float64, len(before))
			for i, x := range before {
				sum[i] = float64(x)
			}
			want := reference{bert, tensors, ""}.normalized("embeddings.LayerNorm", matrix{sum}, matrix{make([]float64, len(sum))})
			if d := distance(after, want[0]); d > 1e-5 {
				t.Errorf("%s, %d threads: the distance is %g", kernel, threads, d)
			}
		}
	}
}

func TestEncodeReturnsTheErrorOfItsContext(t *testing.T) {
	t.Parallel()
	e := newEncoder(t, encoder.Kernels()[0], bert, newRandomModel(bert, "", encoder.F32), encoder.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, in := range [][]encoder.Input{nil, {randomInput(bert, 5)}, {randomInput(bert, 100), randomInput(bert, 100)}} {
		if _, err := e.Encode(ctx, in, 2); !errors.Is(err, context.Canceled) {
			t.Errorf("%d texts: %v", len(in), err)
		}
	}
}
