package projection

import (
	"math"
	"slices"
)

// margin is the part of the unit square that stays free on each side.
const margin = 0.02

// fillSquare moves and scales points so that they fill the unit square in one direction and are in its middle in the other.
func fillSquare(points []Point) {
	low, high := extent(points)
	side := max(high.X-low.X, high.Y-low.Y)
	if side <= 0 {
		side = 1
	}
	f := (1 - 2*margin) / side
	middle := Point{(low.X + high.X) / 2, (low.Y + high.Y) / 2}
	for i, p := range points {
		points[i] = Point{inUnit(0.5 + (p.X-middle.X)*f), inUnit(0.5 + (p.Y-middle.Y)*f)}
	}
}

// nearPart is the part of the points that drawIn leaves where they are.
const nearPart = 0.9

// drawIn brings islands that drifted far off closer, so that the rest has room: beyond the radius around the middle in which nine tenths of
// the points are, distances grow with the logarithm only. What is farther stays farther.
func drawIn(points []Point) {
	var c center
	for _, p := range points {
		c.add(p)
	}
	mean := c.mean()
	radii := make([]float64, len(points))
	for i, p := range points {
		radii[i] = math.Hypot(float64(p.X)-mean[0], float64(p.Y)-mean[1])
	}
	sorted := slices.Clone(radii)
	slices.Sort(sorted)
	near := sorted[int(nearPart*float64(len(sorted)-1))]
	if near <= 0 {
		return
	}
	for i, r := range radii {
		if r > near {
			f := near * (1 + math.Log(r/near)/2) / r
			points[i] = Point{float32(mean[0] + f*(float64(points[i].X)-mean[0])), float32(mean[1] + f*(float64(points[i].Y)-mean[1]))}
		}
	}
}

// inUnit returns x within [0,1].
func inUnit(x float32) float32 { return max(0, min(1, x)) }

// extent returns the corners of the smallest box around points.
func extent(points []Point) (low, high Point) {
	low, high = points[0], points[0]
	for _, p := range points {
		low.X, low.Y = min(low.X, p.X), min(low.Y, p.Y)
		high.X, high.Y = max(high.X, p.X), max(high.Y, p.Y)
	}
	return low, high
}

// align turns, mirrors, scales and moves points so that the known ones are as close as possible to their places before (Procrustes analysis:
// Gower 1975; in the plane the best rotation has a closed form). Then it makes them fit into the unit square.
func align(points []Point, before *Start) {
	var from, to center
	for i, known := range before.Known {
		if known {
			from.add(points[i])
			to.add(before.Points[i])
		}
	}
	plain := fitRotation(points, before, from.mean(), to.mean(), 1)
	mirrored := fitRotation(points, before, from.mean(), to.mean(), -1)
	best := plain
	if mirrored.fit > plain.fit {
		best = mirrored
	}
	best.apply(points)
	if low, high := extent(points); low.X < 0 || low.Y < 0 || high.X > 1 || high.Y > 1 {
		fillSquare(points)
	}
}

// center is a mean of points.
type center struct{ x, y, n float64 }

func (c *center) add(p Point) { c.x, c.y, c.n = c.x+float64(p.X), c.y+float64(p.Y), c.n+1 }

func (c *center) mean() [2]float64 { return [2]float64{c.x / c.n, c.y / c.n} }

// similarity is a rotation, after a mirroring if mirror is -1, with a scale, between two centers.
type similarity struct {
	from, to [2]float64
	mirror   float64
	// cos and sin include the scale.
	cos, sin float64
	// fit is larger for a better one.
	fit float64
}

// fitRotation returns the best similarity with or without mirroring.
func fitRotation(points []Point, before *Start, from, to [2]float64, mirror float64) similarity {
	var cross, along, square float64
	for i, known := range before.Known {
		if !known {
			continue
		}
		px, py := float64(points[i].X)-from[0], mirror*(float64(points[i].Y)-from[1])
		qx, qy := float64(before.Points[i].X)-to[0], float64(before.Points[i].Y)-to[1]
		along += px*qx + py*qy
		cross += px*qy - py*qx
		square += px*px + py*py
	}
	s := similarity{from: from, to: to, mirror: mirror, cos: 1.0 / (2 * startExtent), fit: math.Hypot(along, cross)}
	if square > 0 && s.fit > 0 {
		s.cos, s.sin = along/square, cross/square
	}
	return s
}

// apply moves points.
func (s similarity) apply(points []Point) {
	for i, p := range points {
		x, y := float64(p.X)-s.from[0], s.mirror*(float64(p.Y)-s.from[1])
		points[i] = Point{float32(s.to[0] + s.cos*x - s.sin*y), float32(s.to[1] + s.sin*x + s.cos*y)}
	}
}
