package flush

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/agent/tools"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/memory"
)

// errCutOff reports that an answer was cut off before it named a note.
var errCutOff = errors.New("the answer was cut off before it named a note")

// isTooLong reports whether a shorter range may succeed.
func isTooLong(err error) bool {
	return llm.KindOf(err) == llm.KindOverflow || errors.Is(err, errCutOff)
}

// turn is the conversation with the model about a range.
type turn struct {
	runner   *Runner
	job      *Job
	occasion Occasion
	messages []llm.Message
	usage    *llm.Usage
	// said contains the answers of the model and the results of their calls. Room is left for so many tokens of them.
	said  []llm.Message
	room  int
	notes []Note
	// lease of the range, which names the conversation to the provider.
	lease string
	// idle is the number of the last answers that named no new note.
	idle int
	// declined says that the model, or a filter of its provider, has declined to answer.
	declined bool
	// end is the time after which the model is not asked again.
	end time.Time
}

// newTurn returns a turn that was not begun. A quarter of the room for answers is kept free for the last one.
func (r *Runner) newTurn(job *Job, next Range, usage *llm.Usage) *turn {
	t := &turn{runner: r, job: job, lease: next.Lease, occasion: next.Occasion, messages: next.Messages, usage: usage, end: time.Now().Add(maxTurn)}
	t.room = roomOf(job.Window, job.Fixed) + answerRoom(job.Window)*3/4
	for _, m := range next.Messages {
		t.room -= llm.MessageTokens(r.Ledger.opt.Count, m)
	}
	return t
}

// ask has the model name notes until it calls no tool any more. The answer is unfinished if the model is stopped before.
func (t *turn) ask(ctx context.Context) (Answer, error) {
	for first := true; ; first = false {
		resp, err := t.request(ctx)
		if !first && isTooLong(err) {
			t.runner.shorten(t.job)
			return t.unfinished(), nil
		}
		if err != nil {
			return Answer{}, fmt.Errorf("ask the model what to store: %w", err)
		}
		done := len(resp.Message.ToolCalls) == 0
		switch {
		case done && resp.Stop == llm.StopLength && len(t.notes) == 0:
			return Answer{}, errCutOff
		case resp.Stop == llm.StopRefusal:
			t.declined = true
			return t.unfinished(), nil
		case done && resp.Stop == llm.StopLength:
			return t.unfinished(), nil
		case done:
			return Answer{Notes: t.notes, Reply: resp.Message.Text}, nil
		}
		t.takeNotes(resp.Message)
		if t.idle >= maxIdle || len(t.notes) >= maxNamed || t.room < 0 || !time.Now().Before(t.end) {
			return t.unfinished(), nil
		}
	}
}

func (t *turn) unfinished() Answer { return Answer{Notes: t.notes, Unfinished: true} }

// request sends the range and what was said since.
func (t *turn) request(ctx context.Context) (llm.Response, error) {
	system := SystemPrompt(t.occasion)
	if t.job.System != "" {
		system = t.job.System + "\n\n" + system
	}
	req := llm.Request{
		System: system, CachedBytes: min(t.job.CachedBytes, len(t.job.System)), Tools: []llm.Tool{Tool()},
		Messages: withUserFirst(t.messages), Patience: patience, Conversation: "flush/" + t.lease,
	}
	req.Messages = append(req.Messages, llm.Message{Role: llm.RoleUser, Text: UserPrompt(t.occasion, t.runner.Ledger.opt.Now())})
	req.Messages = append(req.Messages, t.said...)
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	resp, err := t.runner.Model.Generate(ctx, req, nil)
	*t.usage = t.usage.Plus(resp.Usage)
	return resp, err
}

// leftOut is the first message of a range that begins with an answer, because providers want a message of the user first.
const leftOut = "(What was said before is left out.)"

// withUserFirst returns messages that begin with one of the user.
func withUserFirst(messages []llm.Message) []llm.Message {
	out := make([]llm.Message, 0, len(messages)+2)
	if len(messages) > 0 && messages[0].Role != llm.RoleUser {
		out = append(out, llm.Message{Role: llm.RoleUser, Text: leftOut})
	}
	return append(out, messages...)
}

// takeNotes collects the notes that an answer names, and tells the model about those that it may mend.
func (t *turn) takeNotes(answer llm.Message) {
	t.idle++
	t.say(answer)
	for i, call := range answer.ToolCalls {
		result := llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, ToolName: call.Name, Text: `{"saved":true}`}
		note, err := noteOf(call)
		switch {
		case err != nil:
			result.Text, result.Failed = err.Error(), true
		case slices.Contains(t.notes, note):
			result.Text = `{"saved":true,"hint":"it was saved before; save what is left, or answer ` + NoReply + `"}`
		case len(t.notes) < maxNotes:
			t.notes, t.idle = append(t.notes, note), 0
		}
		if !json.Valid(call.Input) {
			answer.ToolCalls[i].Input = json.RawMessage("{}")
		}
		t.say(result)
	}
}

// say adds a message to the conversation.
func (t *turn) say(m llm.Message) {
	t.said = append(t.said, m)
	t.room -= llm.MessageTokens(t.runner.Ledger.opt.Count, m)
}

// noteOf returns the note that a call asks to store, or an *memory.InputError for the model.
func noteOf(call llm.ToolCall) (Note, error) {
	refuse := func(field, problem string) (Note, error) {
		return Note{}, &memory.InputError{Field: field, Problem: problem}
	}
	if why := call.Problem(); why != "" {
		return Note{}, errors.New(why)
	}
	if call.Name != tools.Append {
		return refuse("name", "only "+tools.Append+" can be called in this turn")
	}
	var input struct{ Text, Content, Category string }
	if err := json.Unmarshal(call.Input, &input); err != nil {
		return refuse("input", "must be a JSON object with a text")
	}
	if input.Text == "" {
		input.Text = input.Content // another name that models use for it
	}
	if strings.TrimSpace(memory.StripRecalled(input.Text)) == "" {
		return refuse("text", "must not be blank, and not be recalled from memory")
	}
	return Note{Text: strings.ToValidUTF8(input.Text, "\ufffd"), Category: text.OneLine(input.Category)}, nil
}
