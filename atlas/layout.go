package atlas

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// seed of all random numbers, so that the same index has the same map.
const seed = 14

// neighborCount is the number of neighbors that a point is kept near to.
const neighborCount = 15

// point is a place in the plane; X and Y are in [0,1] in a map.
type point struct{ X, Y float32 }

const (
	// negatives is the number of random points that push a point away for each neighbor that pulls it.
	negatives = 5
	// spread is a of the similarity 1/(1 + a d²) of two points at the distance d.
	spread = 1.6
	// startExtent is half the width of the layout at its start.
	startExtent = 10
	// maxMove is the maximum of a gradient.
	maxMove = 4
	// pushEpsilon keeps the push of near points finite.
	pushEpsilon = 1e-3
)

// descent is a stochastic gradient descent of the layout. Near points attract each other along the edges, and random pairs push each
// other apart (McInnes 2018, section 3.2). The similarity in the plane is that of LargeVis and t-SNE, UMAP's with b = 1 (Tang et al.: Visualizing
// large-scale and high-dimensional data, WWW 2016), which needs no power.
type descent struct {
	points []point
	edges  []edge
	// due is the epoch in which an edge is used next, and every how many epochs it is.
	due, every []float32
	random     *rand.PCG
}

// newDescent returns the descent of points along edges.
func newDescent(points []point, edges []edge, epochs int) *descent {
	d := &descent{points: points, random: rand.NewPCG(seed, 3)}
	heaviest := float32(0)
	for _, e := range edges {
		heaviest = max(heaviest, e.weight)
	}
	for _, e := range edges {
		// An edge that would not be used once is left out.
		if e.weight*float32(epochs) >= heaviest {
			d.edges = append(d.edges, e)
			d.every = append(d.every, heaviest/e.weight)
			d.due = append(d.due, heaviest/e.weight)
		}
	}
	return d
}

// run runs epochs with a learning rate that falls from rate to 0. It ends early at a time, and with ctx, whose error it returns.
func (d *descent) run(ctx context.Context, epochs int, rate float32, end time.Time, progress func(float64)) error {
	for epoch := range epochs {
		if ctx.Err() != nil || time.Now().After(end) {
			return ctx.Err()
		}
		d.runEpoch(float32(epoch+1), rate*(1-float32(epoch)/float32(epochs)))
		progress(float64(epoch+1) / float64(epochs))
	}
	return nil
}

// runEpoch uses each edge that is due.
func (d *descent) runEpoch(epoch, rate float32) {
	n := uint64(len(d.points))
	for i, e := range d.edges {
		if d.due[i] > epoch {
			continue
		}
		d.due[i] += d.every[i]
		a, b := &d.points[e.a], &d.points[e.b]
		dx, dy := a.X-b.X, a.Y-b.Y
		square := dx*dx + dy*dy
		pull := -2 * spread / (1 + spread*square)
		mx, my := rate*bound(pull*dx), rate*bound(pull*dy)
		a.X, a.Y, b.X, b.Y = a.X+mx, a.Y+my, b.X-mx, b.Y-my
		for range negatives {
			r := d.random.Uint64()
			d.push(a, &d.points[(r>>32)*n>>32], rate, uint32(r))
		}
	}
}

// push moves a away from b. Two points at one place are moved apart in the direction of dice.
func (d *descent) push(a, b *point, rate float32, dice uint32) {
	if a == b {
		return
	}
	dx, dy := a.X-b.X, a.Y-b.Y
	square := dx*dx + dy*dy
	if square == 0 {
		angle := float64(dice) / (1 << 32) * 2 * math.Pi
		a.X, a.Y = a.X+rate*float32(math.Cos(angle))/10, a.Y+rate*float32(math.Sin(angle))/10
		return
	}
	force := 2 / ((pushEpsilon + square) * (1 + spread*square))
	a.X += rate * bound(force*dx)
	a.Y += rate * bound(force*dy)
}

// bound limits a gradient.
func bound(g float32) float32 { return max(-maxMove, min(maxMove, g)) }

// layOut returns a place in the unit square for each vector. Vectors that are alike are near each other; distances between
// clusters and the axes mean nothing. If most vectors have a place before, these stay about where they were. It ends with ctx, and
// after the budget with the layout as it is then.
func layOut(ctx context.Context, vectors *matrix, before []*point, budget time.Duration, report func(string, float64)) ([]point, error) {
	end := time.Now().Add(budget)
	near, err := nearestNeighbors(ctx, vectors, neighborCount, func(part float64) { report(phaseNeighbors, part) })
	if err != nil || vectors.rows() == 0 {
		return nil, err
	}
	known := 0
	for _, p := range before {
		if p != nil {
			known++
		}
	}
	points, epochs, rate := startAtComponents(vectors), epochsFor(vectors.rows()), float32(1)
	if 2*known > len(points) {
		points, epochs, rate = startAtPlaces(near, before), epochs/4, 0.1
	}
	d := newDescent(points, fuzzyGraph(near), epochs)
	err = d.run(ctx, epochs, rate, end, func(part float64) { report(phaseLayout, part) })
	drawIn(points)
	fillSquare(points)
	return points, err
}

