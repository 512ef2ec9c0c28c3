package compact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kioku/agent/session"
	"kioku/llm"
)

// Errors of this package; test for them with errors.Is. After any error the history is unchanged.
var (
	// ErrNothing: there are no messages before the latest ones.
	ErrNothing = errors.New("nothing to compact")
	// ErrRefused: the summary cannot be used, even after a second try.
	ErrRefused = errors.New("summary refused, history kept")
)

const (
	defaultSummary = 4000
	// partOfUnknown is the number of tokens of the conversation in a request if the window is unknown.
	partOfUnknown = 24_000
	// promptTokens is the room for the task, the rules and the list of identifiers.
	promptTokens = 1500
	// summaryShare is the part of a window that a model may write a summary of, and minSummary its least size in tokens all the same.
	summaryShare, minSummary = 8, 100
	// leastShare and leastSummary bound how short a summary may be that contains none of the identifiers which it must contain: a
	// hundredth of what it replaces, at most 12 tokens. The headings that every summary has are longer.
	leastShare, leastSummary = 100, 12
	// minPart is the minimum number of tokens of the conversation in a request.
	minPart = 500
	// patience is how long after its first try a failed request is sent again: a turn waits for it.
	patience = 5 * time.Second
)

// Compactor compacts conversations.
type Compactor struct {
	// Model writes the summaries; required by Compact. Begin needs only its window.
	Model llm.Model
	// Count counts the tokens of a text, as the session does; nil means an estimate.
	Count func(text string) int
	// KeepTokens is the maximum size in tokens of the latest messages, which stay as they are. See flush.Settings.Keep for sizes that
	// fit into a window.
	KeepTokens int
	// SummaryTokens is the maximum size of a summary in tokens; 0 means 4,000. It is at most an eighth of the window.
	SummaryTokens int
	// Window of the model in tokens; 0 means what Model says, if there is one.
	Window int
}

// Compact has a model summarise the messages before the latest ones, of the first free messages of the view, and returns the
// compaction to append to the session. Messages that are added meanwhile are kept.
//
// Identifiers that the summary lacks after a second try are appended to it. A summary that is longer than SummaryTokens, or than
// three quarters of what it replaces, is shortened and says so. Compact returns ErrNothing if there are no such messages, or so
// few that a summary cannot be shorter; ErrRefused if the summary is empty, cut off or implausibly short twice, or the model declines; and otherwise the error of the model
// or of ctx. A request that fails is sent again for at most 5 s. used is the usage of all requests, also after an error.
func (c *Compactor) Compact(ctx context.Context, v session.View, free int) (made session.Compaction, used llm.Usage, err error) {
	steps, err := c.Begin(v, free)
	if err != nil {
		return session.Compaction{}, used, err
	}
	defer steps.Stop()
	for req, more := steps.Request(); more; req, more = steps.Request() {
		resp, err := llm.Response{}, ctx.Err()
		if err == nil {
			resp, err = c.Model.Generate(ctx, req, nil)
			used = used.Plus(resp.Usage)
		}
		if err != nil && ctx.Err() != nil {
			return session.Compaction{}, used, fmt.Errorf("compact %d messages: %w", steps.at, err)
		}
		if err == nil && resp.Stop == llm.StopRefusal {
			err = fmt.Errorf("%w: the model, or a filter of its provider, has declined to summarise", ErrRefused)
		}
		steps.Answer(Answer{Text: resp.Message.Text, Cut: resp.Stop == llm.StopLength, Err: err, Window: c.Model.Window()})
	}
	made, err = steps.Result()
	return made, used, err
}

// tokensOf returns the size of the messages of a view before index until.
func tokensOf(v session.View, until int) (tokens int) {
	for _, n := range v.Counts[:until] {
		tokens += n
	}
	return tokens
}

