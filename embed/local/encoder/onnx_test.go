package encoder_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"kioku/embed/local/encoder"
)

// onnx is a process of testdata/onnx.py.
type onnx struct {
	tb     testing.TB
	in     *json.Encoder
	out    *bufio.Reader
	tokens []int32 // of the documents of Kioku
	at     int     // next token that was not yet used
}

// order is what the process is told to compute.
type order struct {
	File    string    `json:"file"`
	Threads int       `json:"threads"`
	IDs     [][]int32 `json:"ids"`
	Batch   int       `json:"batch"`
	Pooling string    `json:"pooling"`
}

// startONNX starts ONNX Runtime with a model.
func startONNX(tb testing.TB, dir string) *onnx {
	tb.Helper()
	docs, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(docs) == 0 {
		tb.Fatal("no documents", err)
	}
	python := filepath.Join(filepath.Dir(dir), "python", "bin", "python")
	for _, file := range []string{python, filepath.Join(dir, "model.onnx")} {
		if _, err := os.Stat(file); err != nil {
			tb.Skip("there is nothing to compare with:", err)
		}
	}
	cmd := exec.CommandContext(tb.Context(), python, append([]string{"testdata/onnx.py", dir}, docs...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	o := &onnx{tb: tb, in: json.NewEncoder(in), out: bufio.NewReader(out)}
	o.answer(&o.tokens)
	return o
}

// answer decodes a line of the process.
func (o *onnx) answer(into any) {
	o.tb.Helper()
	line, err := o.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, into)
	}
	if err != nil {
		o.tb.Fatal("ONNX Runtime:", err)
	}
}

// cost is how long something took, and how long all cores together worked for it.
type cost struct {
	Seconds   float64 `json:"seconds"`
	Processor float64 `json:"processor"`
}

// compute returns the vectors of an order and its cost.
func (o *onnx) compute(work order) ([][]float32, cost) {
	o.tb.Helper()
	if err := o.in.Encode(work); err != nil {
		o.tb.Fatal(err)
	}
	var result struct {
		cost
		Vectors [][]float32 `json:"vectors"`
	}
	o.answer(&result)
	return result.Vectors, result.cost
}

// texts returns the ids of a number of texts of the documents, each of as many tokens.
func (o *onnx) texts(n, tokens int) [][]int32 {
	const cls, sep = 101, 102
	texts := make([][]int32, n)
	for i := range texts {
		if o.at+tokens > len(o.tokens) {
			o.at = 0
		}
		texts[i] = append(append([]int32{cls}, o.tokens[o.at:o.at+tokens-2]...), sep)
		o.at += tokens - 2
	}
	return texts
}

// inputs returns texts as the encoder takes them.
func inputs(texts [][]int32) []encoder.Input {
	in := make([]encoder.Input, len(texts))
	for i, ids := range texts {
		in[i].IDs = ids
	}
	return in
}

// cosine returns the scalar product of two unit vectors.
func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// TestEncodeEqualsAnotherRuntime compares vectors of texts of 5 to 512 tokens: the cosine is at least .9999 in 32 bits and .98 in 8.
func TestEncodeEqualsAnotherRuntime(t *testing.T) {
	dir := modelsFolder(t)
	for name, head := range map[string]encoder.Head{"all-minilm-l6-v2": encoder.Mean, "bge-small-en-v15": encoder.CLS, "e5-small-v2": encoder.Mean} {
		t.Run(name, func(t *testing.T) {
			o := startONNX(t, filepath.Join(dir, name))
			full := openModel(t, filepath.Join(dir, name), encoder.Options{Head: head})
			small := openModel(t, filepath.Join(dir, name), encoder.Options{Head: head, Int8: true})
			lowest, lowest8 := 1.0, 1.0
			for _, tokens := range []int{5, 20, 77, 256, 512} {
				texts := o.texts(4, tokens)
				want, _ := o.compute(order{"model.onnx", runtime.NumCPU(), texts, 4, []string{"mean", "cls"}[head]})
				vectors, vectors8 := encode(t, full, texts, 2), encode(t, small, texts, 2)
				for i := range want {
					lowest = min(lowest, cosine(want[i], vectors[i]))
					lowest8 = min(lowest8, cosine(want[i], vectors8[i]))
				}
			}
			t.Logf("lowest cosine: %s %.7f, %s %.4f", full.Kernel(), lowest, small.Kernel(), lowest8)
			if lowest < .9999 || lowest8 < .98 {
				t.Error("the vectors differ too much")
			}
		})
	}
}

// encode returns the vectors of texts.
func encode(tb testing.TB, e *encoder.Encoder, texts [][]int32, threads int) [][]float32 {
	tb.Helper()
	vectors, err := e.Encode(tb.Context(), inputs(texts), threads)
	if err != nil {
		tb.Fatal(err)
	}
	return vectors
}

// measure returns the cost of the work of an order with an encoder.
func measure(tb testing.TB, e *encoder.Encoder, work order) cost {
	tb.Helper()
	start, used := time.Now(), processorTime(tb)
	for batch := range slices.Chunk(work.IDs, work.Batch) {
		encode(tb, e, batch, work.Threads)
	}
	return cost{time.Since(start).Seconds(), processorTime(tb) - used}
}

// processorTime returns how many seconds all cores have worked for this process.
func processorTime(tb testing.TB) float64 {
	tb.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}

// BenchmarkBesideONNXRuntime measures texts a second of the encoder and of ONNX Runtime in the same run, one after the other, and the
// ratio. With all cores the time that passes counts; with one the time of the processor, which other programs disturb less.
func BenchmarkBesideONNXRuntime(b *testing.B) {
	dir := filepath.Join(modelsFolder(b), "all-minilm-l6-v2")
	o := startONNX(b, dir)
	for _, weights := range []string{"model.onnx", "model_int8.onnx"} {
		if _, err := os.Stat(filepath.Join(dir, weights)); err != nil {
			b.Log("there is nothing to compare with:", err)
			continue
		}
		e := openModel(b, dir, encoder.Options{Int8: weights != "model.onnx"})
		for _, of := range []struct{ texts, tokens, batch int }{{8, 256, 8}, {24, 80, 24}, {16, 20, 1}} {
			for _, threads := range []int{1, runtime.NumCPU()} {
				b.Run(fmt.Sprintf("%s/%d tokens/%d threads", e.Kernel(), of.tokens, threads), func(b *testing.B) {
					compareSpeed(b, o, e, order{weights, threads, o.texts(of.texts, of.tokens), of.batch, "mean"})
				})
			}
		}
	}
}

// compareSpeed reports how fast an encoder and ONNX Runtime do the work of an order.
func compareSpeed(b *testing.B, o *onnx, e *encoder.Encoder, work order) {
	var ours, theirs cost
	for b.Loop() {
		_, slow := o.compute(work)
		fast := measure(b, e, work)
		ours = cost{ours.Seconds + fast.Seconds, ours.Processor + fast.Processor}
		theirs = cost{theirs.Seconds + slow.Seconds, theirs.Processor + slow.Processor}
	}
	fast, slow := ours.Seconds, theirs.Seconds
	if work.Threads == 1 {
		fast, slow = ours.Processor, theirs.Processor
	}
	texts := float64(len(work.IDs) * b.N)
	b.ReportMetric(0, "ns/op") // means nothing: it has both
	b.ReportMetric(texts/fast, "texts/s")
	b.ReportMetric(1000*fast/texts, "ms/text")
	b.ReportMetric(texts/slow, "onnx-texts/s")
	b.ReportMetric(slow/fast, "ratio")
}
