package flush_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/agent"
	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/llm"
	"kioku/llm/echo"
	"kioku/llm/llmtest"
	"kioku/memory"

	"github.com/google/go-cmp/cmp"
)

// store is a memory of notes. It may be used concurrently.
type store struct {
	mu    sync.Mutex
	notes []memory.Note
	// fail is asked before each note is stored.
	fail func(memory.Note) error
}

func (s *store) Append(_ context.Context, note memory.Note) (memory.Appended, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		if err := s.fail(note); err != nil {
			return memory.Appended{}, fmt.Errorf("append: %w", err)
		}
	}
	if i := slices.IndexFunc(s.notes, func(n memory.Note) bool { return n.Key == note.Key }); i >= 0 {
		return memory.Appended{Path: "memory/day.md", StartLine: i + 1, Deduplicated: true}, nil
	}
	s.notes = append(s.notes, note)
	return memory.Appended{Path: "memory/day.md", StartLine: len(s.notes)}, nil
}

func (s *store) texts() (texts []string) {
	for _, n := range s.notes {
		texts = append(texts, n.Text)
	}
	return texts
}

// save is a step that stores texts.
func save(texts ...string) llmtest.Step {
	var step llmtest.Step
	for i, text := range texts {
		one := llmtest.Call(fmt.Sprint("c", i), agent.ToolAppend, map[string]string{"text": text})
		step.Response.Message.Role = llm.RoleAssistant
		step.Response.Message.ToolCalls = append(step.Response.Message.ToolCalls, one.Response.Message.ToolCalls...)
	}
	step.Response.Usage = llm.Usage{Input: 100, Output: 10, CacheRead: 1, CacheWrite: 2}
	return step
}

func runner(t *testing.T, notes flush.Notes, steps ...llmtest.Step) (*flush.Runner, *llmtest.Script) {
	model := &llmtest.Script{Tokens: 200_000, Steps: steps}
	return &flush.Runner{
		Model: model, Notes: notes, Ledger: flush.NewLedger(filepath.Join(t.TempDir(), "flush"), flush.Settings{}, newClock().Now),
	}, model
}

func job() flush.Job {
	return flush.Job{
		Session: "s", Holder: "a", System: "You are an agent.", CachedBytes: 17,
		Messages: []llm.Message{{Role: llm.RoleUser, Text: "The launch is in May."}, {Role: llm.RoleAssistant, Text: "Noted."}},
	}
}

func TestRunStoresWhatTheModelSays(t *testing.T) {
	t.Parallel()
	notes := &store{}
	r, model := runner(t, notes, save("The launch is in May.", "発売は五月。"), llmtest.Say("NO_REPLY"))
	out := r.Run(t.Context(), job())
	want := flush.Outcome{
		Outcome: session.FlushDone, Usage: llm.Usage{Input: 100, Output: 10, CacheRead: 1, CacheWrite: 2},
		Notes: []memory.Appended{{Path: "memory/day.md", StartLine: 1}, {Path: "memory/day.md", StartLine: 2}},
	}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
	for i, n := range notes.notes {
		if n.Target != memory.TargetDaily || n.Source != memory.NoteFromFlush || !strings.HasSuffix(n.Key, fmt.Sprint("-", i+1)) {
			t.Errorf("%+v", n)
		}
	}
	first, second := model.Requests()[0], model.Requests()[1]
	if first.System != "You are an agent.\n\n"+flush.SystemPrompt() || first.CachedBytes != 17 {
		t.Errorf("system %q, %d cached", first.System, first.CachedBytes)
	}
	if len(first.Tools) != 1 || first.Tools[0].Name != agent.ToolAppend || !json.Valid(first.Tools[0].Schema) {
		t.Errorf("tools %+v", first.Tools)
	}
	asked := append(job().Messages, llm.Message{Role: llm.RoleUser, Text: flush.UserPrompt(newClock().now)})
	if diff := cmp.Diff(asked, first.Messages); diff != "" {
		t.Error(diff)
	}
	results := second.Messages[len(asked)+1:]
	if len(results) != 2 || results[0].Role != llm.RoleTool || results[1].ToolCallID != "c1" || !strings.Contains(results[0].Text, `"start_line":1`) {
		t.Errorf("%+v", results)
	}
}

