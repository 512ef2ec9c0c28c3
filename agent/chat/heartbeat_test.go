package chat_test

import (
	"testing"

	"kioku/agent/chat"
	"kioku/llm/llmtest"
)

// Hazard F06: a turn that nobody waits for stores nothing, even if its messages are summarised, and says so.
func TestHeartbeatStoresNoMemories(t *testing.T) {
	t.Parallel()
	model := script(llmtest.Say("They spoke of tea."), sized(llmtest.Say("fine"), 3000), sized(llmtest.Say("and well"), 3000))
	model.Tokens = 10_000
	w := newWorld(t, model)
	beat := func(o *chat.Options) { o.Heartbeat = true }
	c := w.start("s", beat)
	w.seed(long(4000), "noted", 6000)
	var l log
	w.say(c, "heartbeat", l.each)
	if !l.has("flush skipped") || !l.has("it is a heartbeat turn") || !l.has("compacted") {
		t.Errorf("told %q", l.lines)
	}
	// Only a flush is due now: it waits.
	if w.say(c, "heartbeat", l.each); w.session.View().Flush != nil || len(model.Requests()) != 3 {
		t.Errorf("flush %+v, %d requests", w.session.View().Flush, len(model.Requests()))
	}
	model.Steps = append(model.Steps, remember("The tea is green."), none, sized(llmtest.Say("green"), 3000))
	w.say(w.start("s"), "what tea is it?", nil)
	if got := w.notes.text(); got != "The tea is green." {
		t.Errorf("notes %q", got)
	}
}

// Hazard F06: what a heartbeat finds half done waits for a turn of the user, and what was said after a flush is not stored by
// a heartbeat either.
func TestHeartbeatResumesNoFlush(t *testing.T) {
	t.Parallel()
	model := script()
	model.Tokens = 10_000
	w := newWorld(t, model)
	c := w.start("s")
	w.seed(long(10), "noted", 3000)
	interrupted(t, c, model)
	model.Steps = append(model.Steps, sized(llmtest.Say("fine"), 3000))
	beat := func(o *chat.Options) { o.Heartbeat = true }
	w.say(w.start("s", beat), "heartbeat", nil)
	if v := w.session.View(); v.Flush != nil {
		t.Errorf("flush %+v", v.Flush)
	}
	model.Steps = append(model.Steps, none, sized(llmtest.Say("yes"), 3000), llmtest.Say("They spoke of tea."), sized(llmtest.Say("well"), 3000))
	c = w.start("s")
	w.say(c, "are you there?", nil)
	w.seed(long(2000), "noted", 0)
	w.seed(long(2000), "noted", 7000)
	c = w.start("s", beat)
	var l log
	w.say(c, "heartbeat", l.each)
	if !l.has("flush skipped") || !l.has("compacted") || len(w.notes.text()) > 0 {
		t.Errorf("told %q, notes %q", l.lines, w.notes.text())
	}
}
