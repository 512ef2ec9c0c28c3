//go:build !cgo

package slab

import "math"

// fastQuantized reports whether a scan of quantized rows is faster than one of the vectors.
const fastQuantized = false

// quantizedScores writes to out the scalar product of each quantized row with the query, times the row's scale.
func quantizedScores(quantized []int8, scale []float32, query []int16, out []float32) {
	for r := range out {
		row := quantized[r*len(query):][:len(query)]
		var sum int32
		for i, q := range query {
			sum += int32(row[i]) * int32(q)
		}
		out[r] = float32(sum) * scale[r]
	}
}

// roundToSteps writes row / step, rounded, to quantized, and returns the square of the distance between row and quantized *
// step.
func roundToSteps(quantized []int8, row []float32, step float32) float32 {
	var sum float32
	for i, x := range row {
		c := float32(math.Round(float64(x / step)))
		quantized[i] = int8(c)
		sum += (x - c*step) * (x - c*step)
	}
	return sum
}
