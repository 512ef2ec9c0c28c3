package projection

import (
	"context"
	"slices"
	"time"
)

// Phases of Project, in order.
const (
	// PhaseNeighbors looks for the neighbors of each vector.
	PhaseNeighbors = "neighbors"
	// PhaseLayout moves the points.
	PhaseLayout = "layout"
)

// Options of Project. The zero value is useful.
type Options struct {
	// Seed of the random numbers.
	Seed uint64
	// Neighbors is the number of neighbors that a point is kept near to; 0 means 15.
	Neighbors int
	// Budget is the time after which the layout ends as it is; 0 means no limit.
	Budget time.Duration
	// Start is the picture before, which the new one stays close to; nil for none.
	Start *Start
	// Progress is told how far a phase is, from 0 to 1; nil for nobody.
	Progress func(phase string, part float64)
}

// Start is a picture to begin with.
type Start struct {
	// Points are the places, in [0,1], one for each vector.
	Points []Point
	// Known says which of the points are in the picture.
	Known []bool
}

// known reports whether any point is known.
func (s *Start) known() bool { return s != nil && slices.Contains(s.Known, true) }

// Layout is a picture of vectors.
type Layout struct {
	// Points are the places of the vectors, in their order.
	Points []Point
	// Epochs is the number of steps of the layout, fewer than planned if the budget ended it.
	Epochs int
}

// Project draws vectors, which Basis.Reduce has made short, in the unit square. It returns the error of ctx if that ends.
// Vectors that are alike are near each other; distances between clusters and the axes mean nothing. With a Start that has
// all but a few of the points, these stay about where they were.
func Project(ctx context.Context, vectors *Matrix, opt Options) (Layout, error) {
	n := vectors.Rows()
	if n == 0 {
		return Layout{}, ctx.Err()
	}
	progress := func(phase string) func(float64) {
		return func(part float64) {
			if opt.Progress != nil {
				opt.Progress(phase, part)
			}
		}
	}
	if opt.Neighbors <= 0 {
		opt.Neighbors = 15
	}
	var end time.Time
	if opt.Budget > 0 {
		end = time.Now().Add(opt.Budget)
	}
	near, err := NearestNeighbors(ctx, vectors, opt.Neighbors, opt.Seed, progress(PhaseNeighbors))
	if err != nil {
		return Layout{}, err
	}
	points := startLayout(vectors, near, opt.Start, opt.Seed)
	epochs, rate := epochsFor(n), float32(1)
	if opt.Start.known() {
		epochs, rate = epochs/2, 0.25
	}
	d := newDescent(points, fuzzyGraph(near), epochs, opt.Seed)
	ran, err := d.run(ctx, epochs, rate, end, progress(PhaseLayout))
	if err != nil {
		return Layout{}, err
	}
	drawIn(points)
	if opt.Start.known() {
		align(points, opt.Start)
	} else {
		fillSquare(points)
	}
	return Layout{Points: points, Epochs: ran}, nil
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
