package encoder

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// Type is the type of the elements of a tensor, as the format spells it.
type Type string

// The types that are used. The others are known only by their size.
const (
	// F64 and F32 are IEEE 754 numbers of 64 and of 32 bits.
	F64 Type = "F64"
	F32 Type = "F32"
	// F16 is an IEEE 754 number of 16 bits.
	F16 Type = "F16"
	// BF16 is the upper half of an F32.
	BF16 Type = "BF16"
	// I64, I32 and I8 are whole numbers with a sign, U8 are those without.
	I64 Type = "I64"
	I32 Type = "I32"
	I8  Type = "I8"
	U8  Type = "U8"
)

// size returns the number of bytes of an element, 0 for an unknown type.
func (t Type) size() int {
	switch t {
	case I64, F64, "U64":
		return 8
	case F32, I32, "U32":
		return 4
	case F16, BF16, "I16", "U16":
		return 2
	case I8, U8, "BOOL", "F8_E4M3", "F8_E5M2":
		return 1
	}
	return 0
}

// Tensors are the tensors of a model by their names, such as "embeddings.word_embeddings.weight".
type Tensors map[string]Tensor

// Tensor is a matrix or a vector of weights as a file has them.
type Tensor struct {
	// Type is the type of its elements.
	Type Type
	// Shape is the number of elements in each dimension; the last one is contiguous.
	Shape []int
	// Data is the elements, little endian, to be read only, as long as the file is open.
	Data []byte
}

// check returns an error unless the tensor has a shape, data for it, and a type that a transformer may have.
func (t Tensor) check(shape ...int) error {
	if t.Type != F32 && t.Type != F16 && t.Type != BF16 {
		return fmt.Errorf("the type is %s; F32, F16 and BF16 are supported", t.Type)
	}
	if !slices.Equal(t.Shape, shape) {
		return fmt.Errorf("the shape is %d, want %d", t.Shape, shape)
	}
	if bytes := t.Type.size() * t.Len(); len(t.Data) != bytes { // checkSizes bounds the shape, so that this does not overflow
		return fmt.Errorf("%d bytes, want %d", len(t.Data), bytes)
	}
	return nil
}

// Len returns the number of elements.
func (t Tensor) Len() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Float32s returns the elements of a tensor. The slice is the mapped memory of the file itself if its elements are float32 and
// aligned, and a copy otherwise; so it is to be read only, as long as the file is open.
func (t Tensor) Float32s() ([]float32, error) {
	if view := t.view(); view != nil {
		return view, nil
	}
	values := make([]float32, t.Len())
	return values, t.Decode(values, 0)
}

// view returns the mapped elements as they are, nil if they have to be converted.
func (t Tensor) view() []float32 {
	if t.Type != F32 || len(t.Data) == 0 || !littleEndian {
		return nil
	}
	start := unsafe.Pointer(unsafe.SliceData(t.Data))
	if uintptr(start)%unsafe.Alignof(float32(0)) != 0 {
		return nil
	}
	return unsafe.Slice((*float32)(start), len(t.Data)/4)
}

// littleEndian reports whether the machine stores numbers as the format does.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Decode converts len(dst) elements to float32, beginning with the element at index from. The caller keeps within the tensor.
func (t Tensor) Decode(dst []float32, from int) error {
	src := t.Data[from*t.Type.size():]
	switch t.Type {
	case F64:
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])))
		}
	case F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case F16:
		for i := range dst {
			dst[i] = halfFloat(binary.LittleEndian.Uint16(src[2*i:]))
		}
	case BF16:
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
		}
	case I8:
		for i := range dst {
			dst[i] = float32(int8(src[i]))
		}
	case U8:
		for i := range dst {
			dst[i] = float32(src[i])
		}
	default:
		return fmt.Errorf("its elements are of type %s: use a model of F32, F16, BF16 or I8", t.Type)
	}
	return nil
}

// Ints returns the elements of a tensor of whole numbers.
func (t Tensor) Ints() ([]int, error) {
	values := make([]int, t.Len())
	for i := range values {
		switch t.Type {
		case I64:
			values[i] = int(int64(binary.LittleEndian.Uint64(t.Data[8*i:])))
		case I32:
			values[i] = int(int32(binary.LittleEndian.Uint32(t.Data[4*i:])))
		default:
			return nil, fmt.Errorf("its elements are of type %s, not whole numbers", t.Type)
		}
	}
	return values, nil
}

// halfFloat converts an IEEE 754 half-precision number.
func halfFloat(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0: // zero or a number below the normal ones
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)/(1<<24)))
	case 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
