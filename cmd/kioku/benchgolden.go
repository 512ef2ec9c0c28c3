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
	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) benchGoldenCmd() *cobra.Command {
	least, results := 1.0, int32(0)
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
	cmd.Flags().Int32VarP(&results, "max-results", "n", 0, "maximum `number` of results (default: query.maxResults)")
	return cmd
}

func (a *app) benchGolden(ctx context.Context, file string, least float64, results int32) error {
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
	err = a.with(ctx, connect.ToSearch, func(c *connect.Client) (err error) {
		if err = c.Freshen(ctx); err != nil {
			return err
		}
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
		resp, err := c.MemoryGet(ctx, &kiokuv1.MemoryGetRequest{Agent: c.Agent, Path: place.Path, FromLine: 1, LineCount: 1})
		switch {
		case render.NotFound(err), err == nil && resp.GetPath() != place.Path:
			return fmt.Errorf("%s:%d: %s is not a file of this memory", file, q.Line, place.Path)
		case err != nil:
			return fmt.Errorf("%s:%d: %w", file, q.Line, err)
		case place.End > int(resp.GetTotalLineCount()):
			return fmt.Errorf("%s:%d: %s has %s, the answer ends at %d", file, q.Line, place.Path,
				render.Count(resp.GetTotalLineCount(), "line"), place.End)
		}
	}
	return nil
}

// askGolden asks all questions and ranks what they expect.
func (a *app) askGolden(ctx context.Context, c *connect.Client, questions []bench.Question, results int32, zone *time.Location) (bench.GoldenReport, error) {
	var answers []bench.GoldenAnswer
	m := a.Meter()
	defer m.Clear()
	for i, q := range questions {
		m.Bench(bench.Progress{Set: "golden", Phase: bench.PhaseAsk, Done: i, Total: len(questions)})
		asked, err := momentOf(q.Now, zone)
		if err != nil {
			return bench.GoldenReport{}, err
		}
		resp, err := c.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{
			Agent: c.Agent, Query: q.Query, MaxResults: results, AskTime: kiokuv1.TimeOf(asked),
		})
		if err != nil {
			return bench.GoldenReport{}, fmt.Errorf("question %d: %w", i+1, err)
		}
		var found []bench.Result
		first := ""
		for i, hit := range resp.GetResults() {
			if i == 0 {
				first = hit.GetCitation()
			}
			r := bench.Range{Path: hit.GetPath(), Start: int(hit.GetStartLine()), End: int(hit.GetEndLine())}
			found = append(found, bench.Result{Range: r, Weak: hit.GetWeak()})
		}
		answers = append(answers, q.Answer(found, first))
	}
	return bench.NewGoldenReport(answers), nil
}
