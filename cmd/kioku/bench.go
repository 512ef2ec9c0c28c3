package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kioku/bench"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/embed"
	"kioku/memory"
)

func (a *app) benchCmd() *cobra.Command {
	return group(&cobra.Command{Use: "bench", Short: "Measure how well searches find what they should"},
		a.benchRetrievalCmd(), a.benchGoldenCmd())
}

// What --compare compares beside providers: words alone, the vectors of the configured model alone, and both.
const (
	compareWords = "words"
	compareModel = "model"
	compareBoth  = "both"
)

// retrieval contains the flags of bench retrieval.
type retrieval struct {
	compare, by, granularities []string
}

func (a *app) benchRetrievalCmd() *cobra.Command {
	var r retrieval
	cmd := &cobra.Command{
		Use: "retrieval SET_DIR...", Short: "Ask the questions of sets and print recall, MRR, nDCG and times",
		Long: "Index the workspaces of each set in a temporary folder, ask its questions and print how much of the evidence was found.\n" +
			"A set is a folder with queries.jsonl and ws/; a folder of sets stands for all of them. Settings are those of searches.",
		Example: "  kioku bench retrieval my-set --by category\n  kioku bench retrieval sets --compare none,hash --json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("compare") {
				if err := a.checkCompare(&r); err != nil {
					return err
				}
			}
			return a.benchRetrieval(cmd.Context(), r, args)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&r.compare, "compare", nil, "measure each of these `providers` in turn; without names words, the configured model, and both")
	f.StringSliceVar(&r.by, "by", nil, "also print groups by `category`, lang or ws")
	f.StringSliceVar(&r.granularities, "granularity", nil, "chunk, passage or both (default: query.granularity)")
	return cmd
}

// check returns a misuse for flags that cannot be measured.
func (r retrieval) check() error {
	for _, by := range r.by {
		if !slices.Contains(bench.Groupings(), by) {
			return render.Misuse("--by is %s; it must be one of %s", by, strings.Join(bench.Groupings(), ", "))
		}
	}
	for i, g := range r.granularities {
		switch {
		case g != memory.GranularityChunk && g != memory.GranularityPassage:
			return render.Misuse("--granularity is %s; it must be chunk or passage", g)
		case slices.Contains(r.granularities[:i], g):
			return render.Misuse("--granularity names %s twice", g)
		}
	}
	return nil
}

// checkCompare trims the names of the providers to compare, and refuses empty and repeated names.
func (a *app) checkCompare(r *retrieval) error {
	if slices.ContainsFunc(a.flags, func(f config.Flag) bool { return f.Key == "provider" }) {
		if slices.ContainsFunc(r.compare, func(name string) bool { return !isChannel(name) }) {
			return render.Misuse("--compare names the providers; omit --provider")
		}
	}
	var names []string
	for _, name := range r.compare {
		name = strings.TrimSpace(name)
		if slices.Contains(names, name) {
			return render.Misuse("--compare names %s twice", name)
		}
		names = append(names, name)
	}
	if len(names) == 0 || slices.Contains(names, "") {
		return render.Misuse("--compare contains an empty name; write it as --compare none,hash")
	}
	r.compare = names
	return nil
}

// withCompared gives --compare of bench retrieval the names of the channels if it has no names.
func withCompared(args []string) []string {
	from := slices.Index(args, "retrieval")
	if from < 1 || args[from-1] != "bench" {
		return args
	}
	rest := args[from:]
	if end := slices.Index(rest, "--"); end >= 0 {
		rest = rest[:end]
	}
	i := slices.Index(rest, "--compare")
	if i < 0 || i+1 < len(rest) && !strings.HasPrefix(rest[i+1], "-") {
		return args
	}
	args = slices.Clone(args)
	args[from+i] = "--compare=" + strings.Join([]string{compareWords, compareModel, compareBoth}, ",")
	return args
}

// isChannel reports whether a name of --compare is no provider.
func isChannel(name string) bool {
	return slices.Contains([]string{compareWords, compareModel, compareBoth}, strings.TrimSpace(name))
}

func (a *app) benchRetrieval(ctx context.Context, r retrieval, folders []string) error {
	if err := r.check(); err != nil {
		return err
	}
	sets, err := bench.Load(a.inDir(folders)...)
	if err != nil {
		return err
	}
	plan := bench.Plan{By: r.by, Granularities: r.granularities}
	runs, err := a.benchRuns(ctx, r, sets, plan)
	if err != nil {
		return err
	}
	return a.Write(bench.Runs{Runs: runs}, func(p *render.Page) {
		var tables []bench.Table
		for i, run := range runs {
			tables = append(tables, run.Table(firstOf(runs[:i], run.Granularity)))
		}
		p.Tables(tables)
	})
}

// inDir makes paths absolute.
func (a *app) inDir(paths []string) []string {
	abs := make([]string, len(paths))
	for i, path := range paths {
		if abs[i] = path; !filepath.IsAbs(path) {
			abs[i] = filepath.Join(a.dir, path)
		}
	}
	return abs
}

// firstOf returns the first run with a granularity, nil without one.
func firstOf(runs []bench.Run, granularity string) *bench.Run {
	for i := range runs {
		if runs[i].Granularity == granularity {
			return &runs[i]
		}
	}
	return nil
}

// benchRuns measures all sets with each provider and shows its progress.
func (a *app) benchRuns(ctx context.Context, r retrieval, sets []bench.Set, plan bench.Plan) ([]bench.Run, error) {
	conf, err := a.commonConfig()
	if err != nil {
		return nil, err
	}
	providers := r.compare
	if len(providers) == 0 {
		providers = []string{conf.Embed.Provider}
	}
	m := a.Meter()
	defer m.Clear()
	var runs []bench.Run
	for _, provider := range providers {
		opt, run, err := a.benchEngine(ctx, conf, provider)
		if err != nil {
			return nil, err
		}
		opt.Step = m.Bench
		measured, err := bench.MeasureRuns(ctx, sets, plan, opt, run)
		if err != nil {
			return nil, err
		}
		runs = append(runs, measured...)
	}
	return runs, nil
}

// benchEngine opens a provider and returns the options with which workspaces are opened: the settings without the folders.
func (a *app) benchEngine(ctx context.Context, conf *config.Config, provider string) (bench.Options, bench.Run, error) {
	settings := *conf
	settings.State = os.TempDir()
	switch provider {
	case compareWords:
		settings.Embed.Provider = "none"
	case compareModel:
		settings.Search.VectorWeight, settings.Search.TextWeight, settings.Search.MinKeywordScore = new(1.0), new(0.0), new(1.0)
	case compareBoth:
	default:
		if settings.Embed.Provider != provider && provider != "openai" {
			settings.Embed.Model = ""
		}
		settings.Embed.Provider = provider
	}
	embedder, err := embed.New(settings.Embed)
	if err != nil {
		return bench.Options{}, bench.Run{}, fmt.Errorf("provider %s: %w", provider, err)
	}
	engine, err := host.Engine(ctx, &settings, config.Place{}, embedder, a.log(connect.QuietLevel(conf)))
	if err != nil {
		return bench.Options{}, bench.Run{}, err
	}
	run := bench.Run{Provider: provider, Model: embedder.Space().Model}
	return bench.Options{Engine: engine, Granularity: engine.Search.Granularity}, run, nil
}
