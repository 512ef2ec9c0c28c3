package flush_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/llm"
	"kioku/memory"
)

// oneByOne is a model that makes at most most calls an answer, each with the next "Fact N of many." of the user that is not
// saved as far as it is told.
type oneByOne struct {
	most int
	// window in tokens; a longer request is refused. 0 means no limit.
	window int
	// delay of an answer.
	delay    time.Duration
	requests int
}

var factForm = regexp.MustCompile(`Fact \d+ of many\.`)

func (o *oneByOne) Name() string { return "one by one" }
func (o *oneByOne) Window() int  { return 0 }
func (o *oneByOne) Generate(ctx context.Context, req llm.Request, _ func(llm.Event)) (llm.Response, error) {
	o.requests++
	if o.window > 0 && llm.RequestTokens(req) > o.window {
		return llm.Response{}, &llm.Error{Kind: llm.KindOverflow, Message: "too long"}
	}
	if o.delay > 0 {
		select {
		case <-ctx.Done():
			return llm.Response{}, ctx.Err()
		case <-time.After(o.delay):
		}
	}
	saved, m := make(map[string]bool), llm.Message{Role: llm.RoleAssistant}
	for _, said := range req.Messages {
		told := said.Text
		for _, c := range said.ToolCalls {
			told += string(c.Input)
		}
		if said.Role == llm.RoleAssistant {
			for _, fact := range factForm.FindAllString(told, -1) {
				saved[fact] = true
			}
		}
	}
	for _, said := range req.Messages {
		for _, fact := range factForm.FindAllString(said.Text, -1) {
			if len(m.ToolCalls) < o.most && said.Role == llm.RoleUser && !saved[fact] {
				saved[fact] = true
				call := remember(fact).Response.Message.ToolCalls[0]
				call.ID = fmt.Sprint(len(m.ToolCalls))
				m.ToolCalls = append(m.ToolCalls, call)
			}
		}
	}
	if len(m.ToolCalls) == 0 {
		return none.Response, nil
	}
	return llm.Response{Message: m, Stop: llm.StopTools}, nil
}

// facts returns messages with a fact each.
func facts(n int, filler string) []flush.Message {
	var texts []string
	for i := range n {
		texts = append(texts, fmt.Sprintf("Fact %d of many.%s", i+1, filler))
	}
	talk := said(texts...)
	for i := range talk {
		talk[i].Role = llm.RoleUser
	}
	return talk
}

// runModel flushes the session "talk" with a model whose window is believed to be window.
func (w *world) runModel(ctx context.Context, model llm.Model, window int, talk []flush.Message) flush.Outcome {
	r := flush.Runner{Model: model, Ledger: w.Ledger}
	return r.Run(ctx, flush.Job{Request: flush.Request{Session: "talk", Messages: talk, Window: window}})
}

// Hazard F06: a model that makes few calls an answer, in a window that ends the conversation with it or does not. Each fact is
// stored once, and nothing is covered before.
func TestRunStoresAllFactsOfAModelWithFewCallsAnAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		believed, window, calls, facts int
		filler                         string
	}{
		"one range":           {200_000, 0, 1, 10, ""},
		"an unknown window":   {0, 0, 1, 60, ""},
		"a small window":      {3000, 3000, 1, 60, " Tea is nice."},
		"a smaller window":    {8000, 3000, 1, 60, " Tea is nice."},
		"many notes":          {200_000, 0, 1, 450, ""},
		"many calls":          {3000, 3000, 1000, 60, " Tea is nice."},
		"many calls at once":  {200_000, 0, 5000, 3000, ""},
		"an unknown and less": {0, 4000, 3, 200, " Tea is nice."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.notes.keysOnly = true
			talk := facts(c.facts, c.filler)
			model := &oneByOne{most: c.calls, window: c.window}
			out := w.runModel(t.Context(), model, c.believed, talk)
			if out.Outcome != session.FlushDone || out.Uncovered > 0 || len(out.Warnings) > 0 || strings.Contains(w.covered(talk...), "-") {
				t.Errorf("%s %s, %d left, warnings %q", out.Outcome, out.Reason, out.Uncovered, out.Warnings)
			}
			times := make(map[string]int)
			for _, n := range w.notes.texts() {
				times[n]++
			}
			for i := range c.facts {
				if n := times[fmt.Sprintf("Fact %d of many.", i+1)]; n != 1 {
					t.Errorf("fact %d is stored %d times", i+1, n)
				}
			}
			if model.requests > 3*c.facts {
				t.Errorf("%d requests for %d facts", model.requests, c.facts)
			}
		})
	}
}

