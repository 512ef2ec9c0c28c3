package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"kioku/bench"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
)

func (a *app) benchGoldenCmd() *cobra.Command {
	least, results := 1.0, 0
	cmd := &cobra.Command{
		Use: "golden FILE.yaml", Short: "Check that questions find the notes that answer them",
		Long: "Ask the workspace the questions of a YAML list and check that each finds its path, and its lines if they are\n" +
			"given. Exits with 1 if fewer questions than --min-recall find them. Questions with \"none: true\" should have no\n" +
			"result but weak ones; their share is printed.",
		Example: "  kioku bench golden questions.yaml --workspace notes --min-recall 0.9",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(least >= 0 && least <= 1) {
				return render.Misuse("--min-recall is %v; it must be at least 0 and at most 1", least)
			}
			if err := checkResults(cmd); err != nil {
				return err
			}
			return a.benchGolden(cmd.Context(), args[0], least, results)
		},
	}
	cmd.Flags().Float64Var(&least, "min-recall", least, "minimum `share` of the questions with an answer that must find it")
	cmd.Flags().IntVarP(&results, "max-results", "n", 0, "maximum `number` of results (default: query.maxResults)")
	return cmd
}

func (a *app) benchGolden(ctx context.Context, file string, least float64, results int) error {
	text, err := os.ReadFile(a.inDir([]string{file})[0])
	if err != nil {
		return fmt.Errorf("read questions: %w", err)
	}
	questions, err := bench.ParseGolden(text)
	if err != nil {
		return fmt.Errorf("%s:%w", file, err)
	}
	conf, err := a.config()
	if err != nil {
		return err
	}
	var r bench.GoldenReport
	err = a.fresh(ctx, func(c *connect.Client) (err error) {
		if err = checkPlaces(ctx, c, file, questions); err == nil {
			r, err = a.askGolden(ctx, c, questions, results, conf.Location)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err = a.Write(r, func(p *render.Page) { p.Golden(r) }); err == nil && r.Recall < least {
		err = fmt.Errorf("recall %.3f is below --min-recall %.3f", r.Recall, least)
	}
	return err
}

// checkPlaces returns an error that begins with file and line if a question expects a place that is not in the memory.
func checkPlaces(ctx context.Context, c *connect.Client, file string, questions []bench.Question) error {
	for _, q := range questions {
		if len(q.Relevant) == 0 {
			continue
		}
		place := q.Relevant[0]
		first, err := c.Get(ctx, memory.GetRequest{Path: place.Path, From: 1, Lines: 1})
		switch {
		case render.NotFound(err), err == nil && first.Path != place.Path:
			return fmt.Errorf("%s:%d: %s is not a file of this memory", file, q.Line, place.Path)
		case err != nil:
			return fmt.Errorf("%s:%d: %w", file, q.Line, err)
		case place.End > first.TotalLines:
			return fmt.Errorf("%s:%d: %s has %s, the answer ends at %d", file, q.Line, place.Path,
				render.Count(first.TotalLines, "line"), place.End)
		}
	}
	return nil
}

// askGolden asks all questions and ranks what they expect.
func (a *app) askGolden(ctx context.Context, c *connect.Client, questions []bench.Question, results int, zone *time.Location) (bench.GoldenReport, error) {
	var answers []bench.GoldenAnswer
	m := a.Meter()
	defer m.Clear()
	for i, q := range questions {
		m.Bench(bench.Progress{Set: "golden", Phase: bench.PhaseAsk, Done: i, Total: len(questions)})
		asked, err := momentOf(q.Now, zone)
		if err != nil {
			return bench.GoldenReport{}, err
		}
		answer, err := c.Search(ctx, memory.Query{Text: q.Query, MaxResults: results, Now: asked})
		if err != nil {
			return bench.GoldenReport{}, fmt.Errorf("question %d: %w", i+1, err)
		}
		var found []bench.Result
		first := ""
		for i, hit := range answer.Hits {
			if i == 0 {
				first = hit.Cite()
			}
			found = append(found, bench.Result{Range: bench.Range{Path: hit.Path, Start: hit.StartLine, End: hit.EndLine}, Weak: hit.Weak})
		}
		answers = append(answers, q.Answer(found, first))
	}
	return bench.NewGoldenReport(answers), nil
}
