//go:build cgo

package vector

// #cgo CFLAGS: -O3
// #include "kernel.h"
import "C"
import "unsafe"

// fastCodes says whether codes are read faster than the vectors.
const fastCodes = true

// scores writes the scalar product of each row of codes with the query, times the row's scale, to out.
func scores(codes []int8, scale []float32, query []int16, out []float32) {
	if len(out) == 0 {
		return
	}
	_, _ = codes[len(query)*len(out)-1], scale[len(out)-1]
	C.kioku_scores((*C.int8_t)(unsafe.Pointer(&codes[0])), (*C.float)(unsafe.Pointer(&scale[0])),
		(*C.int16_t)(unsafe.Pointer(&query[0])), C.int(len(query)), C.int(len(out)), (*C.float)(unsafe.Pointer(&out[0])))
}

// round writes the codes of a row, in steps, and returns the square of the distance of what they stand for from the row.
func round(codes []int8, row []float32, step float32) float32 {
	_ = codes[len(row)-1]
	return float32(C.kioku_encode((*C.float)(unsafe.Pointer(&row[0])), C.int(len(row)), C.float(step), C.float(1/step),
		(*C.int8_t)(unsafe.Pointer(&codes[0]))))
}
