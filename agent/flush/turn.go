package flush

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kioku/agent"
	"kioku/llm"
	"kioku/memory"
)

// maxRounds bounds how often the model answers in one flush.
const maxRounds = 5

// turn is the conversation of one attempt with the model. It goes through the journal first.
type turn struct {
	runner *Runner
	job    *Job
	lease  Lease
	usage  *llm.Usage

	// steps of the journal, answers among them, and calls among those.
	steps, answers, calls int
	// said is what stands behind the conversation and the prompt: answers and results.
	said  []llm.Message
	notes []memory.Appended
}

// complete continues a flush to its end, and returns what the model has said at the end.
func (t *turn) complete(ctx context.Context) (reply string, err error) {
	if err := t.loadMessages(); err != nil {
		return "", err
	}
	steps, err := t.runner.Ledger.steps(t.lease.ID)
	if err != nil {
		return "", err
	}
	for len(steps) > 0 {
		first, results := steps[0], steps[1:]
		if end := slices.IndexFunc(results, func(s step) bool { return s.Answer != nil }); end >= 0 {
			results = results[:end]
		}
		if first.Answer == nil || len(results) > len(first.Answer.ToolCalls) {
			return "", fmt.Errorf("the journal of flush %s has a result without a call", t.lease.ID)
		}
		steps = steps[1+len(results):]
		t.steps += 1 + len(results)
		if reply, ended, err := t.carryOut(ctx, first, results); ended || err != nil {
			return reply, err
		}
	}
	for t.answers < maxRounds {
		answer, err := t.askModel(ctx)
		if err != nil {
			return "", err
		}
		s := step{Answer: &answer, NoteKey: t.lease.NoteKey}
		if err := t.journal(ctx, s); err != nil {
			return "", err
		}
		if reply, ended, err := t.carryOut(ctx, s, nil); ended || err != nil {
			return reply, err
		}
	}
	return "", nil
}

// loadMessages takes the messages of a flush that goes on from its spool.
func (t *turn) loadMessages() error {
	if !t.lease.Resumed || t.lease.Through == "" {
		return nil
	}
	messages, err := conversation(t.lease.Spool)
	if err != nil {
		return fmt.Errorf("read the spool of flush %s: %w", t.lease.ID, err)
	}
	t.job.Messages = messages
	return nil
}

// askModel asks the model what to do next. If the request is too long, the oldest messages are left out until it fits.
func (t *turn) askModel(ctx context.Context) (llm.Message, error) {
	for {
		resp, err := t.runner.Model.Generate(ctx, t.request(), nil)
		*t.usage = t.usage.Plus(resp.Usage)
		if err == nil {
			return readable(resp.Message), nil
		}
		shorter, ok := []llm.Message(nil), false
		if llm.KindOf(err) == llm.KindOverflow {
			shorter, ok = shorten(t.job.Messages)
		}
		if !ok {
			return llm.Message{}, fmt.Errorf("ask the model what to store: %w", err)
		}
		t.job.Messages = shorter
	}
}

// readable returns an answer whose calls have inputs that are JSON, as the journal needs them; one that was cut off is empty.
func readable(m llm.Message) llm.Message {
	m.ToolCalls = slices.Clone(m.ToolCalls)
	for i, call := range m.ToolCalls {
		if !json.Valid(call.Input) {
			m.ToolCalls[i].Input = json.RawMessage("{}")
		}
	}
	return m
}

func (t *turn) request() llm.Request {
	system := SystemPrompt()
	if t.job.System != "" {
		system = t.job.System + "\n\n" + system
	}
	last := llm.Message{Role: llm.RoleUser, Text: UserPrompt(t.runner.Ledger.now())}
	req := llm.Request{
		System: system, CachedBytes: min(t.job.CachedBytes, len(t.job.System)),
		Messages: slices.Concat(t.job.Messages, []llm.Message{last}, t.said),
	}
	for _, tool := range agent.Tools() {
		if tool.Name == agent.ToolAppend {
			req.Tools = []llm.Tool{{Name: tool.Name, Description: tool.Description, Schema: tool.InputSchema}}
		}
	}
	return req
}

// carryOut runs the calls of an answer that have no result yet. ended says that the answer has no calls.
func (t *turn) carryOut(ctx context.Context, answer step, results []step) (reply string, ended bool, err error) {
	t.answers++
	t.said = append(t.said, *answer.Answer)
	for i, call := range answer.Answer.ToolCalls {
		t.calls++
		if i < len(results) {
			t.done(results[i])
			continue
		}
		result, err := t.storeNote(ctx, call, answer.NoteKey+strconv.Itoa(t.calls))
		if err != nil {
			return "", false, err
		}
		if err := t.journal(ctx, result); err != nil {
			return "", false, err
		}
		t.done(result)
	}
	return answer.Answer.Text, len(answer.Answer.ToolCalls) == 0, nil
}

// done takes note of a result.
func (t *turn) done(result step) {
	t.said = append(t.said, *result.Result)
	if result.Note != nil {
		t.notes = append(t.notes, *result.Note)
	}
}

func (t *turn) journal(ctx context.Context, s step) error {
	if err := t.runner.Ledger.addStep(ctx, t.lease, t.steps, s); err != nil {
		return fmt.Errorf("write the journal of the flush: %w", err)
	}
	t.steps++
	return nil
}

// storeNote stores the note of a call and returns what to tell the model. A refusal is a result as well; an error means that the
// note could not be stored now.
func (t *turn) storeNote(ctx context.Context, call llm.ToolCall, key string) (step, error) {
	if ctx.Err() != nil {
		return step{}, context.Cause(ctx)
	}
	result := llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, ToolName: call.Name}
	note, err := t.note(call)
	var appended memory.Appended
	if err == nil {
		note.Key = key
		appended, err = t.runner.Notes.Append(ctx, note)
	}
	if refusal := (*memory.InputError)(nil); errors.As(err, &refusal) {
		result.Text, result.Failed = err.Error(), true
		return step{Result: &result}, nil
	}
	if err != nil {
		return step{}, fmt.Errorf("store a note: %w", err)
	}
	output, err := json.Marshal(map[string]any{
		"path": appended.Path, "start_line": appended.StartLine, "deduplicated": appended.Deduplicated,
	})
	result.Text = string(output)
	return step{Result: &result, Note: &appended}, err
}

// note returns the note that a call asks to store, or an *memory.InputError, worded for the model.
func (t *turn) note(call llm.ToolCall) (memory.Note, error) {
	refuse := func(field, problem string) (memory.Note, error) {
		return memory.Note{}, &memory.InputError{Field: field, Problem: problem}
	}
	if call.Name != agent.ToolAppend {
		return refuse("name", "only "+agent.ToolAppend+" can be called in this turn")
	}
	if most := t.runner.Ledger.settings.MaxNotes; len(t.notes) >= most {
		return refuse("text", fmt.Sprintf("all %d notes of this turn are used up; nothing more can be saved", most))
	}
	var input struct{ Text, Content, Category string }
	if err := json.Unmarshal(call.Input, &input); err != nil {
		return refuse("input", "must be a JSON object with a text")
	}
	if input.Text == "" {
		input.Text = input.Content // another name that models use for it
	}
	if strings.TrimSpace(input.Text) == "" {
		return refuse("text", "must not be blank")
	}
	return memory.Note{Text: input.Text, Target: memory.TargetDaily, Category: input.Category, Source: memory.NoteFromFlush}, nil
}
