package flush

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"kioku/agent"
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
	messages []llm.Message
	usage    *llm.Usage
	// said contains the answers of the model and the results of their calls.
	said  []llm.Message
	notes []Note
}

// ask has the model name notes, and returns its last words.
func (t *turn) ask(ctx context.Context) (reply string, err error) {
	for round := range maxRounds {
		resp, err := t.request(ctx)
		// The notes of earlier answers are whole.
		if round > 0 && isTooLong(err) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("ask the model what to store: %w", err)
		}
		if len(resp.Message.ToolCalls) == 0 {
			if round == 0 && resp.Stop == llm.StopLength {
				return "", errCutOff
			}
			return resp.Message.Text, nil
		}
		t.takeNotes(resp.Message)
	}
	return "", nil
}

// request sends the range and what was said since.
func (t *turn) request(ctx context.Context) (llm.Response, error) {
	system := SystemPrompt()
	if t.job.System != "" {
		system = t.job.System + "\n\n" + system
	}
	req := llm.Request{
		System: system, CachedBytes: min(t.job.CachedBytes, len(t.job.System)), Tools: []llm.Tool{Tool()},
		Messages: withUserFirst(t.messages), Patience: patience,
	}
	req.Messages = append(req.Messages, llm.Message{Role: llm.RoleUser, Text: UserPrompt(t.runner.Ledger.opt.Now())})
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
	t.said = append(t.said, answer)
	for i, call := range answer.ToolCalls {
		result := llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, ToolName: call.Name, Text: `{"saved":true}`}
		note, err := noteOf(call)
		if err == nil && len(t.notes) >= maxNotes {
			err = fmt.Errorf("all %d notes of this turn are used up; nothing more can be saved", maxNotes)
		}
		if err != nil {
			result.Text, result.Failed = err.Error(), true
		} else {
			t.notes = append(t.notes, note)
		}
		if !json.Valid(call.Input) {
			answer.ToolCalls[i].Input = json.RawMessage("{}")
		}
		t.said = append(t.said, result)
	}
}

// noteOf returns the note that a call asks to store, or an *memory.InputError for the model.
func noteOf(call llm.ToolCall) (Note, error) {
	refuse := func(field, problem string) (Note, error) {
		return Note{}, &memory.InputError{Field: field, Problem: problem}
	}
	if call.Name != agent.ToolAppend {
		return refuse("name", "only "+agent.ToolAppend+" can be called in this turn")
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
