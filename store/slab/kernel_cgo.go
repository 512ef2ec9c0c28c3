//go:build cgo

package slab

// #cgo CFLAGS: -O3
// #include "kernel.h"
import "C"
import "unsafe"

// fastQuantized reports whether a scan of quantized rows is faster than one of the vectors.
const fastQuantized = true

// quantizedScores writes to out the scalar product of each quantized row with the query, times the row's scale.
func quantizedScores(quantized []int8, scale []float32, query []int16, out []float32) {
	if len(out) == 0 {
		return
	}
	_, _ = quantized[len(query)*len(out)-1], scale[len(out)-1]
	C.kioku_scores((*C.int8_t)(unsafe.Pointer(&quantized[0])), (*C.float)(unsafe.Pointer(&scale[0])),
		(*C.int16_t)(unsafe.Pointer(&query[0])), C.int(len(query)), C.int(len(out)), (*C.float)(unsafe.Pointer(&out[0])))
}

// roundToSteps writes row / step, rounded, to quantized, and returns the square of the distance between row and quantized *
// step.
func roundToSteps(quantized []int8, row []float32, step float32) float32 {
	_ = quantized[len(row)-1]
	return float32(C.kioku_quantize((*C.float)(unsafe.Pointer(&row[0])), C.int(len(row)), C.float(step), C.float(1/step),
		(*C.int8_t)(unsafe.Pointer(&quantized[0]))))
}
