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
	"kioku/embed"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) benchCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "bench", Short: "Measure how well searches find what they should, and how fast", Args: cobra.NoArgs}
	cmd.AddCommand(a.benchRetrievalCmd(), a.benchGoldenCmd(), a.benchSpeedCmd())
	return cmd
}

// retrieval is what the flags of bench retrieval ask for.
type retrieval struct {
	compare, by, granularities []string
	out                        string
	offTopic                   string
	typos                      bool
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
	f.StringSliceVar(&r.compare, "compare", nil, "measure each of these `providers` in turn")
	f.StringSliceVar(&r.by, "by", nil, "also print groups by `category`, lang or ws")
	f.StringSliceVar(&r.granularities, "granularity", nil, "chunk, passage or both (default: query.granularity)")
	f.StringVar(&r.out, "out", "", "write the results to this `file`, or to a file a set in this folder/")
	f.BoolVar(&r.typos, "typos", false, "ask once more with a typo in the rarest word of each question")
	f.StringVar(&r.offTopic, "off-topic", "", "also ask questions of this other `set`, which should find nothing")
	return cmd
}

// check refuses what cannot be measured.
func (r retrieval) check() error {
	for _, by := range r.by {
		if !slices.Contains(bench.Groupings(), by) {
			return misuse("--by %s groups nothing; choose %s", by, strings.Join(bench.Groupings(), ", "))
		}
	}
	for i, g := range r.granularities {
		switch {
		case g != memory.GranularityChunk && g != memory.GranularityPassage:
			return misuse("--granularity %s is none; choose chunk or passage", g)
		case slices.Contains(r.granularities[:i], g):
			return misuse("--granularity names %s twice", g)
		}
	}
	switch {
	case r.out != "" && len(r.compare) > 1:
		return misuse("--out takes the results of one provider; leave --compare away")
	case r.out != "" && len(r.granularities) > 1:
		return misuse("--out takes the results of one granularity; name one")
	}
	return nil
}

// checkCompare trims the providers to compare, and refuses lists of which one figure would be missing or mistaken.
func (a *app) checkCompare(r *retrieval) error {
	if slices.ContainsFunc(a.flags, func(f config.Flag) bool { return f.Key == "provider" }) {
		return misuse("--compare names the providers; leave --provider away")
	}
	var names []string
	for _, name := range r.compare {
		name = strings.TrimSpace(name)
		if slices.Contains(names, name) {
			return misuse("--compare names %s twice", name)
		}
		names = append(names, name)
	}
	if len(names) == 0 || slices.Contains(names, "") {
		return misuse("--compare holds an empty name; write it as --compare none,hash")
	}
	r.compare = names
	return nil
}

func (a *app) benchRetrieval(ctx context.Context, r retrieval, folders []string) error {
	if err := r.check(); err != nil {
		return err
	}
	sets, err := bench.Load(a.inDir(folders)...)
	if err != nil {
		return err
	}
	plan := bench.Plan{By: r.by, Granularities: r.granularities, Typos: r.typos}
	if plan.OffTopic, err = a.offTopicSet(r.offTopic, sets); err != nil {
		return err
	}
	var out *resultFiles
	if r.out != "" {
		if out, err = newResultFiles(a.inDir([]string{r.out})[0], strings.HasSuffix(r.out, "/"), sets, plan.OffTopic); err != nil {
			return err
		}
		plan.Keep = out.keep
	}
	runs, err := a.benchRuns(ctx, r, sets, plan)
	if err == nil {
		err = out.write()
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(benchReport{runs})
	}
	p := a.page()
	for i, run := range runs {
		if i > 0 {
			p.linef("")
		}
		p.benchRun(run, firstOf(runs[:i], run.Granularity))
	}
	return a.show(p)
}

