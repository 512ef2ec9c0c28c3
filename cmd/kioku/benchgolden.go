package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/bench"
	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) benchGoldenCmd() *cobra.Command {
	least, results := 1.0, int32(0)
	cmd := &cobra.Command{
		Use: "golden FILE.yaml", Short: "Check that questions find the notes that answer them",
		Long: "Ask the workspace the questions of a YAML list and check that each finds its path, and its lines where they are\n" +
			"given. Exits with 1 where the share of the questions that do is below --min-recall.",
		Example: "  kioku bench golden questions.yaml --workspace notes --min-recall 0.9",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(least >= 0 && least <= 1) {
				return misuse("--min-recall is %v; it lies between 0 and 1", least)
			}
			if err := checkResults(cmd); err != nil {
				return err
			}
			return a.benchGolden(cmd.Context(), args[0], least, results)
		},
	}
	cmd.Flags().Float64Var(&least, "min-recall", least, "least `share` of the questions that must be answered")
	cmd.Flags().Int32VarP(&results, "max-results", "n", 0, "look at this `many` results (default: query.maxResults)")
	return cmd
}

// goldenReport is what kioku bench golden --json writes; scripts read it.
type goldenReport struct {
	Recall    float64        `json:"recall"`
	MRR       float64        `json:"mrr"`
	Passed    int            `json:"passed"`
	Total     int            `json:"total"`
	Questions []goldenAnswer `json:"questions"`
}

type goldenAnswer struct {
	Question string `json:"question"`
	// Expected is the place, "path" or "path#L3-L9"; Rank counts from 1, 0 where it was not found.
	Expected string `json:"expected"`
	Lang     string `json:"lang"`
	Rank     int    `json:"rank"`
	Passed   bool   `json:"passed"`
	// First is the place of the first result, empty without any.
	First string `json:"first"`
}

func (a *app) benchGolden(ctx context.Context, file string, least float64, results int32) error {
	text, err := os.ReadFile(a.inDir([]string{file})[0])
	if err != nil {
		return fmt.Errorf("read questions: %w", err)
	}
	cases, err := bench.ParseGolden(text)
	if err != nil {
		return fmt.Errorf("%s:%w", file, err)
	}
	var r goldenReport
	err = a.with(ctx, toRead, func(c *client) (err error) {
		if err = a.freshen(ctx, c); err != nil {
			return err
		}
		if err = checkPlaces(ctx, c, file, cases); err == nil {
			r, err = a.askGolden(ctx, c, cases, results)
		}
		return err
	})
	if err != nil {
		return err
	}
	if a.json {
		err = a.writeJSON(r)
	} else {
		p := a.page()
		p.golden(r)
		err = a.show(p)
	}
	if err == nil && r.Recall < least {
		err = fmt.Errorf("recall %.3f is below --min-recall %.3f", r.Recall, least)
	}
	return err
}

// checkPlaces returns an error that begins with file and line where a case expects a place that is not in the memory, and
// so can never be found.
func checkPlaces(ctx context.Context, c *client, file string, cases []bench.Case) error {
	for _, q := range cases {
		resp, err := c.MemoryGet(ctx, &kiokuv1.MemoryGetRequest{Agent: c.agent, Path: q.Path, From: 1, Lines: 1})
		switch {
		case status.Code(err) == codes.NotFound:
			return fmt.Errorf("%s:%d: %s is no file of this memory", file, q.Line, q.Path)
		case err != nil:
			return fmt.Errorf("%s:%d: %w", file, q.Line, err)
		case q.End > int(resp.GetTotalLines()):
			return fmt.Errorf("%s:%d: %s has %s, the answer ends at %d", file, q.Line, q.Path,
				count(resp.GetTotalLines(), "line"), q.End)
		}
	}
	return nil
}

// askGolden asks all questions and ranks what they expect.
func (a *app) askGolden(ctx context.Context, c *client, cases []bench.Case, results int32) (goldenReport, error) {
	r := goldenReport{Total: len(cases)}
	m := a.meter()
	defer m.end()
	for i, q := range cases {
		m.bench(bench.Progress{Set: "golden", Phase: bench.PhaseAsk, Done: i, Total: len(cases)})
		resp, err := c.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{
			Agent: c.agent, Query: q.Question, MaxResults: results, Now: q.Now,
		})
		if err != nil {
			return r, fmt.Errorf("question %d: %w", i+1, err)
		}
		answer := goldenAnswer{Question: q.Question, Expected: expected(q), Lang: q.Lang}
		var found []bench.Range
		for _, hit := range resp.GetResults() {
			found = append(found, bench.Range{Path: hit.GetPath(), Start: int(hit.GetStartLine()), End: int(hit.GetEndLine())})
		}
		if len(found) > 0 {
			answer.First = resp.GetResults()[0].GetCitation()
		}
		if answer.Rank = q.Rank(found); answer.Rank > 0 {
			answer.Passed = true
			r.Passed++
			r.MRR += 1 / float64(answer.Rank)
		}
		r.Questions = append(r.Questions, answer)
	}
	r.Recall, r.MRR = float64(r.Passed)/float64(r.Total), r.MRR/float64(r.Total)
	return r, nil
}

// expected is the place that a case expects, as results cite it.
func expected(q bench.Case) string {
	if q.Start == 0 {
		return q.Path
	}
	return fmt.Sprintf("%s#L%d-L%d", q.Path, q.Start, q.End)
}

// golden adds a line for each question, two for those that failed, and the sum.
func (p *page) golden(r goldenReport) {
	for _, q := range r.Questions {
		if q.Passed {
			p.linef("ok    rank %-2d  %s", q.Rank, oneLine(q.Question))
			continue
		}
		p.linef("%s           %s", bold("FAIL"), oneLine(q.Question))
		first := "nothing was found"
		if q.First != "" {
			first = "the first result is " + oneLine(q.First)
		}
		p.linef("               expected %s; %s", oneLine(q.Expected), first)
	}
	p.linef("%s%s", bold(fmt.Sprintf("%d of %d found, recall %.3f, MRR %.3f", r.Passed, r.Total, r.Recall, r.MRR)), byLanguage(r.Questions))
}

// byLanguage sums up each language, empty where the questions name fewer than two.
func byLanguage(list []goldenAnswer) string {
	passed, total := map[string]int{}, map[string]int{}
	var langs []string
	for _, q := range list {
		if total[q.Lang] == 0 {
			langs = append(langs, q.Lang)
		}
		total[q.Lang]++
		if q.Passed {
			passed[q.Lang]++
		}
	}
	if len(langs) < 2 {
		return ""
	}
	slices.Sort(langs)
	var b strings.Builder
	for _, l := range langs {
		name := l
		if name == "" {
			name = "other"
		}
		fmt.Fprintf(&b, "; %s %d of %d", name, passed[l], total[l])
	}
	return b.String()
}