func TestRunDoesNothingTwice(t *testing.T) {
	t.Parallel()
	notes := &store{}
	r, model := runner(t, notes, save("x"), llmtest.Say("NO_REPLY"))
	first := r.Run(t.Context(), job())
	second := r.Run(t.Context(), job())
	if second.Outcome != session.FlushDone || len(second.Notes) != 1 || len(model.Requests()) != 2 || len(first.Notes) != 1 {
		t.Errorf("%+v, %d requests", second, len(model.Requests()))
	}
}

func TestRunReturnsTheReplyForTheUser(t *testing.T) {
	t.Parallel()
	r, _ := runner(t, &store{}, llmtest.Say(" Your backup has failed. \n"))
	if out := r.Run(t.Context(), job()); out.Reply != "Your backup has failed." || out.Outcome != session.FlushDone {
		t.Errorf("%+v", out)
	}
}

func TestRunRefusesOtherCalls(t *testing.T) {
	t.Parallel()
	notes := &store{}
	bad := func(name, input string) llmtest.Step {
		call := llm.ToolCall{ID: "x", Name: name, Input: json.RawMessage(input)}
		return llmtest.Step{Response: llm.Response{Message: llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{call}}}}
	}
	for _, c := range []struct {
		step    llmtest.Step
		problem string
	}{
		{bad(agent.ToolSearch, `{"query":"x"}`), "only memory_append"},
		{bad(agent.ToolAppend, `{"text":" "}`), "must not be blank"},
		{bad(agent.ToolAppend, `{"text":7}`), "must be a JSON object"},
		{bad(agent.ToolAppend, `{"text":"cut o`), "must not be blank"},
		{bad(agent.ToolAppend, ``), "must not be blank"},
	} {
		r, model := runner(t, notes, c.step, llmtest.Say("NO_REPLY"))
		if out := r.Run(t.Context(), job()); out.Outcome != session.FlushDone || len(out.Notes) != 0 {
			t.Errorf("%s: %+v", c.problem, out)
			continue
		}
		told := model.Requests()[1].Messages
		if last := told[len(told)-1]; !last.Failed || !strings.Contains(last.Text, c.problem) {
			t.Errorf("%s: %+v", c.problem, last)
		}
	}
	if len(notes.notes) != 0 {
		t.Errorf("%v", notes.texts())
	}
}

func TestRunMakesDailyNotesOfAnyInput(t *testing.T) {
	t.Parallel()
	notes := &store{}
	r, _ := runner(t, notes, llmtest.Call("x", agent.ToolAppend, map[string]string{"content": "x", "target": "long_term", "category": "fact"}), llmtest.Say(""))
	r.Run(t.Context(), job())
	if len(notes.notes) != 1 || notes.notes[0].Target != memory.TargetDaily || notes.notes[0].Category != "fact" {
		t.Errorf("%+v", notes.notes)
	}
}

func TestRunBoundsNotesAndRounds(t *testing.T) {
	t.Parallel()
	notes := &store{}
	var steps []llmtest.Step
	for i := range 9 {
		steps = append(steps, save(fmt.Sprint(i, "a"), fmt.Sprint(i, "b")))
	}
	r, model := runner(t, notes, steps...)
	r.Ledger = flush.NewLedger(t.TempDir(), flush.Settings{MaxNotes: 3}, newClock().Now)
	out := r.Run(t.Context(), job())
	if diff := cmp.Diff([]string{"0a", "0b", "1a"}, notes.texts()); diff != "" || out.Outcome != session.FlushDone || out.Reply != "" {
		t.Errorf("%s\n%+v", diff, out)
	}
	if n := len(model.Requests()); n != 5 {
		t.Errorf("%d rounds", n)
	}
}

