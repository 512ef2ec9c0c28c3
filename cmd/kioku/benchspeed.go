package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"kioku/bench/speed"
	"kioku/cmd/kioku/internal/render"
)

// defaultSizes let a run end within ten minutes on two cores.
const defaultSizes = "1k,10k,100k"

// speedRun contains the flags of bench speed.
type speedRun struct {
	sizes    string
	only     []string
	plot     string
	markdown bool
}

func (a *app) benchSpeedCmd() *cobra.Command {
	var r speedRun
	cmd := &cobra.Command{
		Use: "speed", Short: "Measure how fast Kioku is on this machine",
		Long: "Measure what Kioku does beside a yardstick that does the least of it, on the same made-up notes, and print the ratio of\n" +
			"each with the most that it should be. Nothing leaves the machine, and no index of yours is touched. Rows that end in\n" +
			"a size are measured at each size. With --json each row is an object on a line of its own, as soon as it is measured.",
		Example: "  kioku bench speed\n  kioku bench speed --sizes 1k,10k --only grpc --only memory\n  kioku bench speed --json --plot growth.svg",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.benchSpeed(cmd.Context(), r, speed.All()) },
	}
	f := cmd.Flags()
	f.StringVar(&r.sizes, "sizes", defaultSizes, "`chunks` that sized rows are measured with")
	f.StringArrayVar(&r.only, "only", nil, "measure only the rows whose name contains this `text` (repeatable)")
	f.StringVar(&r.plot, "plot", "", "draw cost against size into this SVG `file`")
	f.BoolVar(&r.markdown, "markdown", false, "write the tables as Markdown")
	return cmd
}

// benchSpeed measures benches. If the run ends early, it shows the rows that were measured.
func (a *app) benchSpeed(ctx context.Context, r speedRun, benches []speed.Bench) error {
	opt, benches, err := a.speedOptions(r, benches)
	if err != nil {
		return err
	}
	m := a.Meter()
	opt.Step = m.Speed
	if a.JSON {
		opt.Done = func(result speed.Result) error {
			m.Clear()
			return json.NewEncoder(a.Stdout).Encode(result.Row)
		}
	}
	results, err := speed.Run(ctx, benches, opt)
	m.End()
	return errors.Join(a.showSpeed(r, results), err)
}

// speedOptions checks the flags before the run, which takes minutes.
func (a *app) speedOptions(r speedRun, benches []speed.Bench) (speed.Options, []speed.Bench, error) {
	if r.markdown && a.JSON {
		return speed.Options{}, nil, render.Misuse("--markdown and --json exclude each other")
	}
	if r.plot != "" {
		file := a.inDir([]string{r.plot})[0]
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			return speed.Options{}, nil, render.Misuse("--plot %s: that is a folder; name a file in it", r.plot)
		}
		folder := filepath.Dir(file)
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return speed.Options{}, nil, render.Misuse("--plot %s: there is no folder %s", r.plot, folder)
		}
	}
	sizes, err := speed.ParseSizes(r.sizes)
	if err != nil {
		return speed.Options{}, nil, render.Misuse("--sizes: %w", err)
	}
	if benches, err = speed.Select(benches, r.only); err != nil {
		return speed.Options{}, nil, render.Misuse("--only: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return speed.Options{}, nil, fmt.Errorf("find the kioku binary: %w", err)
	}
	return speed.Options{Sizes: sizes, Program: program}, benches, nil
}

// showSpeed shows what was measured and draws the plot.
func (a *app) showSpeed(r speedRun, results []speed.Result) error {
	if len(results) == 0 {
		return nil
	}
	err := a.Show(func(p *render.Page) {
		switch {
		case a.JSON:
		case r.markdown:
			p.Linef("Kioku %s on %s/%s, %s.", buildVersion(), runtime.GOOS, runtime.GOARCH, render.Count(runtime.NumCPU(), "core"))
			for _, t := range speed.Tables(results) {
				p.Linef("")
				p.Markdown(t)
			}
		default:
			p.Tables(speed.Tables(results))
		}
	})
	if r.plot != "" {
		err = errors.Join(err, a.plotSpeed(r.plot, results))
	}
	a.tellGoals(results)
	return err
}

// plotSpeed draws the plot into a file.
func (a *app) plotSpeed(path string, results []speed.Result) error {
	f, err := os.Create(a.inDir([]string{path})[0])
	if err != nil {
		return fmt.Errorf("write the plot: %w", err)
	}
	if err := errors.Join(speed.Plot(f, results), f.Close()); err != nil {
		return fmt.Errorf("write the plot: %w", err)
	}
	return nil
}

// tellGoals reports how many goals are met.
func (a *app) tellGoals(results []speed.Result) {
	missed := 0
	for _, r := range results {
		if !r.Row.Held {
			missed++
		}
	}
	if missed == 0 {
		a.Notice("%s measured, every goal is met", render.Count(len(results), "row"))
		return
	}
	a.Notice("%s measured, %s missed", render.Count(len(results), "row"), render.Count(missed, "goal"))
}
