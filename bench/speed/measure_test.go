package speed

import (
	"fmt"
	"slices"
	"time"
)

// times are the durations of one thing that was measured several times.
type times []time.Duration

// measure calls f and appends how long it took.
func (t *times) measure(f func() error) error {
	start := time.Now()
	err := f()
	*t = append(*t, time.Since(start))
	return err
}

// median returns the middle of the times in milliseconds, the upper one of two.
func (t times) median() float64 { return t.percentile(50) }

// p95 returns the time in milliseconds that one in twenty exceeds.
func (t times) p95() float64 { return t.percentile(95) }

func (t times) percentile(p int) float64 {
	sorted := slices.Sorted(slices.Values(t))
	return float64(sorted[len(sorted)*p/100]) / float64(time.Millisecond)
}

// medians runs two things in turn, n times each, and returns the medians of their times in milliseconds.
func (e *Env) medians(n int, ours, yardstick func() error) (a, b float64, err error) {
	var measured [2]times
	for round := range n {
		for i, f := range []func() error{ours, yardstick} {
			e.Step(2*round+i, 2*n)
			if err := measured[i].measure(f); err != nil {
				return 0, 0, fmt.Errorf("%s: %w", [...]string{"ours", "yardstick"}[i], err)
			}
		}
	}
	return measured[0].median(), measured[1].median(), nil
}
