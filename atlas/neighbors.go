package atlas

import (
	"context"
	"math"

	"github.com/viterin/vek/vek32"
)

// tileRows is the number of rows that are compared with all others at a time, while they are in the cache of the processor.
const tileRows = 64

// neighbors are the nearest neighbors of each row of a matrix.
type neighbors struct {
	// k is the number of neighbors of a row.
	k int
	// ids are the neighbors of row i at [i*k, (i+1)*k), the nearest first, and distances their Euclidean distances.
	ids       []int32
	distances []float32
}

// nearestNeighbors returns the k nearest other rows of each row, all others if there are fewer. It compares all pairs.
func nearestNeighbors(ctx context.Context, m *matrix, k int, progress func(float64)) (*neighbors, error) {
	n := m.rows()
	k = max(0, min(k, n-1))
	near := &neighbors{k, make([]int32, n*k), make([]float32, n*k)}
	for i := range near.distances {
		near.distances[i] = math.MaxFloat32
	}
	for from := 0; from < n; from += tileRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(from+tileRows, n)
		for j := range to {
			for i := max(from, j+1); i < to; i++ {
				d := vek32.Distance(m.row(i), m.row(j))
				near.offer(i, j, d)
				near.offer(j, i, d)
			}
		}
		part := float64(to) / float64(n)
		progress(part * part) // of the pairs
	}
	return near, nil
}

// offer makes j a neighbor of i if it is nearer than the last one.
func (n *neighbors) offer(i, j int, d float32) {
	ids, distances := n.ids[i*n.k:(i+1)*n.k], n.distances[i*n.k:(i+1)*n.k]
	last := n.k - 1
	if last < 0 || d >= distances[last] {
		return
	}
	for last > 0 && distances[last-1] > d {
		ids[last], distances[last] = ids[last-1], distances[last-1]
		last--
	}
	ids[last], distances[last] = int32(j), d
}
