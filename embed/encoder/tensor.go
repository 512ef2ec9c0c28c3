package encoder

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Type is the type of the numbers of a tensor.
type Type string

// The types, with the names of the safetensors format.
const (
	// F32 is an IEEE 754 number of 32 bits.
	F32 Type = "F32"
	// F16 is an IEEE 754 number of 16 bits.
	F16 Type = "F16"
	// BF16 is the upper half of an F32.
	BF16 Type = "BF16"
)

// Tensor is a matrix or a vector of weights as a file has them.
type Tensor struct {
	// Type is the type of the numbers.
	Type Type
	// Shape is the number of elements of each dimension.
	Shape []int
	// Data are the numbers, little endian, row by row.
	Data []byte
}

// Tensors are the tensors of a model by their names, such as "embeddings.word_embeddings.weight".
type Tensors map[string]Tensor

// size returns the number of bytes of a number, or 0 for an unknown type.
func (t Type) size() int {
	switch t {
	case F32:
		return 4
	case F16, BF16:
		return 2
	}
	return 0
}

// check returns an error unless the tensor has a shape and data for it.
func (t Tensor) check(shape ...int) error {
	if t.Type.size() == 0 {
		return fmt.Errorf("the type is %s; F32, F16 and BF16 are supported", t.Type)
	}
	if !slices.Equal(t.Shape, shape) {
		return fmt.Errorf("the shape is %d, want %d", t.Shape, shape)
	}
	bytes := t.Type.size()
	for _, n := range shape {
		bytes *= n // checkSizes bounds all n, so that this does not overflow
	}
	if len(t.Data) != bytes {
		return fmt.Errorf("%d bytes, want %d", len(t.Data), bytes)
	}
	return nil
}

// floats decodes len(out) numbers from a position on.
func (t Tensor) floats(out []float32, from int) {
	data := t.Data[from*t.Type.size():][:len(out)*t.Type.size()]
	switch t.Type {
	case F32:
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
	case BF16:
		for i := range out {
			out[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(data[2*i:])) << 16)
		}
	case F16:
		for i := range out {
			out[i] = halfFloat(binary.LittleEndian.Uint16(data[2*i:]))
		}
	}
}

// all decodes the whole tensor.
func (t Tensor) all() []float32 {
	out := make([]float32, len(t.Data)/t.Type.size())
	t.floats(out, 0)
	return out
}

// halfFloat converts a number of 16 bits: a sign, 5 bits of exponent and 10 of fraction.
func halfFloat(half uint16) float32 {
	sign, exponent, fraction := uint32(half>>15)<<31, uint32(half>>10)&31, uint32(half)&1023
	switch exponent {
	case 0:
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
