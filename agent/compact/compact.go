package compact

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kioku/agent/session"
	"kioku/llm"
)

// Errors of this package; test for them with errors.Is. After each of them, and after those of the model, the history is
// what it was.
var (
	// ErrNothing: there are no messages before those that are kept.
	ErrNothing = errors.New("nothing to compact")
	// ErrRefused: the model's summary is of no use, also at the second try.
	ErrRefused = errors.New("summary refused, history kept")
)

// DefaultKeepRecent is how many tokens of the latest messages stay where nobody says.
const DefaultKeepRecent = 20_000

const (
	defaultSummary = 4000
	// partOfUnknown is how many tokens of the conversation a model whose window is not known is shown at once.
	partOfUnknown = 24_000
	// promptTokens is room for the task, the rules and the list of identifiers.
	promptTokens = 1500
	// minPart keeps the parts for a tiny window from becoming senseless.
	minPart = 500
)

// Model is what writes summaries; llm.Model is one.
type Model interface {
	// Window is how many tokens a request and its answer may have, 0 where that is not known.
	Window() int
	// Generate answers a request.
	Generate(ctx context.Context, req llm.Request, stream func(llm.Event)) (llm.Response, error)
}

// Compactor compacts conversations. All fields but Model may be left out.
type Compactor struct {
	Model Model
	// Count counts the tokens of a text, as that of the session does; nil means an estimate.
	Count func(text string) int
	// KeepRecentTokens is how much of the latest messages stays as it is; 0 means 20,000. It is never more than a third of
	// the window.
	KeepRecentTokens int
	// SummaryTokens is how long a summary may be; 0 means 4,000. It is never more than an eighth of the window.
	SummaryTokens int
	// PartTokens is how much of the conversation the model is shown at once; 0, or more than fits, means what fits into its
	// window.
	PartTokens int
}

// Compact has the messages before the latest ones summarised and returns what to append to the session, with the summary,
// the first message that is kept, and the tokens before and after. Messages that are added meanwhile are kept as well.
//
// It returns ErrNothing where all messages are recent ones, ErrRefused where the summary lacks identifiers or is cut off,
// also when it was asked for once more, or is not shorter than what it replaces, and otherwise the error of the model or
// of ctx.
func (c *Compactor) Compact(ctx context.Context, v session.View) (session.Compaction, error) {
	r := c.settle()
	at := cut(v, r.keep)
	if at == 0 || at == 1 && v.Cycle > 0 {
		return session.Compaction{}, ErrNothing
	}
	// Half a part for each block leaves room for the indentation of its lines.
	blocks := render(v, at, r.part/2, r.count)
	ids := identifiers(blocks)
	summary, err := r.summarise(ctx, blocks, ids)
	if err != nil {
		return session.Compaction{}, fmt.Errorf("compact %d messages: %w", at, err)
	}
	out := session.Compaction{Summary: summary, FirstKept: v.IDs[at], TokensBefore: v.Tokens}
	out.TokensAfter = llm.MessageTokens(c.Count, session.SummaryMessage(summary))
	for _, n := range v.Counts[at:] {
		out.TokensAfter += n
	}
	if out.TokensAfter >= out.TokensBefore {
		return session.Compaction{}, fmt.Errorf("%w: with it there are %d tokens, without it %d", ErrRefused, out.TokensAfter, out.TokensBefore)
	}
	return out, nil
}

// run is one compaction, with all sizes settled.
type run struct {
	model               Model
	count               func(string) int
	keep, summary, part int
}

// settle fits the sizes into the model's window.
func (c *Compactor) settle() run {
	r := run{model: c.Model, keep: c.KeepRecentTokens, summary: c.SummaryTokens, part: c.PartTokens}
	r.count = func(text string) int { return llm.MessageTokens(c.Count, llm.Message{Text: text}) }
	if r.keep <= 0 {
		r.keep = DefaultKeepRecent
	}
	if r.summary <= 0 {
		r.summary = defaultSummary
	}
	fits := partOfUnknown
	if window := c.Model.Window(); window > 0 {
		r.keep = min(r.keep, window/3)
		r.summary = min(r.summary, max(window/8, 1))
		// Twice the summary: the second try repeats the first one. A fifth is left because the model counts otherwise.
		fits = (window - 2*r.summary - promptTokens) * 4 / 5
	}
	if r.part <= 0 || r.part > fits {
		r.part = fits
	}
	r.part = max(r.part, minPart)
	return r
}

