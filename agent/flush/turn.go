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

// maxRounds is the maximum number of answers in one flush.
const maxRounds = 5

// turn is the conversation with the model in one attempt. The steps of the journal come first.
type turn struct {
	runner *Runner
	job    *Job
	lease  Lease
	usage  *llm.Usage

	// steps, answers and calls count what is in the journal.
	steps, answers, calls int
	// said contains the answers and results that follow the conversation and the prompt.
	said  []llm.Message
	notes []memory.Appended
}

// finishFlush continues a flush to its end and returns the last words of the model.
func (t *turn) finishFlush(ctx context.Context) (reply string, err error) {
	if err := t.loadMessages(); err != nil {
		return "", err
	}
	steps, err := t.runner.Ledger.steps(t.lease.ID)
	if err != nil {
		return "", err
	}
	for len(steps) > 0 {
		answer, results := steps[0], steps[1:]
		if end := slices.IndexFunc(results, func(s step) bool { return s.Answer != nil }); end >= 0 {
			results = results[:end]
		}
		if answer.Answer == nil || len(results) > len(answer.Answer.ToolCalls) {
			return "", fmt.Errorf("the journal of flush %s has a result without a call", t.lease.ID)
		}
		steps = steps[1+len(results):]
		t.steps += 1 + len(results)
		if ended, err := t.execute(ctx, answer, results); ended || err != nil {
			return answer.Answer.Text, err
		}
	}
	for t.answers < maxRounds {
		message, err := t.askModel(ctx)
		if err != nil {
			return "", err
		}
		answer := step{Answer: &message, NoteKey: t.lease.NoteKey}
		if err := t.journal(ctx, answer); err != nil {
			return "", err
		}
		if ended, err := t.execute(ctx, answer, nil); ended || err != nil {
			return message.Text, err
		}
	}
	return "", nil
}

// loadMessages replaces the messages of the job by those on disk if the flush is resumed.
func (t *turn) loadMessages() error {
	if !t.lease.Resumed || t.lease.Through == "" {
		return nil
	}
	t.job.Messages = make([]llm.Message, len(t.lease.Spool))
	for i, line := range t.lease.Spool {
		if err := json.Unmarshal(line, &t.job.Messages[i]); err != nil {
			return fmt.Errorf("read the spool of flush %s: message %d: %w", t.lease.ID, i+1, err)
		}
	}
	return nil
}

// askModel returns the next answer of the model. If the request is too long, askModel leaves out the oldest messages until it
// fits.
func (t *turn) askModel(ctx context.Context) (llm.Message, error) {
	for {
		resp, err := t.runner.Model.Generate(ctx, t.request(), nil)
		*t.usage = t.usage.Plus(resp.Usage)
		if err == nil {
			return withValidInputs(resp.Message), nil
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

// withValidInputs returns a message in which an empty object replaces each input that is not JSON, because it was cut off: the
// journal needs JSON.
func withValidInputs(m llm.Message) llm.Message {
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
	return llm.Request{
		System: system, CachedBytes: min(t.job.CachedBytes, len(t.job.System)),
		Messages: slices.Concat(t.job.Messages, []llm.Message{last}, t.said),
		Tools:    slices.DeleteFunc(agent.Tools(), func(tool llm.Tool) bool { return tool.Name != agent.ToolAppend }),
	}
}

// execute executes the calls of an answer that have no result yet. It reports whether the flush has ended: the answer has no
// calls.
func (t *turn) execute(ctx context.Context, answer step, results []step) (ended bool, err error) {
	t.answers++
	t.said = append(t.said, *answer.Answer)
	for i, call := range answer.Answer.ToolCalls {
		t.calls++
		var result step
		if i < len(results) {
			result = results[i]
		} else {
			if result, err = t.storeNote(ctx, call, answer.NoteKey+strconv.Itoa(t.calls)); err != nil {
				return false, err
			}
			if err := t.journal(ctx, result); err != nil {
				return false, err
			}
		}
		t.said = append(t.said, *result.Result)
		if result.Note != nil {
			t.notes = append(t.notes, *result.Note)
		}
	}
	return len(answer.Answer.ToolCalls) == 0, nil
}

func (t *turn) journal(ctx context.Context, s step) error {
	if err := t.runner.Ledger.addStep(ctx, t.lease, t.steps, s); err != nil {
		return fmt.Errorf("write the journal of the flush: %w", err)
	}
	t.steps++
	return nil
}

// storeNote stores the note of a call and returns the result for the model, which may be a refusal. It returns an error if the
// note could not be stored now.
func (t *turn) storeNote(ctx context.Context, call llm.ToolCall, key string) (step, error) {
	if ctx.Err() != nil {
		return step{}, context.Cause(ctx)
	}
	result := llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, ToolName: call.Name}
	note, err := t.noteOf(call)
	var appended memory.Appended
	if err == nil {
		note.Key = key
		appended, err = t.runner.Notes.Append(ctx, note)
	}
	if _, refused := errors.AsType[*memory.InputError](err); refused {
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

// noteOf returns the note that a call asks to store, or an *memory.InputError for the model.
func (t *turn) noteOf(call llm.ToolCall) (memory.Note, error) {
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
