package flush_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/llm"
	"kioku/llm/llmtest"
	"kioku/memory"
)

func remember(text string) llmtest.Step {
	return llmtest.Call("f", "memory_append", map[string]any{"text": text, "category": "fact"})
}

var none = llmtest.Say("NO_REPLY")

// run flushes the session "talk" with a model that goes through steps.
func (w *world) run(messages []flush.Message, steps ...llmtest.Step) (flush.Outcome, *llmtest.Script) {
	w.t.Helper()
	model := &llmtest.Script{Steps: steps}
	r := flush.Runner{Model: model, Ledger: w.Ledger}
	return r.Run(w.t.Context(), flush.Job{Request: flush.Request{Session: "talk", Messages: messages}, System: "You are Ann."}), model
}

func TestRunStoresWhatTheModelNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	talk := said("My cat is Miso.", "Noted.")
	out, model := w.run(talk, remember("The cat is Miso."), none)
	if out.Outcome != session.FlushDone || out.Ranges != 1 || out.Covered != 2 || out.Uncovered != 0 || out.Through != "m2" || len(out.Notes) != 1 || out.Reply != "" {
		t.Errorf("%+v", out)
	}
	req := model.Requests()[0]
	if !strings.HasPrefix(req.System, "You are Ann.\n\n## Saving memories") || len(req.Tools) != 1 || len(req.Messages) != 3 || !strings.Contains(req.Messages[2].Text, "2026-03-02") {
		t.Errorf("asked %+v", req)
	}
	if out, model = w.run(talk); out.Outcome != session.FlushDone || out.Ranges != 0 || len(model.Requests()) != 0 {
		t.Errorf("again: %+v", out)
	}
}

// A model that was shown a range and stores nothing has seen it, also one that says that it has stored something.
func TestRunCoversWhatTheModelWasShown(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]llmtest.Step{"nothing": none, "a lie": llmtest.Say("I have stored it. NO_REPLY"), "silence": llmtest.Say("")} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			talk := said("My cat is Miso.")
			if out, _ := w.run(talk, step); out.Outcome != session.FlushDone || w.covered(talk...) != "+" || len(w.notes.notes) > 0 {
				t.Errorf("%+v, covered %s", out, w.covered(talk...))
			}
		})
	}
}

func TestRunLeavesUncoveredWhatAModelWasNotShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps   []llmtest.Step
		outcome string
	}{
		"down":           {[]llmtest.Step{llmtest.Fail(llm.KindUnavailable)}, session.FlushFailed},
		"down in it":     {[]llmtest.Step{remember("The cat is Miso."), llmtest.Fail(llm.KindUnavailable)}, session.FlushFailed},
		"no key":         {[]llmtest.Step{llmtest.Fail(llm.KindAuth)}, session.FlushFailed},
		"always too big": {repeated(llmtest.Fail(llm.KindOverflow), 40), session.FlushFailed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			talk := said("My cat is Miso." + strings.Repeat(" tea", 100))
			out, _ := w.run(talk, c.steps...)
			if out.Outcome != c.outcome || out.Reason == "" || out.Err == nil || w.covered(talk...) != "-" || len(w.notes.notes) > 0 {
				t.Errorf("%+v, covered %s, notes %q", out, w.covered(talk...), w.notes.texts())
			}
			if !out.NextTry.Equal(noon.Add(10 * time.Second)) {
				t.Errorf("next try %v", out.NextTry)
			}
			if out, model := w.run(talk, none); out.Outcome != session.FlushSkipped || len(model.Requests()) > 0 || !strings.Contains(out.Reason, "12:00:10") {
				t.Errorf("at once: %+v", out)
			}
			w.now = w.now.Add(10 * time.Second)
			if out, _ := w.run(talk, repeated(none, 40)...); out.Outcome != session.FlushDone || w.covered(talk...) != "+" {
				t.Errorf("later: %+v", out)
			}
		})
	}
}

func repeated(s llmtest.Step, n int) []llmtest.Step {
	out := make([]llmtest.Step, n)
	for i := range out {
		out[i] = s
	}
	return out
}

