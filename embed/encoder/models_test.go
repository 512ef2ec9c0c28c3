package encoder_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"kioku/embed/encoder"
)

// modelsFolder returns the folder of real models, or skips the test.
func modelsFolder(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("KIOKU_MODELS")
	if dir == "" {
		tb.Skip("KIOKU_MODELS names no folder of models")
	}
	return dir
}

// openModel returns the encoder of a folder with config.json and model.safetensors.
func openModel(tb testing.TB, dir string, options encoder.Options) *encoder.Encoder {
	tb.Helper()
	var config encoder.Config
	readJSON(tb, filepath.Join(dir, "config.json"), &config)
	file, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		tb.Fatal(err)
	}
	data := file[8+binary.LittleEndian.Uint64(file):]
	var header map[string]struct {
		Type  encoder.Type `json:"dtype"`
		Shape []int        `json:"shape"`
		Range [2]int       `json:"data_offsets"`
	}
	if err := json.Unmarshal(file[8:len(file)-len(data)], &header); err != nil {
		tb.Fatal(err)
	}
	tensors := encoder.Tensors{}
	for name, t := range header {
		tensors[name] = encoder.Tensor{Type: t.Type, Shape: t.Shape, Data: data[t.Range[0]:t.Range[1]]}
	}
	e, err := encoder.New(config, tensors, options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { e.Close() })
	return e
}

// readJSON decodes a file.
func readJSON(tb testing.TB, path string, into any) {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
}

// golden contains the vectors that another runtime computes.
type golden struct {
	Models map[string]struct {
		Pooling string `json:"pooling"`
		Query   struct {
			IDs    [][]int32   `json:"token_ids"`
			First8 [][]float64 `json:"first_8"`
		} `json:"query"`
	} `json:"models"`
}

func TestEncodeEqualsAnotherRuntime(t *testing.T) {
	dir := modelsFolder(t)
	var want golden
	readJSON(t, os.Getenv("KIOKU_GOLDEN"), &want)
	for _, name := range []string{"all-minilm-l6-v2", "bge-small-en-v15", "e5-small-v2"} {
		t.Run(name, func(t *testing.T) {
			model := want.Models[name]
			head := encoder.Mean
			if model.Pooling == "cls" {
				head = encoder.CLS
			}
			e := openModel(t, filepath.Join(dir, name), encoder.Options{Head: head})
			var inputs []encoder.Input
			for _, ids := range model.Query.IDs {
				if !slices.Contains(ids, -1) { // in the place of the ids that the file leaves out
					inputs = append(inputs, encoder.Input{IDs: ids})
				}
			}
			vectors, err := e.Encode(t.Context(), inputs, runtime.NumCPU())
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range vectors {
				for j, x := range model.Query.First8[i] {
					if math.Abs(float64(v[j])-x) > 2e-5 {
						t.Errorf("text %d, number %d: %.6f, want %.6f", i, j, v[j], x)
					}
				}
			}
		})
	}
}
