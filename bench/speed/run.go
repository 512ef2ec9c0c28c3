package speed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// Options of Run. The zero value measures only benches that are not sized and start no program.
type Options struct {
	// Sizes at which sized benches are measured, in this order, in chunks or vectors. If it is empty, sized benches are
	// skipped.
	Sizes []int
	// Program is the path of the kioku binary that some benches start. If it is empty, these fail.
	Program string
	// Step is called with the progress unless it is nil. Benches may call it from several goroutines.
	Step func(Progress)
	// Done is called with each result at once unless it is nil. Its error ends the run.
	Done func(Result) error
}

// Progress of a run.
type Progress struct {
	// Row is the name of the row that is being measured.
	Row string
	// Done of Total rows are finished.
	Done, Total int
	// Part of Parts steps of this row are done; both are 0 if the bench does not report it.
	Part, Parts int
}

// Result is a row with the bench and the size that it belongs to.
type Result struct {
	// Row that was measured.
	Row Row
	// Bench is the name without the size.
	Bench string
	// Size in chunks or vectors, 0 for a bench that is not sized.
	Size int
}

// task is one row to be measured.
type task struct {
	bench Bench
	name  string
	size  int
}

// tasks returns the rows of benches in the order of the table.
func tasks(benches []Bench, sizes []int) []task {
	var all []task
	for _, b := range benches {
		if !b.Sized {
			all = append(all, task{bench: b, name: b.Name})
		} else {
			for _, size := range sizes {
				if b.MaxSize == 0 || size <= b.MaxSize {
					all = append(all, task{b, b.Name + " @ " + FormatSize(size), size})
				}
			}
		}
	}
	return all
}

// Run measures benches one after the other and returns their results. A bench that fails does not end the run; a canceled
// ctx and an error of Done do. The error names each row that failed.
func Run(ctx context.Context, benches []Bench, opt Options) (results []Result, err error) {
	dir, err := os.MkdirTemp("", "kioku-speed-")
	if err != nil {
		return nil, fmt.Errorf("make a folder to work in: %w", err)
	}
	shared := newFixtures(dir)
	defer func() { err = errors.Join(err, shared.close(), os.RemoveAll(dir)) }()
	rows := tasks(benches, opt.Sizes)
	var failed []error
	for i, t := range rows {
		step := func(part, parts int) {
			if opt.Step != nil {
				opt.Step(Progress{Row: t.name, Done: i, Total: len(rows), Part: part, Parts: parts})
			}
		}
		step(0, 0)
		row, err := t.measure(ctx, dir, Env{Size: t.size, fixtures: shared, Program: opt.Program, Step: step})
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

// measure measures one row in a folder of its own.
func (t task) measure(ctx context.Context, dir string, e Env) (row Row, err error) {
	if err := ctx.Err(); err != nil {
		return Row{}, err
	}
	// Garbage of the row before must not be collected at the cost of this one.
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
	ratio := ours / yardstick
	return Row{t.name, ours, yardstick, t.bench.Unit, ratio, t.bench.Goal, ratio <= t.bench.Goal}, nil
}

// Select returns the benches whose name contains one of texts, in the order of benches; all benches if there is no text. If
// no name contains a text, it returns an error that lists the names.
func Select(benches []Bench, texts []string) ([]Bench, error) {
	if len(texts) == 0 {
		return benches, nil
	}
	var names []string
	var chosen []Bench
	for _, b := range benches {
		names = append(names, b.Name)
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(b.Name, text) }) {
			chosen = append(chosen, b)
		}
	}
	for _, text := range texts {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, text) }) {
			return nil, fmt.Errorf("no row's name contains %q; there are: %s", text, strings.Join(names, "; "))
		}
	}
	return chosen, nil
}