func TestRunLetsTheModelMendANote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := llmtest.Call("f", "memory_append", map[string]any{"text": "  "})
	other := llmtest.Call("g", "memory_search", map[string]any{"query": "x"})
	broken := remember("x")
	broken.Response.Message.ToolCalls[0].Input = []byte(`{"text": "cut o`)
	out, model := w.run(said("My cat is Miso."), bad, other, broken, remember("The cat is Miso."), none)
	if out.Outcome != session.FlushDone || len(w.notes.notes) != 1 {
		t.Errorf("%+v, %q", out, w.notes.texts())
	}
	last := model.Requests()[3].Messages
	var told []string
	for _, m := range last {
		if m.Role == llm.RoleTool {
			told = append(told, m.Text)
		}
	}
	want := []string{
		"text: must not be blank, and not be recalled from memory", "name: only memory_append can be called in this turn", "input: must be a JSON object with a text",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestRunReturnsTheReply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if out, _ := w.run(said("My cat is Miso."), llmtest.Say(" Shall I go on? ")); out.Reply != "Shall I go on?" {
		t.Errorf("%+v", out)
	}
}

// An answer that was cut off before it named a note was not given: the range is halved.
func TestRunHalvesARangeWhoseAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cut := llmtest.Say("I think about")
	cut.Response.Stop = llm.StopLength
	talk := said(strings.Repeat("tea ", 1000), "Noted.")
	out, model := w.run(talk, append([]llmtest.Step{cut}, repeated(none, 10)...)...)
	if out.Outcome != session.FlushDone || out.Ranges < 2 || len(model.Requests()) != out.Ranges+1 {
		t.Errorf("%+v, %d requests", out, len(model.Requests()))
	}
}

// Hazard F06: a memory that must not be written is told, and covers nothing.
func TestRunSkipsAMemoryThatMustNotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.notes.err = fmt.Errorf("%w: no right", memory.ErrDenied)
	talk := said("My cat is Miso.")
	out, _ := w.run(talk, remember("The cat is Miso."), none)
	if out.Outcome != session.FlushSkipped || !errors.Is(out.Err, memory.ErrDenied) || w.covered(talk...) != "-" {
		t.Errorf("%+v", out)
	}
	// Its notes are on disk: no model is asked again.
	w.notes.err, w.now = nil, w.now.Add(time.Minute)
	if out, model := w.run(talk); out.Outcome != session.FlushDone || len(model.Requests()) > 0 || len(w.notes.notes) != 1 || w.covered(talk...) != "+" {
		t.Errorf("later: %+v, %q", out, w.notes.texts())
	}
}

// A model that stalls ends with the time of a request, and the next range is shorter. A turn that is canceled is no failure.
func TestRunOfAModelThatStalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		talk := said(strings.Repeat("tea ", 1000))
		stall := llmtest.Step{Wait: make(chan struct{})}
		begun := time.Now()
		out, _ := w.run(talk, stall)
		if took := time.Since(begun); out.Outcome != session.FlushFailed || out.NextTry.IsZero() || took > 3*time.Minute {
			t.Errorf("%+v after %v", out, took)
		}
		w.now = out.NextTry
		if out, _ = w.run(talk, repeated(none, 20)...); out.Outcome != session.FlushDone || out.Ranges < 2 {
			t.Errorf("later: %+v", out)
		}

		w = newWorld(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := flush.Runner{Model: &llmtest.Script{Steps: []llmtest.Step{stall}}, Ledger: w.Ledger}
		out = r.Run(ctx, flush.Job{Request: flush.Request{Session: "talk", Messages: talk}})
		if out.Outcome != session.FlushFailed || !out.NextTry.IsZero() {
			t.Errorf("canceled: %+v", out)
		}
	})
}

// Two processes flush one session: the lease of one ends, and each note is stored by one.
func TestRunOfTwoAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	talk := said("My cat is Miso.")
	overtake := remember("The cat is Miso.")
	overtake.Check = func(llm.Request) error {
		if out, _ := w.run(talk, remember("The cat is Miso!"), none); out.Outcome != session.FlushDone {
			t.Errorf("%+v", out)
		}
		return nil
	}
	out, _ := w.run(talk, overtake, none)
	if out.Outcome != session.FlushSkipped || !errors.Is(out.Err, flush.ErrReplaced) {
		t.Errorf("%+v", out)
	}
	if diff := cmp.Diff([]string{"The cat is Miso!"}, w.notes.texts()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}
