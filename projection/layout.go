package projection

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// Point is a place in the plane.
type Point struct {
	// X and Y are in [0,1] in the result of Project.
	X, Y float32
}

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
	points []Point
	edges  []edge
	// due is the epoch in which an edge is used next, and every how many epochs it is.
	due, every []float32
	random     *rand.PCG
}

// newDescent returns the descent of points along edges.
func newDescent(points []Point, edges []edge, epochs int, seed uint64) *descent {
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

// run runs epochs with a learning rate that falls from rate to 0. It ends early at the end of the time budget, and returns how
// many epochs it ran, and the error of ctx if that ends.
func (d *descent) run(ctx context.Context, epochs int, rate float32, end time.Time, progress func(float64)) (int, error) {
	for epoch := range epochs {
		if err := ctx.Err(); err != nil {
			return epoch, err
		}
		if !end.IsZero() && time.Now().After(end) {
			return epoch, nil
		}
		d.runEpoch(float32(epoch+1), rate*(1-float32(epoch)/float32(epochs)))
		progress(float64(epoch+1) / float64(epochs))
	}
	return epochs, nil
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
func (d *descent) push(a, b *Point, rate float32, dice uint32) {
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

// startLayout returns where the points begin: the known ones at their places of the picture before, new ones among their neighbors;
// without known ones, all at their first two principal components.
func startLayout(m *Matrix, near *Neighbors, before *Start, seed uint64) []Point {
	random := rand.New(rand.NewPCG(seed, 4))
	jitter := func() float32 { return float32(random.NormFloat64()) * 1e-3 }
	points := make([]Point, m.Rows())
	if before.known() {
		for i, p := range placeAmong(near, before.Points, before.Known) {
			points[i] = Point{(p.X*2-1)*startExtent + jitter(), (p.Y*2-1)*startExtent + jitter()}
		}
		return points
	}
	extent := float32(1e-12)
	for i := range points {
		for _, x := range m.Row(i)[:min(2, m.Cols)] {
			extent = max(extent, float32(math.Abs(float64(x))))
		}
	}
	for i := range points {
		row := m.Row(i)
		points[i] = Point{row[0]/extent*startExtent + jitter(), jitter()}
		if m.Cols > 1 {
			points[i].Y += row[1] / extent * startExtent
		}
	}
	return points
}

// placeAmong returns the places of all rows: known ones stay, and each other one is at the mean of its known neighbors, weighted
// by nearness, or in the middle if it has none.
func placeAmong(near *Neighbors, places []Point, known []bool) []Point {
	out := make([]Point, len(places))
	for i := range out {
		if known[i] {
			out[i] = places[i]
			continue
		}
		var x, y, sum float32
		for at := i * near.K; at < (i+1)*near.K; at++ {
			if j := near.IDs[at]; known[j] {
				w := 1 / (1e-3 + near.Distances[at])
				x, y, sum = x+w*places[j].X, y+w*places[j].Y, sum+w
			}
		}
		if out[i] = (Point{0.5, 0.5}); sum > 0 {
			out[i] = Point{x / sum, y / sum}
		}
	}
	return out
}
