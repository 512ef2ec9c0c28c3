package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/search"
)

// question is what the flags of search and explain ask for.
type question struct {
	maxResults        int32
	minScore          float64
	since, until, now string
	sources           []string
	pathPrefix        string
	granularity       string
	snippetChars      int32
	explain, strict   bool
}

func (q *question) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Int32VarP(&q.maxResults, "max-results", "n", 0, "at most this `many` results (default: query.maxResults)")
	f.Int32VarP(&q.maxResults, "top", "k", 0, "the same as --max-results")
	f.Float64Var(&q.minScore, "min-score", 0, "least `score`, 0 to 1 (default: query.minScore or query.minKeywordScore)")
	f.StringVar(&q.since, "since", "", "only notes dated on or after this `day`: 2026-01-20, 2026-01, today or yesterday")
	f.StringVar(&q.until, "until", "", "only notes dated on or before this `day`; of a month, its last one")
	f.StringVar(&q.now, "now", "", "the `time` that the question is asked at (default: the clock)")
	f.StringSliceVar(&q.sources, "source", nil, "only these `sources`: memory, extra, sessions")
	f.StringVar(&q.pathPrefix, "path-prefix", "", "only files whose path begins with this `text`")
	f.StringVar(&q.granularity, "granularity", "", "what a result is: passage or chunk (default: query.granularity)")
	f.Int32Var(&q.snippetChars, "max-snippet-chars", 0, "most characters of a snippet, 40 to 2000 (default: query.maxSnippetChars)")
	f.BoolVar(&q.strict, "strict", false, "exit with 3 where the answer is degraded")
}

// prepare checks what the service would not tell as well, and reads days that are written in words.
func (q *question) prepare(a *app, cmd *cobra.Command) error {
	if err := checkResults(cmd); err != nil {
		return err
	}
	conf, err := a.config()
	if err != nil {
		return err
	}
	today := askedOn(q.now, clockOf(conf))
	q.since, _ = daysOf(q.since, today)
	_, q.until = daysOf(q.until, today)
	return nil
}

// checkResults refuses a number of results that means nothing.
func checkResults(cmd *cobra.Command) error {
	f := cmd.Flags()
	if f.Changed("max-results") && f.Changed("top") {
		return misuse("-n and -k mean the same; give one of them")
	}
	for _, name := range []string{"max-results", "top"} {
		if !f.Changed(name) {
			continue
		}
		if n, err := f.GetInt32(name); err != nil || n < 1 || n > search.MaxResults {
			return misuse("--%s is %d; it must be at least 1 and at most %d", name, n, search.MaxResults)
		}
	}
	return nil
}

// request is the question as the service takes it; unset flags leave the service its defaults.
func (q *question) request(cmd *cobra.Command, agent, text string) *kiokuv1.MemorySearchRequest {
	r := &kiokuv1.MemorySearchRequest{
		Agent: agent, Query: text, MaxResults: q.maxResults, Sources: q.sources, PathPrefix: q.pathPrefix,
		Since: q.since, Until: q.until, Now: q.now, Explain: q.explain,
		Granularity: q.granularity, MaxSnippetChars: q.snippetChars,
	}
	if cmd.Flags().Changed("min-score") {
		r.MinScore = proto.Float64(q.minScore)
	}
	return r
}

func (a *app) searchCmd() *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use: "search QUERY", Short: "Find the passages that answer a question",
		Example: "  kioku search \"when is the API v1 switched off?\"\n  kioku search --json -n 3 先週の会議",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := q.prepare(a, cmd); err != nil {
				return err
			}
			return a.with(ctx, toRead, func(c *client) error {
				if err := a.freshen(ctx, c); err != nil {
					return err
				}
				return a.search(ctx, c, q.request(cmd, c.agent, strings.Join(args, " ")), q.strict)
			})
		},
	}
	q.addFlags(cmd)
	cmd.Flags().BoolVar(&q.explain, "explain", false, "take each score apart")
	return cmd
}

func (a *app) search(ctx context.Context, c *client, req *kiokuv1.MemorySearchRequest, strict bool) error {
	resp, err := c.MemorySearch(ctx, req)
	if err != nil {
		return err
	}
	if a.json {
		err = a.writeProto(resp)
	} else {
		err = a.showAnswer(ctx, c, req, resp)
	}
	if err == nil && strict && degraded(resp) {
		return errDegraded
	}
	return err
}

// degraded reports whether an answer had to do without something. That nothing matched is an answer.
func degraded(resp *kiokuv1.MemorySearchResponse) bool {
	return slices.ContainsFunc(resp.GetDegraded(), func(d *kiokuv1.Degradation) bool { return d.GetCode() != memory.NoMatch })
}

func (a *app) showAnswer(ctx context.Context, c *client, req *kiokuv1.MemorySearchRequest, resp *kiokuv1.MemorySearchResponse) error {
	p := a.page()
	p.results(resp.GetResults())
	if err := a.show(p); err != nil {
		return err
	}
	for _, d := range resp.GetDegraded() {
		if d.GetCode() != memory.NoMatch {
			a.tellDegraded([]*kiokuv1.Degradation{d})
		}
	}
	if len(resp.GetResults()) == 0 {
		return a.tellNearestMiss(ctx, c, req)
	}
	a.notice("%s, %s, %s", count(len(resp.GetResults()), "result"), channels(resp), took(resp))
	return nil
}

// tellNearestMiss says why there is no result: the best passage that did not reach the threshold, if there is any.
func (a *app) tellNearestMiss(ctx context.Context, c *client, req *kiokuv1.MemorySearchRequest) error {
	wide := proto.CloneOf(req)
	wide.MinScore, wide.MaxResults = proto.Float64(0), 1
	resp, err := c.MemorySearch(ctx, wide)
	switch {
	case err != nil:
		return err
	case resp.GetIndex().GetFiles() == 0:
		a.notice("no result: the index is empty; write notes to memory/ or MEMORY.md")
	case len(resp.GetResults()) == 0:
		a.notice("no result: %s (%s)", reason(resp), channels(resp))
	default:
		r := resp.GetResults()[0]
		a.notice("no result: the nearest, %s, scores only %.2f; --min-score %.2f shows it", r.GetCitation(), r.GetScore(), floor2(r.GetScore()))
	}
	return nil
}

// reason is why an answer is empty, as a part of a sentence.
func reason(resp *kiokuv1.MemorySearchResponse) string {
	for _, d := range resp.GetDegraded() {
		if text := strings.TrimSuffix(d.GetText(), "."); d.GetCode() == memory.NoMatch && text != "" {
			return strings.ToLower(text[:1]) + text[1:]
		}
	}
	return "no passage shares anything with the question"
}

// floor2 cuts a score to two digits, so that it is a threshold which the score reaches.
func floor2(score float64) float64 { return float64(int(score*100)) / 100 }

// channels says which channels answered.
func channels(resp *kiokuv1.MemorySearchResponse) string {
	if resp.GetMode() == memory.ModeKeyword {
		return "keywords"
	}
	name := resp.GetProvider()
	if resp.GetModel() != "" {
		name += " " + resp.GetModel()
	}
	return resp.GetMode() + " with " + name
}
