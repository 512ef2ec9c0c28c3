package local_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// tensor is a tensor to be written.
type tensor struct {
	// Name is its name in the file.
	Name string
	// Type is F32, F16, BF16, I32 or I8.
	Type string
	// Shape is the number of elements in each dimension.
	Shape []int
	// Values are its elements; I32 cuts off their fractions, I8 rounds them.
	Values []float32
}

// writeTensors writes a .safetensors file, in the order of tensors.
func writeTensors(tb testing.TB, path string, tensors ...tensor) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, safetensorsOf(tensors...), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// safetensorsOf returns the content of a .safetensors file.
func safetensorsOf(tensors ...tensor) []byte {
	var data []byte
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	for _, t := range tensors {
		start := len(data)
		for _, x := range t.Values {
			data = appendNumber(data, t.Type, x)
		}
		header[t.Name] = map[string]any{"dtype": t.Type, "shape": t.Shape, "data_offsets": []int{start, len(data)}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	text = append(text, bytes.Repeat([]byte(" "), 7-(len(text)+7)%8)...) // so that the data is aligned
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), data...)
}

// appendNumber appends a number of a type.
func appendNumber(data []byte, dtype string, x float32) []byte {
	switch dtype {
	case "F16":
		return binary.LittleEndian.AppendUint16(data, half(x))
	case "BF16":
		return binary.LittleEndian.AppendUint16(data, uint16(math.Float32bits(x)>>16))
	case "I32":
		return binary.LittleEndian.AppendUint32(data, uint32(int32(x)))
	case "I8":
		return append(data, byte(int8(math.Round(float64(x)))))
	}
	return binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
}

// half converts a number to 16 bits, towards zero; too small ones become 0.
func half(x float32) uint16 {
	bits := math.Float32bits(x)
	sign, exponent := uint16(bits>>16)&0x8000, int(bits>>23&255)-127+15
	if exponent <= 0 {
		return sign
	}
	if exponent >= 31 {
		return sign | 0x7c00
	}
	return sign | uint16(exponent)<<10 | uint16(bits>>13)&1023
}
