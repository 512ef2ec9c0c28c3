package encoder_test

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"kioku/embed/local/encoder"
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
