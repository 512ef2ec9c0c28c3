package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/search"
)

// question contains the flags of search and explain. For flags that are not set the service uses its defaults.
type question struct {
	memory.Query
	filter   filterFlags
	minScore float64
	// now is the flag: a time of RFC 3339 or a day, empty for the clock.
	now    string
	strict bool
	// version of the notes that is searched; empty for now.
	version string
}

func (q *question) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVarP(&q.MaxResults, "max-results", "n", 0, "maximum `number` of results (default: query.maxResults)")
	f.IntVarP(&q.MaxResults, "top", "k", 0, "the same as --max-results")
	f.IntVar(&q.MaxPerFile, "max-per-file", 0, "maximum `number` of results of one file (default: any number)")
	f.Float64Var(&q.minScore, "min-score", 0, "minimum `score`, 0 to 1 (default: query.minScore or query.minKeywordScore)")
	q.filter.addFlags(cmd)
	f.StringVar(&q.now, "now", "", "the `time` at which the question is asked (default: the clock)")
	f.StringVar(&q.PathPrefix, "path-prefix", "", "only files whose path begins with this `text`")
	f.StringVar(&q.Granularity, "granularity", "", "what a result is: passage or chunk (default: query.granularity)")
	f.IntVar(&q.SnippetChars, "max-snippet-chars", 0, "maximum `number` of characters of a snippet, 40 to 2000 (default: query.maxSnippetChars)")
	f.BoolVar(&q.strict, "strict", false, "exit with 3 if the answer is degraded")
}

// prepare checks the flags, parses now, and turns months, today and yesterday into days.
func (q *question) prepare(a *app, cmd *cobra.Command) error {
	if err := checkResults(cmd); err != nil {
		return err
	}
	conf, err := a.config()
	if err != nil {
		return err
	}
	if q.Now, err = momentOf(q.now, conf.Location); err != nil {
		return err
	}
	today := q.Now
	if today.IsZero() {
		today = host.ClockOf(conf)()
	}
	prefix := q.PathPrefix
	if q.Filter, err = q.filter.filter(today); err != nil {
		return err
	}
	q.PathPrefix = prefix
	if cmd.Flags().Changed("min-score") {
		q.MinScore = &q.minScore
	}
	return nil
}

// checkResults returns a misuse for a number of results that is out of range.
func checkResults(cmd *cobra.Command) error {
	f := cmd.Flags()
	if f.Changed("max-results") && f.Changed("top") {
		return render.Misuse("-n and -k mean the same; give one of them")
	}
	for _, name := range []string{"max-results", "top"} {
		if !f.Changed(name) {
			continue
		}
		if n, err := f.GetInt(name); err != nil || n < 1 || n > search.MaxResults {
			return render.Misuse("--%s is %d; it must be at least 1 and at most %d", name, n, search.MaxResults)
		}
	}
	return nil
}

func (a *app) searchCmd() *cobra.Command {
	var (
		q       question
		context string
	)
	cmd := &cobra.Command{
		Use: "search QUERY", Short: "Find the passages that answer a question",
		Example: "  kioku search \"when is the API v1 switched off?\"\n  kioku search --json -n 3 先週の会議\n  kioku search --as-of 2026-10-01 \"where does Ines live?\"",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := q.prepare(a, cmd); err != nil {
				return err
			}
			var err error
			if q.Context, err = a.readContext(context); err != nil {
				return err
			}
			q.Text = strings.Join(args, " ")
			if q.version != "" {
				return a.with(ctx, connect.ToGet, func(c *connect.Client) error { return a.searchPast(ctx, c, &q) })
			}
			return a.fresh(ctx, func(c *connect.Client) error { return a.Search(ctx, c.Search, q.Query, q.strict) })
		},
	}
	q.addFlags(cmd)
	cmd.Flags().StringVar(&q.version, "as-of", "", "search the notes as they were: 2026-10-01, a time, 7d, or a commit")
	cmd.Flags().BoolVar(&q.Explain, "explain", false, "take each score apart")
	cmd.Flags().StringSliceVar(&q.Kinds, "kinds", nil, "what to find: chunk (passages of notes, the default), fact, loop or summary; the others need derive.enabled")
	cmd.Flags().StringVar(&context, "context", "", "`file` with the messages before the question, one a line, the user's first and then in turn; - reads standard input")
	return cmd
}

// maxContext is the maximum size in bytes of a file of messages, and contextMessages the number of the latest ones that are sent.
const (
	maxContext      = 1 << 20
	contextMessages = 20
)

// readContext returns the messages of a file: those of the user and of the agent in turn.
func (a *app) readContext(file string) ([]memory.Turn, error) {
	if file == "" {
		return nil, nil
	}
	in := a.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxContext))
	if err != nil {
		return nil, fmt.Errorf("read the messages of %s: %w", file, err)
	}
	var turns []memory.Turn
	for line := range strings.Lines(string(data)) {
		speaker := memory.SpeakerUser
		if len(turns)%2 == 1 {
			speaker = memory.SpeakerAssistant
		}
		if said := strings.TrimSpace(line); said != "" {
			turns = append(turns, memory.Turn{Speaker: speaker, Text: strings.ToValidUTF8(said, "\uFFFD")})
		}
	}
	return turns[max(len(turns)-contextMessages, 0):], nil
}
