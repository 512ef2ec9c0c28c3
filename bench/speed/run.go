package speed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// Options says what Run measures and whom it tells.
type Options struct {
	// Sizes at which sized benches are measured, in this order.
	Sizes []int
	// Program is the kioku binary that some benches start.
	Program string
	// Step, where it is not nil, is told of the progress. Benches may call it from several goroutines.
	Step func(Progress)
	// Done, where it is not nil, is given each result as soon as it is there. Its error ends the run.
	Done func(Result) error
}

// Progress is how far a run is.
type Progress struct {
	// Row is the name of the row that is measured now: after Done others, of Total.
	Row         string
	Done, Total int
	// Part of Parts of this row is done; both are 0 where the bench does not tell.
	Part, Parts int
}

// Result is a row and what it was measured on.
type Result struct {
	Row Row
	// Bench is the name without the size, Size 0 for a bench that is not sized.
	Bench string
	Size  int
}

// task is one row to be measured.
type task struct {
	bench Bench
	name  string
	size  int
}

// tasks returns the rows of some benches in the order of the table.
func tasks(benches []Bench, sizes []int) []task {
	var all []task
	for _, b := range benches {
		if !b.Sized {
			all = append(all, task{bench: b, name: b.Name})
			continue
		}
		for _, size := range sizes {
			all = append(all, task{b, b.Name + " @ " + FormatSize(size), size})
		}
	}
	return all
}

// Run measures benches one after the other. It goes on after one that fails, and ends when ctx is done or Done fails: its
// error names each row that is missing in the results.
func Run(ctx context.Context, benches []Bench, opt Options) ([]Result, error) {
	dir, err := os.MkdirTemp("", "kioku-speed-")
	if err != nil {
		return nil, fmt.Errorf("make a folder to work in: %w", err)
	}
	fixtures := NewFixtures(dir)
	results, err := runIn(ctx, dir, fixtures, tasks(benches, opt.Sizes), opt)
	return results, errors.Join(err, fixtures.Close(), os.RemoveAll(dir))
}

func runIn(ctx context.Context, dir string, fixtures *Fixtures, rows []task, opt Options) ([]Result, error) {
	var results []Result
	var failed []error
	for i, t := range rows {
		step := func(part, parts int) {
			if opt.Step != nil {
				opt.Step(Progress{Row: t.name, Done: i, Total: len(rows), Part: part, Parts: parts})
			}
		}
		step(0, 0)
		row, err := t.run(ctx, dir, Env{Size: t.size, Fixtures: fixtures, Program: opt.Program, Step: step})
		if err != nil {
			failed = append(failed, fmt.Errorf("measure %s: %w", t.name, err))
			if ctx.Err() != nil {
				break
			}
			continue
		}
		r := Result{row, t.bench.Name, t.size}
		results = append(results, r)
		if opt.Done != nil {
			if err := opt.Done(r); err != nil {
				return results, err
			}
		}
	}
	return results, errors.Join(failed...)
}

// run measures one row in a folder of its own.
func (t task) run(ctx context.Context, dir string, e Env) (row Row, err error) {
	if err := ctx.Err(); err != nil {
		return Row{}, err
	}
	// What the row before left behind is no burden of this one.
	debug.FreeOSMemory()
	if e.Dir, err = os.MkdirTemp(dir, "row-"); err != nil {
		return Row{}, fmt.Errorf("make a folder to work in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(e.Dir)) }()
	ours, yardstick, err := t.bench.Run(ctx, &e)
	switch {
	case ctx.Err() != nil:
		return Row{}, ctx.Err()
	case err != nil:
		return Row{}, err
	case !(ours >= 0) || !(yardstick > 0) || math.IsInf(ours, 0) || math.IsInf(yardstick, 0):
		return Row{}, fmt.Errorf("the figures %v and %v have no ratio", ours, yardstick)
	}
	return t.bench.row(t.name, ours, yardstick), nil
}

// Select returns the benches whose name contains one of texts, in their order; all of them where there is no text. It
// returns an error that lists the names where a text is in none.
func Select(benches []Bench, texts []string) ([]Bench, error) {
	if len(texts) == 0 {
		return benches, nil
	}
	for _, text := range texts {
		if !slices.ContainsFunc(benches, func(b Bench) bool { return strings.Contains(b.Name, text) }) {
			var names []string
			for _, b := range benches {
				names = append(names, b.Name)
			}
			return nil, fmt.Errorf("no row's name contains %q; there are: %s", text, strings.Join(names, "; "))
		}
	}
	var chosen []Bench
	for _, b := range benches {
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(b.Name, text) }) {
			chosen = append(chosen, b)
		}
	}
	return chosen, nil
}

// Bounds of a size: fewer chunks than minSize show nothing, and more than maxSize fit into no memory.
const (
	minSize = 100
	maxSize = 1_000_000
)

// ParseSizes reads sizes such as 1000, 10k or 1M, divided by commas, and returns them in rising order, each once.
func ParseSizes(list string) ([]int, error) {
	var sizes []int
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		digits, unit := item, 1
		for suffix, n := range map[string]int{"k": 1_000, "K": 1_000, "M": 1_000_000} {
			if rest, ok := strings.CutSuffix(item, suffix); ok {
				digits, unit = rest, n
			}
		}
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%q is no size; write numbers such as 1000, 10k or 1M, divided by commas", item)
		}
		if n > maxSize/uint64(unit) || n*uint64(unit) < minSize {
			return nil, fmt.Errorf("size %s is not between %s and %s", item, FormatSize(minSize), FormatSize(maxSize))
		}
		sizes = append(sizes, int(n)*unit)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}

// FormatSize writes a whole number with a comma before each three digits: 10,000.
func FormatSize(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