// epochsFor returns the number of steps for n points: fewer for many, whose edges are used more often in each.
func epochsFor(n int) int {
	switch {
	case n <= 2000:
		return 400
	case n <= 10_000:
		return 250
	}
	return 200
}

// startAtComponents returns the points at the first two principal components of their vectors.
func startAtComponents(m *matrix) []point {
	extent := float32(1e-12)
	at := func(i, component int) float32 {
		if component >= m.cols {
			return 0
		}
		return m.row(i)[component]
	}
	for i := range m.rows() {
		extent = max(extent, float32(math.Abs(float64(at(i, 0)))), float32(math.Abs(float64(at(i, 1)))))
	}
	points := make([]point, m.rows())
	for i := range points {
		points[i] = point{at(i, 0) / extent * startExtent, at(i, 1) / extent * startExtent}
	}
	shake(points)
	return points
}

// startAtPlaces returns the points at their places before, and new ones at the mean of their known neighbors, weighted by nearness,
// or in the middle if they have none.
func startAtPlaces(near *neighbors, before []*point) []point {
	points := make([]point, len(before))
	for i, p := range before {
		x, y, sum := float32(0), float32(0), float32(0)
		if p != nil {
			x, y, sum = p.X, p.Y, 1
		}
		for at := i * near.k; p == nil && at < (i+1)*near.k; at++ {
			if q := before[near.ids[at]]; q != nil {
				w := 1 / (1e-3 + near.distances[at])
				x, y, sum = x+w*q.X, y+w*q.Y, sum+w
			}
		}
		if sum == 0 {
			x, y, sum = 0.5, 0.5, 1
		}
		points[i] = point{(x/sum*2 - 1) * startExtent, (y/sum*2 - 1) * startExtent}
	}
	shake(points)
	return points
}

// shake moves points a little, so that none is exactly where another is.
func shake(points []point) {
	random := rand.New(rand.NewPCG(seed, 4))
	for i := range points {
		points[i].X += float32(random.NormFloat64()) * 1e-3
		points[i].Y += float32(random.NormFloat64()) * 1e-3
	}
}

// margin is the part of the unit square that stays free on each side.
const margin = 0.02

// fillSquare moves and scales points so that they fill the unit square in one direction and are in its middle in the other.
func fillSquare(points []point) {
	low, high := points[0], points[0]
	for _, p := range points {
		low, high = point{min(low.X, p.X), min(low.Y, p.Y)}, point{max(high.X, p.X), max(high.Y, p.Y)}
	}
	side := max(high.X-low.X, high.Y-low.Y)
	if side <= 0 {
		side = 1
	}
	f := (1 - 2*margin) / side
	middle := point{(low.X + high.X) / 2, (low.Y + high.Y) / 2}
	for i, p := range points {
		points[i] = point{inUnit(0.5 + (p.X-middle.X)*f), inUnit(0.5 + (p.Y-middle.Y)*f)}
	}
}

// nearShare is the part of the points that drawIn leaves where they are.
const nearShare = 0.9

// drawIn brings islands that drifted far off closer, so that the rest has room: beyond the radius around the middle in which nine
// tenths of the points are, distances grow with the logarithm only. What is farther stays farther.
func drawIn(points []point) {
	middle := meanOf(points)
	radii := make([]float64, len(points))
	for i, p := range points {
		radii[i] = math.Hypot(float64(p.X-middle.X), float64(p.Y-middle.Y))
	}
	sorted := slices.Sorted(slices.Values(radii))
	near := sorted[int(nearShare*float64(len(sorted)-1))]
	if near <= 0 {
		return
	}
	for i, r := range radii {
		if r > near {
			f := float32(near * (1 + math.Log(r/near)/2) / r)
			points[i] = point{middle.X + f*(points[i].X-middle.X), middle.Y + f*(points[i].Y-middle.Y)}
		}
	}
}

// meanOf returns the mean of points.
func meanOf(points []point) point {
	var x, y float64
	for _, p := range points {
		x, y = x+float64(p.X), y+float64(p.Y)
	}
	n := float64(len(points))
	return point{float32(x / n), float32(y / n)}
}

// inUnit returns x within [0,1].
func inUnit(x float32) float32 { return max(0, min(1, x)) }