// summarise has blocks summarised, in parts where they are more than the model is shown at once, and the parts merged.
func (r run) summarise(ctx context.Context, blocks []block, ids []string) (string, error) {
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		texts[i] = b.text
	}
	groups := pack(texts, r.part, r.count)
	if len(groups) == 1 {
		return r.generate(ctx, wholeTask, strings.Join(texts, ""), ids)
	}
	summaries, err := r.each(ctx, partTask, groups, ids)
	if err != nil {
		return "", err
	}
	return r.merge(ctx, summaries, ids)
}

// each has each group summarised by itself, with those of the identifiers that are in it.
func (r run) each(ctx context.Context, task string, groups [][]string, ids []string) ([]string, error) {
	out := make([]string, len(groups))
	for i, g := range groups {
		material := strings.Join(g, "")
		var within []string
		for _, id := range ids {
			if bounded(material, id) {
				within = append(within, id)
			}
		}
		summary, err := r.generate(ctx, task, material, within)
		if err != nil {
			return nil, fmt.Errorf("part %d of %d: %w", i+1, len(groups), err)
		}
		out[i] = summary
	}
	return out, nil
}

// merge makes one summary of several, in several rounds where they are more than the model is shown at once.
func (r run) merge(ctx context.Context, summaries []string, ids []string) (string, error) {
	texts := make([]string, len(summaries))
	for i, s := range summaries {
		texts[i] = fmt.Sprintf("[part %d]\n%s\n", i+1, indent(s))
	}
	groups := pack(texts, r.part, r.count)
	if len(groups) == 1 {
		return r.generate(ctx, mergeTask, strings.Join(texts, ""), ids)
	}
	if len(groups) == len(texts) {
		return "", fmt.Errorf("%w: no two summaries of parts fit into the window together", ErrRefused)
	}
	summaries, err := r.each(ctx, mergeTask, groups, ids)
	if err != nil {
		return "", err
	}
	return r.merge(ctx, summaries, ids)
}

// generate has a summary written, and once more where something is wrong with it.
func (r run) generate(ctx context.Context, task, material string, ids []string) (string, error) {
	req := llm.Request{System: system, CachedBytes: len(system), MaxTokens: r.summary}
	question := ask(task, material, ids)
	req.Messages = []llm.Message{{Role: llm.RoleUser, Text: question}}
	summary, problem, err := r.try(ctx, req, ids)
	if err != nil || problem == "" {
		return summary, err
	}
	correction := "This summary cannot be used: " + problem + " Write the whole summary anew."
	if summary == "" {
		req.Messages[0].Text += "\n\n" + correction
	} else {
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, Text: summary}, llm.Message{Role: llm.RoleUser, Text: correction})
	}
	if summary, problem, err = r.try(ctx, req, ids); err == nil && problem != "" {
		err = fmt.Errorf("%w: %s", ErrRefused, problem)
	}
	return summary, err
}

// try asks once and tells what is wrong with the answer; nothing where problem is empty.
func (r run) try(ctx context.Context, req llm.Request, ids []string) (summary, problem string, err error) {
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	resp, err := r.model.Generate(ctx, req, nil)
	if err != nil {
		return "", "", fmt.Errorf("summarise: %w", err)
	}
	summary = strings.TrimSpace(resp.Message.Text)
	lost := missing(summary, ids)
	switch {
	case summary == "":
		return "", "It is empty.", nil
	case resp.Stop == llm.StopLength:
		return summary, "It is too long and was cut off; be shorter.", nil
	case len(lost) > 0:
		return summary, "These identifiers do not stand in it letter for letter:\n" + list(lost) + "\n", nil
	}
	return summary, "", nil
}
