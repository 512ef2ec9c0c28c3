//go:build !cgo

package vector

import "math"

// fastCodes says whether codes are read faster than the vectors.
const fastCodes = false

// scores writes the scalar product of each row of codes with the query, times the row's scale, to out.
func scores(codes []int8, scale []float32, query []int16, out []float32) {
	for r := range out {
		row := codes[r*len(query):][:len(query)]
		var sum int32
		for i, q := range query {
			sum += int32(row[i]) * int32(q)
		}
		out[r] = float32(sum) * scale[r]
	}
}

// round writes the codes of a row, in steps, and returns the square of the distance of what they stand for from the row.
func round(codes []int8, row []float32, step float32) float32 {
	var sum float32
	for i, x := range row {
		c := float32(math.Round(float64(x / step)))
		codes[i] = int8(c)
		sum += (x - c*step) * (x - c*step)
	}
	return sum
}
