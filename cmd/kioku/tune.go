package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"kioku/bench"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/search"
)

// defaultGolden is the file of questions in the workspace that kioku tune reads if none is named.
const defaultGolden = "golden.yaml"

// Keys of the settings that kioku tune writes.
const (
	keyVectorWeight    = "query.hybrid.vectorWeight"
	keyTextWeight      = "query.hybrid.textWeight"
	keyMinScore        = "query.minScore"
	keyMinKeywordScore = "query.minKeywordScore"
)

func (a *app) tuneCmd() *cobra.Command {
	var golden string
	var dryRun bool
	cmd := &cobra.Command{
		Use: "tune", Short: "Fit the weight of vectors and the minimum score to questions of your own",
		Long: "Fit the weight of the vectors and the minimum score to the questions of kioku bench golden, and write them to\n" +
			config.FolderFile + " of the workspace if they gain on questions that they were not fitted to: they are fitted to each half of\n" +
			fmt.Sprintf("the questions and judged on the other one. It takes %d questions with an answer. The minimum score is fitted if there are %d\n",
				bench.MinTuned, bench.MinTunedOffTopic) +
			"with \"none: true\". With words alone, only the minimum score is.",
		Example: "  kioku tune --workspace notes\n  kioku tune --golden questions.yaml --dry-run",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.tune(cmd.Context(), golden, dryRun) },
	}
	cmd.Flags().StringVar(&golden, "golden", "", "`file` of the questions (default: "+defaultGolden+" of the workspace)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be written, and write nothing")
	return cmd
}

// shownTuning is the output of kioku tune --json.
type shownTuning struct {
	bench.Tuning
	// Path of the file with the settings of the workspace.
	Path string `json:"path"`
	// Diff of that file; empty without a gain.
	Diff []string `json:"diff"`
	// DryRun is true if nothing is written whatever the figures are.
	DryRun bool `json:"dry_run"`
}

// tune fits the settings, shows them and writes them.
func (a *app) tune(ctx context.Context, golden string, dryRun bool) error {
	conf, err := a.config()
	if err != nil {
		return err
	}
	src, err := a.edited(true)
	if err != nil {
		return err
	}
	file, questions, err := a.goldenQuestions(golden, src.Folder)
	if err != nil {
		return err
	}
	if err := checkTunable(conf); err != nil {
		return err
	}
	tuning, err := a.fitSettings(ctx, file, questions, conf)
	if errors.Is(err, bench.ErrTooFewQuestions) {
		return render.Misuse("%s: %w", file, err)
	} else if err != nil {
		return err
	}
	edited, err := config.Prepare(src, tunedChanges(tuning.Settings)...)
	if err != nil {
		return err
	}
	shown := shownTuning{tuning, edited.Path, render.Diff(edited.Before, edited.After), dryRun || a.readOnly}
	if !tuning.Gain {
		shown.Diff = []string{}
	}
	if err := a.Write(shown, shown.tell); err != nil || !tuning.Gain || shown.DryRun {
		return err
	}
	if err := edited.Write(); err != nil {
		return err
	}
	a.Notice("written to %s; kioku config unset --folder query.minScore, for example, takes a setting back", edited.Path)
	return nil
}

// goldenQuestions reads the file of questions, by default that of the workspace.
func (a *app) goldenQuestions(golden, workspace string) (file string, questions []bench.Question, err error) {
	path := filepath.Join(workspace, defaultGolden)
	if golden != "" {
		path = a.inDir([]string{golden})[0]
	} else {
		golden = path
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil, render.Misuse("there is no %s; write questions into it as docs/bench.md says, or name a file with --golden", path)
	} else if err != nil {
		return "", nil, fmt.Errorf("read questions: %w", err)
	}
	if questions, err = bench.ParseGolden(text); err != nil {
		return "", nil, fmt.Errorf("%s:%w", golden, err)
	}
	return golden, questions, nil
}

// checkTunable returns a misuse if a flag or variable sets what would be written, because it goes before the file.
func checkTunable(conf *config.Config) error {
	for _, key := range []string{keyVectorWeight, keyTextWeight, keyMinScore, keyMinKeywordScore} {
		if v, err := conf.Value(key); err == nil && conf.ByFlagOrEnv(key) {
			return render.Misuse("%s is set by %s, which goes before %s; unset it", key, v.Origin, config.FolderFile)
		}
	}
	return nil
}

// fitSettings opens the index in this process, also beside a daemon, whose settings cannot be varied, and asks the questions.
func (a *app) fitSettings(ctx context.Context, file string, questions []bench.Question, conf *config.Config) (t bench.Tuning, err error) {
	k, err := a.connector()
	if err != nil {
		return t, err
	}
	k.NoDaemon = true
	m := a.Meter()
	defer m.End()
	err = k.With(ctx, connect.ToSearch, func(c *connect.Client) error {
		if err := c.Freshen(ctx); err != nil {
			return err
		}
		if err := checkPlaces(ctx, c, file, questions); err != nil {
			return err
		}
		t, err = bench.Tune(ctx, questions, connect.Ranking(conf), tuneAsker(c, conf.Location), m.Bench)
		return err
	})
	return t, err
}

// tuneAsker asks the memory of a client.
func tuneAsker(c *connect.Client, zone *time.Location) bench.TuneAsk {
	return func(ctx context.Context, q bench.Question, opt search.Options) (memory.Answer, error) {
		asked, err := momentOf(q.Now, zone)
		if err != nil {
			return memory.Answer{}, err
		}
		return c.Memory.SearchWith(ctx, memory.Query{Text: q.Query, Now: asked}, opt)
	}
}

// tunedChanges returns what is to be written.
func tunedChanges(s bench.TuneSettings) []config.Change {
	var changes []config.Change
	add := func(key string, value *float64) {
		if value != nil {
			changes = append(changes, config.Change{Key: key, Value: strconv.FormatFloat(*value, 'g', 3, 64)})
		}
	}
	if s.VectorWeight != nil {
		add(keyVectorWeight, s.VectorWeight)
		add(keyTextWeight, new(1-*s.VectorWeight))
	}
	add(keyMinScore, s.MinScore)
	add(keyMinKeywordScore, s.MinKeywordScore)
	return changes
}

// tell adds the figures, and what is written or why nothing is.
func (s shownTuning) tell(p *render.Page) {
	table := bench.Table{Head: []string{"", "found", "not weak", "MRR", "silent off topic"}}
	row := func(name string, strong bool, f bench.TuneFigures) {
		table.Add(strong, name, fmt.Sprintf("%d of %d", f.Found, f.Total), fmt.Sprint(f.Confident), fmt.Sprintf("%.3f", f.MRR),
			fmt.Sprintf("%d of %d", f.Silent, f.OffTopic))
	}
	if s.Vectors {
		row("words", false, s.Words)
	}
	row("now", false, s.Now)
	row("tuned", true, s.Tuned)
	p.Table(table)
	p.Linef("The row tuned has each half of the questions with settings that were fitted to the other half.")
	if !s.LineTuned {
		p.Linef("The minimum score was not tuned: %d questions have \"none: true\", and %d are needed.", s.OffTopic, bench.MinTunedOffTopic)
	}
	p.Linef("")
	if !s.Gain {
		p.Linef("kept: %s", s.Reason)
		return
	}
	p.Linef("%s", render.CleanLine(s.Path))
	for _, line := range s.Diff {
		p.Linef("%s", render.Clean(line))
	}
	if s.DryRun {
		p.Linef("Nothing is written.")
	}
}