// writer has a model write the summaries of one compaction.
type writer struct {
	// ask sends a request to the model.
	ask   func(llm.Request) (Answer, error)
	count func(string) int
	// window of the model in tokens as it was last known; 0 if it is not.
	window int
	// summary is the maximum size of a summary, and part that of the conversation in one request, in tokens.
	summary, part int
}

func (c *Compactor) newWriter() *writer {
	w := &writer{summary: max(cmp.Or(c.SummaryTokens, defaultSummary), minSummary), part: partOfUnknown}
	w.count = func(text string) int { return llm.MessageTokens(c.Count, llm.Message{Text: text}) }
	w.window = c.Window
	if c.Model != nil && c.Window == 0 {
		w.window = c.Model.Window()
	}
	w.fit()
	return w
}

// fit makes requests fit into the window, if it is known.
func (w *writer) fit() {
	if w.window <= 0 {
		return
	}
	w.summary = min(w.summary, max(w.window/summaryShare, minSummary))
	// Twice the summary, because the second try repeats the first one. A fifth is left for other ways to count tokens. Two
	// summaries always fit together, so that they can be merged.
	w.part = max((w.window-2*w.summary-promptTokens)*4/5, minPart, 3*w.summary)
}

// shrink makes requests smaller after the model has refused one as too long: at most half as long, and so that they fit into the
// window that the refusal may have taught. tokens is the size of the conversation. It reports whether anything became smaller.
func (w *writer) shrink(tokens int) bool {
	before := w.part
	w.fit()
	w.part = max(min(w.part, before/2, tokens/2), minPart)
	w.summary = min(w.summary, max(w.part/3, minSummary))
	return w.part < before
}

// summariseShorter returns a summary of the first messages of a view, of at most limit tokens. As long as the model refuses a
// request as too long, it summarises shorter parts.
func (w *writer) summariseShorter(v session.View, until, limit int) (string, error) {
	var ids []string
	for try := 0; ; try++ {
		// Half a part for each block leaves room for the indentation of the lines.
		blocks := render(v, until, w.part/2, w.count)
		if try == 0 {
			ids = identifiers(blocks)
		}
		summary, err := w.summarise(blocks, ids)
		if err == nil {
			return shorten(summary, ids, limit, w.count), nil
		}
		if llm.KindOf(err) != llm.KindOverflow || !w.shrink(tokensOf(v, until)) {
			return "", err
		}
	}
}

// summarise returns a summary of blocks. If they do not fit into one request, it merges the summaries of parts.
func (w *writer) summarise(blocks []block, ids []string) (string, error) {
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		texts[i] = b.text
	}
	groups := pack(texts, w.part, w.count)
	if len(groups) == 1 {
		return w.generate(wholeTask, strings.Join(texts, ""), ids)
	}
	summaries, err := w.summariseEach(partTask, groups, ids)
	if err != nil {
		return "", err
	}
	return w.merge(summaries, ids)
}

// summariseEach returns a summary of each group, which must contain the identifiers of that group.
func (w *writer) summariseEach(task string, groups [][]string, ids []string) ([]string, error) {
	out := make([]string, len(groups))
	for i, g := range groups {
		material := strings.Join(g, "")
		var within []string
		for _, id := range ids {
			if bounded(material, id) {
				within = append(within, id)
			}
		}
		summary, err := w.generate(task, material, within)
		if err != nil {
			return nil, fmt.Errorf("part %d of %d: %w", i+1, len(groups), err)
		}
		out[i] = summary
	}
	return out, nil
}

// merge returns one summary of several. If they do not fit into one request, it takes several rounds.
func (w *writer) merge(summaries []string, ids []string) (string, error) {
	texts := make([]string, len(summaries))
	for i, s := range summaries {
		texts[i] = fmt.Sprintf("[part %d]\n%s\n", i+1, indent(s))
	}
	groups := pack(texts, w.part, w.count)
	if len(groups) == 1 {
		return w.generate(mergeTask, strings.Join(texts, ""), ids)
	}
	if len(groups) == len(texts) {
		return "", fmt.Errorf("%w: no two summaries of parts fit into the window together", ErrRefused)
	}
	summaries, err := w.summariseEach(mergeTask, groups, ids)
	if err != nil {
		return "", err
	}
	return w.merge(summaries, ids)
}

