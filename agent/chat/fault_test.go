package chat_test

import (
	"slices"
	"strings"
	"testing"

	"kioku/agent/session"
	"kioku/llm"
	"kioku/llm/llmtest"
)

// broken is an answer with a call that has a fault.
func broken(fault, stop string) llmtest.Step {
	step := llmtest.Call("c", "memory_append", "half")
	step.Response.Message.ToolCalls[0].Fault, step.Response.Stop = fault, stop
	return step
}

// A tool call cut by max_tokens and bad JSON are told as what they are, to the model and the person, and are not made.
func TestTurnTellsWhatIsWrongWithACall(t *testing.T) {
	t.Parallel()
	for fault, c := range map[string]struct{ stop, model, person string }{
		llm.FaultCutOff: {llm.StopLength, "cut off, because the answer has reached its maximum length", "cut off by the maximum length of an answer (llm.maxTokens)"},
		llm.FaultNoJSON: {llm.StopTools, "are not valid JSON", "its arguments are not valid JSON"},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			model := &llmtest.Script{Steps: []llmtest.Step{broken(fault, c.stop), llmtest.Say("done")}}
			w := newWorld(t, model)
			var l log
			if reply := w.say(w.start("s"), "remember a long text", l.each); reply.Text != "done" || !l.has("notice A call of memory_append was") || !l.has(c.person) {
				t.Errorf("%q, told %q", reply.Text, l.lines)
			}
			last := model.Requests()[1].Messages[2]
			if last.Role != llm.RoleTool || !last.Failed || !strings.Contains(last.Text, c.model) || w.notes.text() != "" {
				t.Errorf("the model is told %+v, notes %q", last, w.notes.text())
			}
			if calls := w.transcript("s")[1].Message.ToolCalls; calls[0].Fault != fault {
				t.Errorf("kept %+v", calls)
			}
		})
	}
}

// A refusal is told as what it is, to the person and, in the transcript, to the model; its calls are not made.
func TestTurnTellsARefusal(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "I can't help with that."} {
		refusal := llmtest.Call("c", "memory_append", map[string]string{"text": "x"})
		refusal.Response.Message.Text, refusal.Response.Stop = text, llm.StopRefusal
		model := &llmtest.Script{Steps: []llmtest.Step{refusal, llmtest.Say("fine")}}
		w := newWorld(t, model)
		c := w.start("s")
		var l log
		if reply := w.say(c, "first", l.each); reply.Text != text || !l.has("notice The model, or a filter of its provider, has declined to answer.") || l.has("call ") {
			t.Errorf("%q, told %q", reply.Text, l.lines)
		}
		w.say(c, "second", nil)
		want := strings.TrimSpace(text + "\n\n[Declined here: the model, or a filter of its provider, has ended this answer.]")
		if m := model.Requests()[1].Messages; m[1].Text != want || len(m[1].ToolCalls) > 0 || w.notes.text() != "" {
			t.Errorf("the model is told %+v", m)
		}
	}
}

// What a flush says besides notes is shown, as its prompt promises.
func TestFlushShowsWhatItSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &llmtest.Script{Steps: []llmtest.Step{llmtest.Say("fine"), remember("Tea at four."), llmtest.Say("Please tell me the year of the lease.")}})
	c := w.start("s")
	w.say(c, "Tea is at four.", nil)
	var l log
	if out := c.Flush(t.Context(), l.each); out.Outcome != session.FlushDone || !l.has("notice Please tell me the year of the lease.") {
		t.Errorf("%+v, told %q", out, l.lines)
	}
}

// A flush that the model declines stores what it can: it is shown fewer messages at a time, a person is told, and a message counts
// as covered only when it was shown alone.
func TestFlushThatIsDeclinedGoesOnWithLess(t *testing.T) {
	t.Parallel()
	refusals := 0
	model := &learner{most: 8000, window: 8000, fault: func(kind string, texts []string) (*llm.Response, error) {
		if kind == askFlush && slices.Contains(texts, word(999)) {
			refusals++
			return &llm.Response{Stop: llm.StopRefusal}, nil
		}
		return nil, nil
	}}
	w := newWorld(t, model)
	c := w.start("s")
	for i := range 4 {
		w.say(c, "My item is "+word(i)+". "+long(200), nil)
	}
	w.say(c, "A forbidden word is "+word(999)+".", nil)
	var l log
	out := c.Flush(t.Context(), l.each)
	for i := range 4 {
		if !strings.Contains(w.notes.text(), word(i)) {
			t.Errorf("%s is not stored: %q", word(i), w.notes.text())
		}
	}
	if out.Outcome != session.FlushDone || out.Uncovered > 0 || refusals < 2 || !l.has("has declined to store memories") {
		t.Errorf("%+v, %d refusals, told %q", out, refusals, l.lines)
	}
}

// A summary that the model declines to write replaces nothing.
func TestCompactionThatIsDeclinedKeepsTheHistory(t *testing.T) {
	t.Parallel()
	model := &learner{most: 8000, window: 8000, fault: func(kind string, _ []string) (*llm.Response, error) {
		if kind == askSummary {
			return &llm.Response{Message: llm.Message{Text: "I can't."}, Stop: llm.StopRefusal}, nil
		}
		return nil, nil
	}}
	w := newWorld(t, model)
	c := w.start("s")
	for i := range 6 {
		w.say(c, "My item is "+word(i)+". "+long(800), nil)
	}
	if _, err := c.Compact(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "has declined to summarise") || w.session.View().Compactions > 0 {
		t.Errorf("%v, %d compactions", err, w.session.View().Compactions)
	}
}
