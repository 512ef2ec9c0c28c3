package atlas

import (
	"cmp"
	"math"
	"slices"
)

// edge connects two rows, with a weight in (0,1].
type edge struct {
	a, b   int32
	weight float32
}

// fuzzyGraph returns the edges of the fuzzy graph of neighbors (McInnes 2018, section 3.1): the weight of the neighbor j of i is
// exp(-(d(i,j) - rho) / sigma), where rho is the distance of the nearest one that is not at the same place, and sigma makes the weights of i sum
// up to log2(k). The weight of an edge is that of either direction: w + w' - w w'.
func fuzzyGraph(near *neighbors) []edge {
	if near.k == 0 {
		return nil
	}
	edges := make([]edge, 0, len(near.ids))
	for i := range len(near.ids) / near.k {
		distances := near.distances[i*near.k : (i+1)*near.k]
		rho := nearestNonzero(distances)
		sigma := smoothing(distances, rho)
		for at, d := range distances {
			j, w := near.ids[i*near.k+at], float32(math.Exp(-max(0, float64(d-rho))/sigma))
			edges = append(edges, edge{min(int32(i), j), max(int32(i), j), w})
		}
	}
	return union(edges)
}

// union returns each edge once.
func union(edges []edge) []edge {
	slices.SortFunc(edges, func(x, y edge) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	out := edges[:0]
	for _, e := range edges {
		if n := len(out); n > 0 && out[n-1].a == e.a && out[n-1].b == e.b {
			out[n-1].weight += e.weight - out[n-1].weight*e.weight
			continue
		}
		out = append(out, e)
	}
	return out
}

// nearestNonzero returns the smallest distance above 0, 0 if all are 0.
func nearestNonzero(distances []float32) float32 {
	for _, d := range distances {
		if d > 0 {
			return d
		}
	}
	return 0
}

// smoothing returns sigma of fuzzyGraph, by bisection.
func smoothing(distances []float32, rho float32) float64 {
	target := math.Log2(float64(len(distances)) + 1)
	low, high, sigma := 0.0, math.Inf(1), 1.0
	mean := 0.0
	for _, d := range distances {
		mean += float64(d) / float64(len(distances))
	}
	for range 40 {
		sum := 0.0
		for _, d := range distances {
			sum += math.Exp(-max(0, float64(d-rho)) / sigma)
		}
		switch {
		case math.Abs(sum-target) < 1e-4:
			return max(sigma, 1e-3*mean, 1e-12)
		case sum > target:
			high = sigma
		default:
			low = sigma
		}
		if math.IsInf(high, 1) {
			sigma *= 2
		} else {
			sigma = (low + high) / 2
		}
	}
	return max(sigma, 1e-3*mean, 1e-12)
}