// generate returns a summary of at most w.summary tokens that contains ids. If something is wrong with the model's first one,
// generate asks once more, and then appends the identifiers that the better one lacks.
func (w *writer) generate(task, material string, ids []string) (string, error) {
	req := llm.Request{System: system, CachedBytes: len(system), MaxTokens: w.summary, Patience: patience}
	question := taskPrompt(task, material, ids)
	least := min(w.count(material)/leastShare, leastSummary)
	req.Messages = []llm.Message{{Role: llm.RoleUser, Text: question}}
	first, err := w.try(req, ids, least)
	if err != nil || first.problem() == "" {
		return shorten(first.text, ids, w.summary, w.count), err
	}
	correction := "This summary cannot be used: " + first.problem() + " Write the whole summary anew."
	if first.text == "" {
		req.Messages[0].Text += "\n\n" + correction
	} else {
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, Text: shorten(first.text, nil, w.summary, w.count)}, llm.Message{Role: llm.RoleUser, Text: correction})
	}
	second, err := w.try(req, ids, least)
	switch {
	case err != nil && !first.whole():
		return "", err
	case err == nil && second.whole() && (!first.whole() || len(second.lost) <= len(first.lost)):
		return shorten(second.text, ids, w.summary, w.count), nil
	case first.whole():
		return shorten(first.text, ids, w.summary, w.count), nil
	}
	return "", fmt.Errorf("%w: %s", ErrRefused, second.problem())
}

// draft is a summary as the model wrote it.
type draft struct {
	text string
	// cut is true if the answer ended before the summary did.
	cut bool
	// short is true if it is too short to be a summary, and contains none of the identifiers.
	short bool
	// lost are the identifiers that it lacks.
	lost []string
}

// whole reports whether the draft lacks nothing but identifiers.
func (d draft) whole() bool { return d.text != "" && !d.cut && !d.short }

// problem tells the model what is wrong with the draft; it is empty if the draft can be used as it is.
func (d draft) problem() string {
	switch {
	case d.text == "":
		return "It is empty."
	case d.cut:
		return "It is too long and was cut off; be shorter."
	case d.short:
		return "It is too short to be a summary of what it replaces."
	case len(d.lost) > 0:
		return "These identifiers do not stand in it letter for letter:\n" + list(d.lost) + "\n"
	}
	return ""
}

// try asks once. A draft of fewer than least tokens is too short, unless it contains some of the identifiers.
func (w *writer) try(req llm.Request, ids []string, least int) (draft, error) {
	answer, err := w.ask(req)
	if err != nil {
		return draft{}, fmt.Errorf("summarise: %w", err)
	}
	text := strings.TrimSpace(answer.Text)
	lost := missing(text, ids)
	return draft{text: text, cut: answer.Cut, short: w.count(text) < least && len(lost) == len(ids), lost: lost}, nil
}

// Cut returns the index of the first message that a compaction keeps: the kept messages have at most keep tokens, and all but
// the first free messages are kept. It is never a tool result, so that a call and its results stay together. The last message,
// and the call that it answers, are always kept.
func Cut(v session.View, keep, free int) int {
	if len(v.Messages) == 0 {
		return 0
	}
	at, tokens := len(v.Messages), 0
	for at > 0 && tokens+v.Counts[at-1] <= keep {
		at--
		tokens += v.Counts[at]
	}
	for at < len(v.Messages) && v.Messages[at].Role == llm.RoleTool {
		at++
	}
	at = min(at, len(v.Messages)-1, free)
	for at > 0 && v.Messages[at].Role == llm.RoleTool {
		at--
	}
	return at
}
