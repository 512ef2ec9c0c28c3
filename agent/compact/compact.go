package compact

import (
	"cmp"
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

// DefaultKeepTokens is the size of the latest messages that stay if a Compactor does not say.
const DefaultKeepTokens = 20_000

const (
	defaultSummary = 4000
	// partOfUnknown is how many tokens of the conversation a model of unknown window is shown at once.
	partOfUnknown = 24_000
	// promptTokens is room for the task, the rules and the list of identifiers.
	promptTokens = 1500
	// minPart keeps the parts for a tiny window from becoming senseless.
	minPart = 500
)

// Compactor compacts conversations. All fields but Model are optional.
type Compactor struct {
	Model llm.Model
	// Count counts the tokens of a text, as the session does; nil means an estimate.
	Count func(text string) int
	// KeepTokens is the maximum size of the latest messages that stay as they are, 0 means 20,000, and SummaryTokens the
	// maximum size of a summary, 0 means 4,000. See flush.Settings.Keep for sizes that fit into a window.
	KeepTokens, SummaryTokens int
}

// Compact has the messages before the latest ones summarised and returns what to append to the session, with the summary,
// the first message that is kept, and the tokens before and after. Messages that are added meanwhile are kept as well.
//
// It returns ErrNothing if all messages are recent ones, ErrRefused if the summary lacks identifiers or is cut off,
// also when it was asked for once more, or is not shorter than what it replaces, and otherwise the error of the model or
// of ctx. used is what its requests have used, after an error too.
func (c *Compactor) Compact(ctx context.Context, v session.View) (made session.Compaction, used llm.Usage, err error) {
	w := c.newWriter()
	at := cut(v, cmp.Or(c.KeepTokens, DefaultKeepTokens))
	if at == 0 || at == 1 && v.Cycle > 0 {
		return session.Compaction{}, used, ErrNothing
	}
	// Half a part for each block leaves room for the indentation of its lines.
	blocks := render(v, at, w.part/2, w.count)
	summary, err := w.summarise(ctx, blocks, identifiers(blocks))
	if err != nil {
		return session.Compaction{}, w.used, fmt.Errorf("compact %d messages: %w", at, err)
	}
	out := session.Compaction{Summary: summary, FirstKept: v.IDs[at], TokensBefore: v.Tokens}
	out.TokensAfter = llm.MessageTokens(c.Count, session.SummaryMessage(summary))
	for _, n := range v.Counts[at:] {
		out.TokensAfter += n
	}
	if out.TokensAfter >= out.TokensBefore {
		return session.Compaction{}, w.used, fmt.Errorf("%w: with it there are %d tokens, without it %d", ErrRefused, out.TokensAfter, out.TokensBefore)
	}
	return out, w.used, nil
}

// writer writes the summaries of one compaction.
type writer struct {
	model llm.Model
	count func(string) int
	// summary is the maximum size of a summary and part how much of the conversation the model is shown at once, in tokens.
	summary, part int
	used          llm.Usage
}

func (c *Compactor) newWriter() *writer {
	w := &writer{model: c.Model, summary: cmp.Or(c.SummaryTokens, defaultSummary), part: partOfUnknown}
	w.count = func(text string) int { return llm.MessageTokens(c.Count, llm.Message{Text: text}) }
	if window := c.Model.Window(); window > 0 {
		// Twice the summary: the second try repeats the first one. A fifth is left because the model counts otherwise.
		w.part = max((window-2*w.summary-promptTokens)*4/5, minPart)
	}
	return w
}

// summarise has blocks summarised, in parts where they are more than the model is shown at once, and the parts merged.
func (w *writer) summarise(ctx context.Context, blocks []block, ids []string) (string, error) {
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		texts[i] = b.text
	}
	groups := pack(texts, w.part, w.count)
	if len(groups) == 1 {
		return w.generate(ctx, wholeTask, strings.Join(texts, ""), ids)
	}
	summaries, err := w.summariseEach(ctx, partTask, groups, ids)
	if err != nil {
		return "", err
	}
	return w.merge(ctx, summaries, ids)
}

// summariseEach has each group summarised by itself, with those of the identifiers that are in it.
func (w *writer) summariseEach(ctx context.Context, task string, groups [][]string, ids []string) ([]string, error) {
	out := make([]string, len(groups))
	for i, g := range groups {
		material := strings.Join(g, "")
		var within []string
		for _, id := range ids {
			if bounded(material, id) {
				within = append(within, id)
			}
		}
		summary, err := w.generate(ctx, task, material, within)
		if err != nil {
			return nil, fmt.Errorf("part %d of %d: %w", i+1, len(groups), err)
		}
		out[i] = summary
	}
	return out, nil
}

// merge makes one summary of several, in several rounds where they are more than the model is shown at once.
func (w *writer) merge(ctx context.Context, summaries []string, ids []string) (string, error) {
	texts := make([]string, len(summaries))
	for i, s := range summaries {
		texts[i] = fmt.Sprintf("[part %d]\n%s\n", i+1, indent(s))
	}
	groups := pack(texts, w.part, w.count)
	if len(groups) == 1 {
		return w.generate(ctx, mergeTask, strings.Join(texts, ""), ids)
	}
	if len(groups) == len(texts) {
		return "", fmt.Errorf("%w: no two summaries of parts fit into the window together", ErrRefused)
	}
	summaries, err := w.summariseEach(ctx, mergeTask, groups, ids)
	if err != nil {
		return "", err
	}
	return w.merge(ctx, summaries, ids)
}

// generate has a summary written, and once more if something is wrong with it.
func (w *writer) generate(ctx context.Context, task, material string, ids []string) (string, error) {
	req := llm.Request{System: system, CachedBytes: len(system), MaxTokens: w.summary}
	question := taskPrompt(task, material, ids)
	req.Messages = []llm.Message{{Role: llm.RoleUser, Text: question}}
	summary, problem, err := w.try(ctx, req, ids)
	if err != nil || problem == "" {
		return summary, err
	}
	correction := "This summary cannot be used: " + problem + " Write the whole summary anew."
	if summary == "" {
		req.Messages[0].Text += "\n\n" + correction
	} else {
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, Text: summary}, llm.Message{Role: llm.RoleUser, Text: correction})
	}
	if summary, problem, err = w.try(ctx, req, ids); err == nil && problem != "" {
		err = fmt.Errorf("%w: %s", ErrRefused, problem)
	}
	return summary, err
}

// try asks once and tells what is wrong with the answer; nothing if problem is empty.
func (w *writer) try(ctx context.Context, req llm.Request, ids []string) (summary, problem string, err error) {
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	resp, err := w.model.Generate(ctx, req, nil)
	w.used = w.used.Plus(resp.Usage)
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