// Hazard F06: memory that must not be written ends a flush at once, with the reason.
func TestRunSkipsAReadOnlyMemory(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{memory.ErrReadOnly, memory.ErrDenied} {
		r, model := runner(t, &store{fail: func(memory.Note) error { return cause }}, save("one"), save("one"))
		out := r.Run(t.Context(), job())
		if out.Outcome != session.FlushSkipped || !strings.Contains(out.Reason, cause.Error()) || len(model.Requests()) != 1 {
			t.Errorf("%+v", out)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the user has gone")
	notes := &store{fail: func(memory.Note) error { cancel(gone); return nil }}
	r, _ := runner(t, notes, save("one", "two"), llmtest.Say("NO_REPLY"))
	out := r.Run(ctx, job())
	if out.Outcome != session.FlushFailed || !strings.Contains(out.Reason, gone.Error()) || len(out.Notes) != 1 {
		t.Errorf("%+v", out)
	}
	if got, _ := r.Ledger.Progress("s", 0); got.Failed != 0 || got.Done || got.Begun.IsZero() {
		t.Errorf("%+v", got)
	}
	notes.fail = nil
	if out := r.Run(t.Context(), job()); out.Outcome != session.FlushDone || len(out.Notes) != 2 {
		t.Errorf("afterwards: %+v", out)
	}
}

// Who cancels again and again uses up no attempts.
func TestRunCountsNoAttemptIfItIsCanceled(t *testing.T) {
	t.Parallel()
	notes := &store{}
	r, model := runner(t, notes)
	cancelled := func(stop func()) llmtest.Step {
		return llmtest.Step{Err: context.Canceled, Check: func(llm.Request) error { stop(); return nil }}
	}
	for i := range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		model.Steps = append(model.Steps, cancelled(cancel))
		if out := r.Run(ctx, job()); out.Outcome != session.FlushFailed || !strings.Contains(out.Reason, "canceled") {
			t.Errorf("%d: %+v", i, out)
		}
	}
	if got, err := r.Ledger.Progress("s", 0); err != nil || got.Failed != 0 || got.Done {
		t.Errorf("%+v, %v", got, err)
	}
	// Nothing is held by who was cancelled, and the next one goes on.
	model.Steps = append(model.Steps, save("one"), llmtest.Say("NO_REPLY"))
	other := job()
	other.Holder = "b"
	if out := r.Run(t.Context(), other); out.Outcome != session.FlushDone || len(notes.notes) != 1 {
		t.Errorf("%+v, %v", out, notes.texts())
	}
}

func TestRunSkipsAFlushThatSomebodyElseHolds(t *testing.T) {
	t.Parallel()
	r, model := runner(t, &store{}, llmtest.Say("NO_REPLY"))
	begin(t, r.Ledger, "s", 0, "b", nil)
	if out := r.Run(t.Context(), job()); out.Outcome != session.FlushSkipped || !strings.Contains(out.Reason, "somebody else") || len(model.Requests()) != 0 {
		t.Errorf("%+v", out)
	}
}

func TestRunStopsIfItLosesTheLease(t *testing.T) {
	t.Parallel()
	notes, clock := &store{}, newClock()
	r, model := runner(t, notes, save("one"))
	r.Ledger = flush.NewLedger(t.TempDir(), flush.Settings{}, clock.Now)
	model.Steps[0].Check = func(llm.Request) error {
		clock.now = clock.now.Add(time.Hour)
		_, err := r.Ledger.Begin(t.Context(), "s", 0, "b", nil)
		return err
	}
	out := r.Run(t.Context(), job())
	if out.Outcome != session.FlushSkipped || len(notes.notes) != 0 {
		t.Errorf("%+v, %v", out, notes.texts())
	}
	if got, _ := r.Ledger.Progress("s", 0); got.Failed != 0 {
		t.Errorf("the other one's flush was aborted: %+v", got)
	}
}

// Hazard F06: of many who flush the same cycle at once, also under one name, one is listened to, and each of its notes is
// stored once.
func TestRunOfManyAtOnceStoresOneAnswer(t *testing.T) {
	t.Parallel()
	notes, folder := &store{}, t.TempDir()
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			r := &flush.Runner{Model: dyingModel{name: fmt.Sprint(i)}, Notes: notes, Ledger: flush.NewLedger(folder, flush.Settings{}, nil)}
			j := job()
			j.Messages, j.Holder = nil, fmt.Sprint("holder ", i%2)
			if out := r.Run(t.Context(), j); out.Outcome == session.FlushFailed {
				t.Error(out.Reason)
			}
		})
	}
	group.Wait()
	texts := notes.texts()
	if len(texts) != 3 || texts[0][:1] != texts[1][:1] || texts[0][2:]+texts[1][2:]+texts[2][2:] != "onetwothree" {
		t.Errorf("%v", texts)
	}
	if got, err := flush.NewLedger(folder, flush.Settings{}, nil).Progress("s", 0); err != nil || !got.Done {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRunLeavesOutTheOldestMessages(t *testing.T) {
	t.Parallel()
	notes := &store{}
	r, _ := runner(t, notes)
	r.Model = &echo.Model{Tokens: 3_000}
	j := job()
	j.Messages = nil
	for i := range 200 {
		j.Messages = append(j.Messages, llm.Message{Role: llm.RoleUser, Text: fmt.Sprint("noise ", strings.Repeat("la ", 60), i, "?")},
			llm.Message{Role: llm.RoleAssistant, Text: "yes"})
	}
	j.Messages = append(j.Messages, llm.Message{Role: llm.RoleUser, Text: "We decided to paint it green."})
	out := r.Run(t.Context(), j)
	if out.Outcome != session.FlushDone || len(notes.notes) != 1 || !strings.Contains(notes.notes[0].Text, "green") {
		t.Errorf("%+v, %v", out, notes.texts())
	}
	if len(j.Messages) != 401 {
		t.Error("the caller's messages were changed")
	}

	r, _ = runner(t, notes)
	r.Model = &echo.Model{Tokens: 10}
	if out := r.Run(t.Context(), job()); out.Outcome != session.FlushFailed || !strings.Contains(out.Reason, "too long") {
		t.Errorf("a window that nothing fits into: %+v", out)
	}
}

func TestRunWithoutAModelOrAFolder(t *testing.T) {
	t.Parallel()
	r, _ := runner(t, &store{}, llmtest.Say("NO_REPLY"))
	r.Model = nil
	if out := r.Run(t.Context(), job()); out.Outcome != session.FlushSkipped || out.Reason == "" {
		t.Errorf("%+v", out)
	}
	r, model := runner(t, &store{}, llmtest.Say("NO_REPLY"))
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.Ledger = flush.NewLedger(file, flush.Settings{}, nil)
	if out := r.Run(t.Context(), job()); out.Outcome != session.FlushFailed || !strings.Contains(out.Reason, file) || len(model.Requests()) != 0 {
		t.Errorf("%+v", out)
	}
}

func TestRunNamesADamagedJournal(t *testing.T) {
	t.Parallel()
	for name, journal := range map[string]string{
		"no JSON": "x\n", "neither": "{}\n", "a result first": `{"result":{"role":"tool"}}` + "\n",
	} {
		r, _ := runner(t, &store{}, llmtest.Say("NO_REPLY"))
		folder := t.TempDir()
		r.Ledger = flush.NewLedger(folder, flush.Settings{}, nil)
		lease := begin(t, r.Ledger, "s", 0, "a", nil)
		if err := os.WriteFile(filepath.Join(folder, lease.ID+".journal.jsonl"), []byte(journal), 0o600); err != nil {
			t.Fatal(err)
		}
		if out := r.Run(t.Context(), job()); out.Outcome != session.FlushFailed || !strings.Contains(out.Reason, lease.ID) {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

// Hazard F06: of two processes that flush as the same holder, the one that is behind in the journal stops, and stores nothing.
func TestRunOfTwoProcessesUnderOneName(t *testing.T) {
	t.Parallel()
	notes, folder := &store{}, t.TempDir()
	fast, _ := runner(t, notes)
	slow, _ := runner(t, notes)
	fast.Ledger, slow.Ledger = flush.NewLedger(folder, flush.Settings{}, nil), flush.NewLedger(folder, flush.Settings{}, nil)
	ahead, stopped, done := make(chan struct{}), make(chan struct{}), make(chan flush.Outcome, 1)
	last := llmtest.Say("NO_REPLY")
	last.Check = func(llm.Request) error { close(ahead); <-stopped; return nil }
	fast.Model = &llmtest.Script{Tokens: 200_000, Steps: []llmtest.Step{save("fast"), last}}
	first := save("slow")
	first.Check = func(llm.Request) error {
		go func() { done <- fast.Run(t.Context(), job()) }()
		<-ahead
		return nil
	}
	slow.Model = &llmtest.Script{Tokens: 200_000, Steps: []llmtest.Step{first, llmtest.Say("NO_REPLY")}}
	out := slow.Run(t.Context(), job())
	close(stopped)
	if out.Outcome != session.FlushSkipped || len(out.Notes) > 0 {
		t.Errorf("the slow one: %+v", out)
	}
	if out := <-done; out.Outcome != session.FlushDone {
		t.Errorf("the fast one: %+v", out)
	}
	if diff := cmp.Diff([]string{"fast"}, notes.texts()); diff != "" {
		t.Error(diff)
	}
}
