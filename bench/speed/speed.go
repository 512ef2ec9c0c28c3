// Package speed measures how fast Kioku is on the machine it runs on. Each figure is the ratio of two things that are
// measured in the same run, on the same bytes and in turn, so that a slow or busy machine changes little.
package speed

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Row is one line of the table.
type Row struct {
	Name string `json:"name"`
	// Ours and Yardstick are what was measured, in Unit. The yardstick of a row that has no other is its limit.
	Ours      float64 `json:"ours"`
	Yardstick float64 `json:"yardstick"`
	Unit      string  `json:"unit"`
	// Ratio is Ours / Yardstick, Goal the most that it should be, and Held whether it is.
	Ratio float64 `json:"ratio"`
	Goal  float64 `json:"goal"`
	Held  bool    `json:"held"`
}

// Bench measures one row.
type Bench struct {
	Name, Unit string
	// Goal is the most that ours / yardstick should be.
	Goal float64
	// Sized benches are measured at each size of a run, and their names end in it; the others once.
	Sized bool
	// Run returns ours and the yardstick in Unit.
	Run func(ctx context.Context, e *Env) (ours, yardstick float64, err error)
}

// Env is what a bench works in.
type Env struct {
	// Dir is an empty folder of the bench's own, removed after it.
	Dir string
	// Size is how many chunks or vectors a sized bench works on.
	Size int
	// Fixtures are shared by the benches of a run.
	Fixtures *Fixtures
	// Step tells of the progress; it is never nil.
	Step func(done, total int)
	// Program is the kioku binary, for benches that start it; empty where there is none.
	Program string
}

// All returns every bench, in the order of the table.
func All() []Bench {
	return slices.Concat(vectorBenches(), searchBenches(), indexBenches(), syncBenches(), serveBenches())
}

// row judges what a bench measured.
func (b Bench) row(name string, ours, yardstick float64) Row {
	r := Row{Name: name, Ours: ours, Yardstick: yardstick, Unit: b.Unit, Goal: b.Goal}
	if yardstick > 0 {
		r.Ratio = ours / yardstick
		r.Held = r.Ratio <= b.Goal
	}
	return r
}

// medians runs two things in turn, n times each, and returns the medians of their times in milliseconds.
func medians(n int, ours, yardstick func() error) (a, b float64, err error) {
	var times [2][]time.Duration
	for range n {
		for i, f := range []func() error{ours, yardstick} {
			start := time.Now()
			if err := f(); err != nil {
				return 0, 0, fmt.Errorf("%s: %w", [...]string{"ours", "yardstick"}[i], err)
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	return median(times[0]), median(times[1]), nil
}

// median returns the middle of some times in milliseconds, the upper one of two.
func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2]) / float64(time.Millisecond)
}