// offTopicSet loads the set of --off-topic, nil for none. The notes of a set answer its questions, so that it may not be
// one of those measured.
func (a *app) offTopicSet(folder string, measured []bench.Set) (*bench.Set, error) {
	if folder == "" {
		return nil, nil
	}
	other, err := bench.Load(a.inDir([]string{folder})...)
	if err != nil {
		return nil, err
	}
	if len(other) != 1 {
		return nil, misuse("--off-topic %s holds %s; name one", folder, count(len(other), "set"))
	}
	for _, s := range measured {
		if sameFolder(s.Folder, other[0].Folder) {
			return nil, misuse("--off-topic %s is measured itself, and its notes answer its questions; name another set", folder)
		}
	}
	return &other[0], nil
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

// benchReport is what kioku bench retrieval --json writes; scripts read it.
type benchReport struct {
	Runs []benchRun `json:"runs"`
}

// firstOf returns the first run with a granularity, nil without one.
func firstOf(runs []benchRun, granularity string) *benchRun {
	for i := range runs {
		if runs[i].Granularity == granularity {
			return &runs[i]
		}
	}
	return nil
}

// benchRun is the figures of one provider and granularity.
type benchRun struct {
	Provider    string         `json:"provider"`
	Model       string         `json:"model"`
	Granularity string         `json:"granularity"`
	Sets        []bench.Report `json:"sets"`
	// Macro is the mean over the sets, without adversarial questions.
	Macro bench.Figures `json:"macro"`
	// MacroTypos and MacroOffTopic are the means over the sets of what was asked besides.
	MacroTypos    *bench.TypoReport     `json:"macro_typos,omitempty"`
	MacroOffTopic *bench.OffTopicReport `json:"macro_off_topic,omitempty"`
}

// benchRuns measures all sets with each provider.
func (a *app) benchRuns(ctx context.Context, r retrieval, sets []bench.Set, plan bench.Plan) ([]benchRun, error) {
	conf, err := a.config()
	if err != nil {
		return nil, err
	}
	providers := r.compare
	if len(providers) == 0 {
		providers = []string{conf.Embed.Provider}
	}
	var runs []benchRun
	for _, provider := range providers {
		opt, run, err := a.benchEngine(conf, provider)
		if err != nil {
			return nil, err
		}
		measured, err := a.benchProvider(ctx, sets, plan, opt, run)
		if err != nil {
			return nil, err
		}
		runs = append(runs, measured...)
	}
	return runs, nil
}

// benchProvider measures all sets with one provider and returns a run for each granularity; run is what they share.
func (a *app) benchProvider(ctx context.Context, sets []bench.Set, plan bench.Plan, opt bench.Options, run benchRun) ([]benchRun, error) {
	granularities := plan.Granularities
	if len(granularities) == 0 {
		granularities = []string{opt.Granularity}
	}
	runs := make([]benchRun, len(granularities))
	for i, g := range granularities {
		runs[i] = run
		runs[i].Granularity = g
	}
	for _, set := range sets {
		reports, err := a.measure(ctx, set, plan, opt)
		if err != nil {
			return nil, err
		}
		for i, r := range reports {
			runs[i].Sets = append(runs[i].Sets, r)
		}
	}
	for i := range runs {
		macro := bench.MacroReport(runs[i].Sets)
		runs[i].Macro, runs[i].MacroTypos, runs[i].MacroOffTopic = macro.Headline(), macro.Typos, macro.OffTopic
	}
	return runs, nil
}

// benchEngine opens a provider and says how workspaces are opened with it: by the settings, but for the folders.
func (a *app) benchEngine(conf *config.Config, provider string) (bench.Options, benchRun, error) {
	settings := *conf
	settings.State = os.TempDir()
	if settings.Embed.Provider != provider && provider != "openai" {
		settings.Embed.Model = ""
	}
	settings.Embed.Provider = provider
	embedder, err := embed.New(settings.Embed)
	if err != nil {
		return bench.Options{}, benchRun{}, fmt.Errorf("provider %s: %w", provider, err)
	}
	engine, err := engine(&settings, config.Place{}, embedder, a.log(quietLevel(conf)))
	if err != nil {
		return bench.Options{}, benchRun{}, err
	}
	run := benchRun{Provider: provider, Model: embedder.Space().Model}
	return bench.Options{Engine: engine, Granularity: engine.Search.Granularity}, run, nil
}

// measure measures one set and shows how far it is.
func (a *app) measure(ctx context.Context, set bench.Set, plan bench.Plan, opt bench.Options) ([]bench.Report, error) {
	m := a.meter()
	defer m.end()
	opt.Step = m.bench
	return bench.Measure(ctx, set, plan, opt)
}

// bench tells of one step of a measurement where it is time to.
func (m *meter) bench(p bench.Progress) {
	phase := p.Set + ": " + p.Phase
	if m.terminal {
		m.step(&kiokuv1.Progress{Phase: phase, FilesDone: int32(p.Done), FilesTotal: int32(p.Total)})
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.now(); !now.Before(m.next) {
		m.next = now.Add(lineTime)
		fmt.Fprintf(m.w, "kioku: %s: %d of %d\n", oneLine(phase), p.Done, p.Total)
	}
}
