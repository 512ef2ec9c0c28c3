package chat_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"kioku/agent/chat"
	"kioku/agent/prune"
	"kioku/llm"
	"kioku/llm/llmtest"
	"kioku/memory"
)

// friendly is a world in the cache-friendly order, with one note.
func friendly(t *testing.T, model llm.Model) *world {
	t.Helper()
	w := newWorld(t, model)
	w.sidecar.OldOrder = false
	w.sidecar.Settings.Prune = prune.Defaults()
	w.notes.Append(t.Context(), note("The meeting room is blue."))
	return w
}

// says are so many answers.
func says(n int) (steps []llmtest.Step) {
	for range n {
		steps = append(steps, llmtest.Say("fine"))
	}
	return steps
}

// Recall and time are a block of the newest message of the user, never stored as a message; the system prompt is constant over a
// session unless its files change, also over a restart.
func TestTurnSendsWhatChangesAsABlock(t *testing.T) {
	t.Parallel()
	model := &llmtest.Script{Tokens: 100_000, Steps: says(5)}
	w := friendly(t, model)
	now := noon
	w.now = func() time.Time { return now }
	c := w.start("s")
	for i := range 5 {
		switch i {
		case 3:
			c = w.start("s")
		case 4:
			w.write("SOUL.md", "Be kind.")
		}
		w.say(c, "which meeting room was it?", nil)
		now = now.Add(time.Minute)
	}
	all := model.Requests()
	for i, req := range all {
		newest := req.Messages[len(req.Messages)-1]
		if !strings.Contains(newest.Turn, "- Time: Monday, 2026-03-02 12:0"+string(rune('5'+i))) || newest.Text != "which meeting room was it?" {
			t.Errorf("request %d ends with %+v", i, newest)
		}
		if blue := strings.Contains(newest.Turn, "room is blue"); blue != (i == 0) {
			t.Errorf("request %d shows the passage: %v", i, blue)
		}
		if i > 0 && (all[i-1].System == req.System) != (i < 4) {
			t.Errorf("request %d has another system prompt", i)
		}
		if i > 0 && req.Messages[0].Turn != all[0].Messages[0].Turn {
			t.Errorf("request %d sends other bytes with the first message", i)
		}
		if strings.Contains(req.System, "12:0") || strings.Contains(req.System, "blue") {
			t.Errorf("request %d has in its prompt what changes", i)
		}
	}
	for _, m := range w.session.View().Messages {
		if strings.Contains(m.Text, "this-turn") || strings.Contains(m.Text, "blue") {
			t.Errorf("kept as a message: %+v", m)
		}
	}
}

// Old blocks are not sent any more once the cache is cold, and the next block has the texts again.
func TestBlocksEndWhenTheCacheIsCold(t *testing.T) {
	t.Parallel()
	model := &llmtest.Script{Tokens: 100_000, Steps: says(3)}
	w := friendly(t, model)
	now := noon
	w.now = func() time.Time { return now }
	c := w.start("s")
	for _, pause := range []time.Duration{time.Minute, 6 * time.Minute, 0} {
		w.say(c, "which meeting room was it?", nil)
		now = now.Add(pause)
	}
	last := model.Requests()[2].Messages
	if last[0].Turn != "" || last[2].Turn != "" || !strings.Contains(last[4].Turn, "room is blue") {
		t.Errorf("%+v", last)
	}
}

// A block with private memory is not sent in a turn of somebody else.
func TestBlocksOfTheOwnerAreNotSentInTurnsOfOthers(t *testing.T) {
	t.Parallel()
	model := &llmtest.Script{Tokens: 100_000, Steps: says(3)}
	w := friendly(t, model)
	c := w.start("s")
	w.say(c, "which meeting room was it?", nil)
	if _, err := c.TurnBy(t.Context(), &memory.Author{ID: "bob", Name: "Bob"}, "which meeting room was it?", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.TurnBy(t.Context(), nil, "which meeting room was it?", nil); err != nil {
		t.Fatal(err)
	}
	all := model.Requests()
	if !strings.Contains(all[0].Messages[0].Turn, "blue") {
		t.Errorf("the owner is sent %+v", all[0].Messages)
	}
	for _, m := range all[1].Messages {
		if strings.Contains(m.Turn+m.Text, "blue") || strings.Contains(m.Turn, "notes.md") {
			t.Errorf("somebody else is sent %+v", m)
		}
	}
	if !strings.Contains(all[2].Messages[4].Turn, "blue") {
		t.Errorf("the owner is then sent %+v", all[2].Messages)
	}
}

// A block that points to a text which a compaction takes away in the same turn is made anew.
func TestBlockHasItsTextsAgainAfterACompaction(t *testing.T) {
	t.Parallel()
	model := &learner{most: 4000, window: 4000, usage: true}
	recorded := &recorder{Model: model}
	w := friendly(t, recorded)
	c := w.start("s")
	for range 20 {
		compacted := false
		w.say(c, "which meeting room was it? "+long(250), func(e chat.Event) { compacted = compacted || e.Compacted != nil })
		if shown := w.session.View().Shown(); len(shown) != 1 {
			t.Fatalf("shown %q", shown)
		}
		texts := 0
		for _, m := range recorded.last.Messages {
			texts += strings.Count(m.Turn, "room is blue")
		}
		if texts != 1 {
			t.Fatalf("%d texts after a compaction: %v", texts, compacted)
		}
	}
	if w.session.View().Compactions == 0 {
		t.Error("no compaction: the test does not test")
	}
}

// recorder keeps the last request that is no flush and no summary.
type recorder struct {
	llm.Model
	last llm.Request
}

// Generate implements llm.Model.
func (r *recorder) Generate(ctx context.Context, req llm.Request, stream func(llm.Event)) (llm.Response, error) {
	if kind, _ := kindOf(req); kind == askReply {
		r.last = req
	}
	return r.Model.Generate(ctx, req, stream)
}
