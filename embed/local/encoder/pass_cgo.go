//go:build cgo

package encoder

// #cgo CFLAGS: -O3
// #cgo LDFLAGS: -lm
// #include "encoder.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// native is the forward pass in C.
type native struct {
	kernel *C.KiokuKernel
	model  *C.KiokuModel
	int8   bool
}

// kernels returns the kernels that this processor can run, the fastest first.
func kernels() []*C.KiokuKernel {
	var usable []*C.KiokuKernel
	for i := C.int(0); ; i++ {
		k := C.kioku_kernel(i)
		if k == nil {
			return usable
		}
		if C.kioku_kernel_usable(k) != 0 {
			usable = append(usable, k)
		}
	}
}

// newPass returns the forward pass in C with the fastest kernel.
func newPass(config Config, table embeddings, layers []layer, int8 bool) (pass, error) {
	return newNative(kernels()[0], config, table, layers, int8)
}

// newNative returns the forward pass with a kernel.
func newNative(kernel *C.KiokuKernel, config Config, table embeddings, layers []layer, int8 bool) (pass, error) {
	n := &native{kernel: kernel, int8: int8 && kernel.multiply_int8 != nil}
	integers := C.int(0)
	if n.int8 {
		integers = 1
	}
	n.model = C.kioku_model_new(kernel, C.int(len(layers)), C.int(config.Hidden), C.int(config.Heads), C.int(config.Inner),
		cActivations[config.Activation], C.float(config.Epsilon), integers)
	if n.model == nil {
		return nil, errors.New("not enough memory for the weights of the model")
	}
	n.setNorm(-1, 0, table.norm)
	for i, l := range layers {
		if err := n.setLayer(i, l, config); err != nil {
			n.close()
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return n, nil
}

// setLayer packs the weights of a layer.
func (n *native) setLayer(i int, l layer, config Config) error {
	n.setNorm(i, C.KIOKU_ATTENTION_NORM, l.attention)
	n.setNorm(i, C.KIOKU_OUTPUT_NORM, l.output)
	scale := float32(1 / math.Sqrt(float64(config.Hidden/config.Heads))) // of the scores of attention
	return errors.Join(
		n.setLinear(i, C.KIOKU_QKV, 0, l.query, scale),
		n.setLinear(i, C.KIOKU_QKV, config.Hidden, l.key, 1),
		n.setLinear(i, C.KIOKU_QKV, 2*config.Hidden, l.value, 1),
		n.setLinear(i, C.KIOKU_ATTENDED, 0, l.attended, 1),
		n.setLinear(i, C.KIOKU_INNER, 0, l.inner, 1),
		n.setLinear(i, C.KIOKU_OUTER, 0, l.outer, 1))
}

// cActivations are the names of the activation functions in C.
var cActivations = map[string]C.int{
	"gelu": C.KIOKU_GELU, "gelu_new": C.KIOKU_GELU_TANH, "gelu_pytorch_tanh": C.KIOKU_GELU_TANH, "relu": C.KIOKU_RELU,
}

// setNorm copies a normalisation; layer -1 is the one of the embeddings.
func (n *native) setNorm(layer, which int, v norm) {
	C.kioku_set_norm(n.model, C.int(layer), C.int(which), floats(v.scale), floats(v.shift))
}

// setLinear packs a matrix times a number as the outputs of a matrix of the layer from one on. Go reads the file, which may be
// mapped memory that another program cuts off: a fault in C would end the process.
func (n *native) setLinear(layer, which, from int, l linear, scale float32) error {
	const atOnce = 32
	memory := make([]float32, atOnce*l.cols)
	for i := 0; i < l.rows; i += atOnce {
		rows := min(atOnce, l.rows-i)
		weights := memory[:rows*l.cols]
		_ = l.weight.Decode(weights, i*l.cols) // New has checked its type
		if C.kioku_set_outputs(n.model, C.int(layer), C.int(which), C.int(from+i), C.int(rows), floats(weights), floats(l.bias[i:]), C.float(scale)) == 0 {
			return ErrNotFinite
		}
	}
	return nil
}

func (n *native) name() string {
	name := C.GoString(n.kernel.name)
	if n.int8 {
		name += " int8"
	}
	return name
}

func (n *native) stride() int { return int(C.kioku_stride(n.model)) }

func (n *native) arena(rows, longest, threads int) int {
	return int(C.kioku_arena(n.model, C.int(rows), C.int(longest), C.int(threads)))
}

func (n *native) run(b *batch, threads int) {
	team := new(C.KiokuTeam)
	member := func(i int) {
		C.kioku_run(n.model, floats(b.arena), (*C.int32_t)(unsafe.Pointer(&b.starts[0])), C.int(len(b.starts)-1), C.int(b.longest),
			C.int(i), C.int(threads), team, (*C.int32_t)(unsafe.Pointer(b.stop)))
	}
	var others sync.WaitGroup
	for i := 1; i < threads; i++ {
		others.Go(func() { member(i) })
	}
	member(0)
	others.Wait()
}

func (n *native) close() { C.kioku_model_free(n.model) }

// floats returns a pointer to the numbers of v, which is not empty.
func floats(v []float32) *C.float { return (*C.float)(unsafe.Pointer(&v[0])) }
