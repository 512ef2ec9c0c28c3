package speed

import (
	"math"
	"slices"
)

// Growth describes how the cost of a sized bench grows with the size.
type Growth struct {
	// Bench is the name of the bench.
	Bench string
	// Unit of the costs, "ms" or "MB".
	Unit string
	// Points in rising order of their size, at least one.
	Points []Point
	// Slope of the least squares line through the logarithms of the points: 0 if the cost does not depend on the size, 1
	// if twice the size costs twice as much. NaN for fewer than two points.
	Slope float64
}

// Point is the cost of a bench at one size.
type Point struct {
	// Size in chunks or vectors.
	Size int
	// Cost in the unit of the bench, above 0.
	Cost float64
}

// GrowthOf returns the growth of each sized bench, in the order of the results. It skips costs of 0, which have no
// logarithm.
func GrowthOf(results []Result) []Growth {
	var all []Growth
	for _, r := range results {
		if r.Size == 0 || r.Row.Ours <= 0 {
			continue
		}
		i := slices.IndexFunc(all, func(g Growth) bool { return g.Bench == r.Bench })
		if i < 0 {
			i = len(all)
			all = append(all, Growth{Bench: r.Bench, Unit: r.Row.Unit})
		}
		all[i].Points = append(all[i].Points, Point{r.Size, r.Row.Ours})
	}
	for i, g := range all {
		slices.SortFunc(g.Points, func(p, q Point) int { return p.Size - q.Size })
		all[i].Slope = slope(g.Points)
	}
	return all
}

// slope returns the slope of the least squares line through the logarithms of points, NaN for fewer than two.
func slope(points []Point) float64 {
	var x, y, xx, xy float64
	n := float64(len(points))
	for _, p := range points {
		lx, ly := math.Log(float64(p.Size)), math.Log(p.Cost)
		x, y, xx, xy = x+lx, y+ly, xx+lx*lx, xy+lx*ly
	}
	if len(points) < 2 {
		return math.NaN()
	}
	return (n*xy - x*y) / (n*xx - x*x)
}