// A model that needs longer for a range than a turn has. What it has named is stored, and the next flush goes on.
func TestRunOfASlowModelMakesProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		talk := facts(60, " Tea is nice.")
		for flushes := 1; ; flushes++ {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			out := w.runModel(ctx, &oneByOne{most: 1, delay: 10 * time.Second}, 0, talk)
			cancel()
			if out.Outcome == session.FlushDone {
				break
			}
			if flushes == 30 {
				t.Fatalf("%d notes after %d flushes: %+v", len(w.notes.notes), flushes, out)
			}
		}
		if len(w.notes.notes) != 60 || strings.Contains(w.covered(talk...), "-") {
			t.Errorf("%d notes, covered %s", len(w.notes.notes), w.covered(talk...))
		}
	})
}

// loop is a model that never stops calling.
type loop struct {
	same     bool
	requests int
}

func (l *loop) Name() string { return "loop" }
func (l *loop) Window() int  { return 0 }
func (l *loop) Generate(context.Context, llm.Request, func(llm.Event)) (llm.Response, error) {
	l.requests++
	text := "The cat is Miso."
	if !l.same {
		text = fmt.Sprintf("The cat is Miso, %d.", l.requests)
	}
	return remember(text).Response, nil
}

// A model that finds no end is stopped. Its session goes on, and is told.
func TestRunStopsAModelThatFindsNoEnd(t *testing.T) {
	t.Parallel()
	for _, same := range []bool{true, false} {
		t.Run(fmt.Sprint("the same note: ", same), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			talk := said(strings.Repeat("My cat is Miso. ", 50))
			model := &loop{same: same}
			out := w.runModel(t.Context(), model, 0, talk)
			if out.Outcome != session.FlushDone || w.covered(talk...) != "+" || len(out.Warnings) == 0 || !strings.Contains(out.Warnings[0], "no end") {
				t.Errorf("%+v, covered %s", out, w.covered(talk...))
			}
			if model.requests > 4000 || same && (model.requests > 100 || len(w.notes.notes) != 1) {
				t.Errorf("%d requests, %d notes", model.requests, len(w.notes.notes))
			}
		})
	}
}

func TestCommitOfAnUnfinishedRange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	talk := facts(20, strings.Repeat(" tea", 50))
	r := w.begin(talk...)
	answer := flush.Answer{Notes: notesOf("Fact 1 of many.", "REFUSED"), Unfinished: true}
	w.notes.err = errDisk
	if _, err := w.Commit(t.Context(), r.Lease, answer); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	w.notes.err = nil
	w.reopen()
	first, err := w.Commit(t.Context(), r.Lease, answer)
	if err != nil {
		t.Fatal(err)
	}
	want := flush.Committed{Session: "talk", Uncovered: 20, Notes: []flush.Stored{{Appended: memory.Appended{Path: "day.md", StartLine: 1}}, {Refused: "text: is refused"}}}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("committed (-want +got):\n%s", diff)
	}
	if got := w.covered(talk...); strings.Contains(got, "+") {
		t.Errorf("covered: %s", got)
	}
	if _, err := w.Commit(t.Context(), r.Lease, flush.Answer{Notes: answer.Notes}); !errors.Is(err, flush.ErrConflict) {
		t.Errorf("the same notes of a finished range: %v", err)
	}
	half := w.begin(talk...)
	told := half.Messages[len(half.Messages)-1].Text
	if told != "(Saved already, not to be saved again:)\n  - Fact 1 of many." || half.Uncovered < 9 || half.Uncovered > 11 {
		t.Errorf("%d left, told %q", half.Uncovered, told)
	}
	w.commit(half.Lease)
	w.commit(w.begin(talk...).Lease)
	more := append(talk, said(make([]string, 21)...)[20])
	more[20].Text = "My cat is Miso."
	if diff := cmp.Diff([]string{"user: My cat is Miso."}, shown(w.begin(more...).Messages)); diff != "" {
		t.Errorf("after the rest (-want +got):\n%s", diff)
	}
}
