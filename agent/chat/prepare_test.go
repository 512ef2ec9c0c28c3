package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/chat"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/llm"
	"kioku/llm/llmtest"
	"kioku/memory"
)

// long is a text of about so many tokens.
func long(tokens int) string { return strings.Repeat("tea ", tokens) }

// sized is a step that has used so many tokens.
func sized(s llmtest.Step, tokens int) llmtest.Step {
	s.Response.Usage = llm.Usage{Input: tokens, Output: 1}
	return s
}

// seed appends an exchange to the open session.
func (w *world) seed(question, answer string, used int) {
	w.t.Helper()
	for _, m := range []llm.Message{{Role: llm.RoleUser, Text: question}, {Role: llm.RoleAssistant, Text: answer}} {
		e := session.Entry{Kind: session.KindMessage, Message: &m}
		if used > 0 && m.Role == llm.RoleAssistant {
			e.Usage = &llm.Usage{Input: used}
		}
		if _, err := w.session.Append(e); err != nil {
			w.t.Fatal(err)
		}
	}
}

// kinds are what the transcript holds after the seed, without long texts.
func kinds(entries []session.Entry) []string {
	var out []string
	for _, line := range said(entries) {
		if len(line) < 100 {
			out = append(out, line)
		}
	}
	return out
}

// none is a flush that stores nothing, remember one that stores a note.
var none = llmtest.Say("NO_REPLY")

func remember(text string) llmtest.Step {
	return llmtest.Call("f", "memory_append", map[string]any{"text": text})
}

// Hazard F06: memories are stored and history is summarised before the request that would be too long, in this order.
func TestTurnFlushesAndCompactsAFullWindow(t *testing.T) {
	t.Parallel()
	model := script(remember("The tea is green."), none, sized(llmtest.Say("They spoke of tea, of how it is made and when it is drunk, and of nothing else that anybody would need to know later on."), 200), sized(llmtest.Say("fine"), 1000), llmtest.Say("good"))
	model.Tokens = 10_000
	w := newWorld(t, model)
	c := w.start("s")
	w.seed(long(4000), "noted", 6000)
	var l log
	reply := w.say(c, "and now?", l.each)
	want := []string{"prompt", "flush done", "compacted", "text fine"}
	if diff := cmp.Diff(want, l.lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"assistant: noted", "user: and now?", "flush done", "compaction", "assistant: fine"}, kinds(w.transcript("s"))); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
	if got := w.notes.text(); got != "The tea is green." || !strings.HasSuffix(w.notes.lines()[0], "\tflush") {
		t.Errorf("notes %q", w.notes.lines())
	}
	sent := model.Requests()[3].Messages
	if sent[0].Text != session.SummaryMessage("They spoke of tea, of how it is made and when it is drunk, and of nothing else that anybody would need to know later on.").Text || sent[len(sent)-1].Text != "and now?" {
		t.Errorf("sent %+v", sent)
	}
	if s := c.Status(); s.Compactions != 1 || s.Uncovered != 1 || s.Flush != nil || s.CompactAt != 5000 || s.Projected != 1001 || s.Usage != reply.Usage || s.Usage != (llm.Usage{Input: 1200, Output: 2}) {
		t.Errorf("status %+v", s)
	}
	w.say(c, "and then?", nil) // the new cycle is far from its threshold
}

// The provider alone knows the window.
func TestTurnRetriesAfterAnOverflow(t *testing.T) {
	t.Parallel()
	model := &learner{most: 2500}
	w := newWorld(t, model)
	c := w.start("s")
	for range 4 {
		w.seed(long(500), "noted", 0)
	}
	var l log
	w.say(c, "and now?", l.each)
	if diff := cmp.Diff([]string{"prompt", "flush done", "compacted", "text fine"}, l.lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	refused := model.refused
	if w.say(c, "and then?", nil); model.refused != refused {
		t.Error("the window is not remembered")
	}
}

func TestTurnReturnsAdviceIfNothingFits(t *testing.T) {
	t.Parallel()
	model := &learner{most: 2500}
	w := newWorld(t, model)
	c := w.start("s")
	for range 4 {
		w.seed(long(500), "noted", 0)
	}
	_, err := c.Turn(t.Context(), long(5000), nil)
	if llm.KindOf(err) != llm.KindOverflow || !strings.Contains(err.Error(), "begin a new session") {
		t.Errorf("%v", err)
	}
	if model.refused > 20 {
		t.Errorf("%d requests were refused", model.refused)
	}
	if reply := w.say(c, "short", nil); reply.Text != "fine" {
		t.Errorf("%+v", reply)
	}
}

// Hazard F06: memory cannot be written and the window is full. Nothing that is not stored is summarised; the oldest messages are
// left out of the request, which is told, and are stored when that works again.
func TestTurnGoesOnInAFullWindowWithoutMemory(t *testing.T) {
	t.Parallel()
	model := &learner{most: 4000, window: 4000}
	w := newWorld(t, model)
	now := noon
	w.now = func() time.Time { return now }
	w.notes.err = errors.New("no space left on device")
	c := w.start("s")
	failed := 0
	for i := range 12 {
		now = now.Add(3 * time.Second)
		var l log
		w.say(c, fmt.Sprintf("My item is %s. %s", word(i), long(400)), l.each)
		failed += strings.Count(strings.Join(l.lines, "\n"), "Memories could not be stored")
		if i == 11 && (!l.has("left out of the request") || !l.has("flush first")) {
			t.Errorf("told %q", l.lines)
		}
	}
	if v := w.session.View(); v.Compactions > 0 || len(v.Messages) != 24 || failed < 1 || failed > 3 || model.refused > 0 {
		t.Errorf("%d compactions, %d messages, told %d times, %d refused", v.Compactions, len(v.Messages), failed, model.refused)
	}
	w.notes.err, now = nil, now.Add(time.Hour)
	w.say(c, "and now?", nil)
	for i := range 12 {
		if n := strings.Count(w.notes.text(), word(i)); n != 1 {
			t.Errorf("%s is in %d notes", word(i), n)
		}
	}
	if v := w.session.View(); v.Compactions != 1 {
		t.Errorf("%d compactions", v.Compactions)
	}
}

func TestNoticesTellOfTheWindow(t *testing.T) {
	t.Parallel()
	for want, window := range map[string]int{"has no room for": 300, "": 100_000} {
		got := newWorld(t, &learner{window: window, most: 1}).start("s").Notices(t.Context())
		if len(got) > 1 || !strings.Contains(strings.Join(got, ""), want) || want == "" && len(got) > 0 {
			t.Errorf("a window of %d: %q", window, got)
		}
	}
}

// Hazard F06: memory that cannot be written is told, and the reply comes.
func TestTurnRepliesAfterAFailedFlush(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*world)
		outcome string
		reason  string
		steps   int // of the flush
	}{
		"read-only": {func(w *world) { w.sidecar.ReadOnly = true }, session.FlushSkipped, "read-only", 0},
		"disabled":  {func(w *world) { w.sidecar.Flush.Enabled = false }, session.FlushSkipped, "disabled", 0},
		"denied":    {func(w *world) { w.notes.err = fmt.Errorf("%w: no right to write", memory.ErrDenied) }, session.FlushSkipped, "no right to write", 1},
		"no disk":   {func(w *world) { w.notes.err = errors.New("no space left on device") }, session.FlushFailed, "no space left", 1},
	} {
		t.Run(name, func(t *testing.T) {
			steps := []llmtest.Step{llmtest.Say("They spoke of tea, of how it is made and when it is drunk, and of nothing else that anybody would need to know later on."), sized(llmtest.Say("fine"), 3000)}[c.steps:]
			model := &flusher{rest: script(steps...)}
			model.rest.Tokens = 10_000
			w := newWorld(t, model)
			c.change(w)
			conversation := w.start("s")
			w.seed(long(4000), "noted", 6000)
			var l log
			if reply := w.say(conversation, "and now?", l.each); reply.Text != "fine" {
				t.Errorf("%+v", reply)
			}
			var kept *session.Flush
			for _, e := range w.transcript("s") {
				if e.Flush != nil {
					kept = e.Flush
				}
			}
			if kept == nil || kept.Outcome != c.outcome || !strings.Contains(kept.Reason, c.reason) || !l.has(c.reason) || l.has("compacted") != (c.steps == 0) {
				t.Errorf("recorded %+v, told %q", kept, l.lines)
			}
			if (model.flushes > 0) != (c.steps > 0) {
				t.Errorf("%d flush requests", model.flushes)
			}
		})
	}
}

// interrupted sends a message whose turn is canceled in the request that is next.
func interrupted(t *testing.T, c *chat.Conversation, model *llmtest.Script) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	model.Steps = append(model.Steps, llmtest.Step{Check: func(llm.Request) error { cancel(); return ctx.Err() }})
	if _, err := c.Turn(ctx, "and now?", nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// flusher stores a note in each flush, and otherwise goes through a script.
type flusher struct {
	rest    *llmtest.Script
	flushes int
}

func (f *flusher) Name() string { return "flusher" }
func (f *flusher) Window() int  { return f.rest.Tokens }
func (f *flusher) Generate(ctx context.Context, req llm.Request, stream func(llm.Event)) (llm.Response, error) {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if m := req.Messages[i]; m.Role == llm.RoleUser {
			if !strings.Contains(m.Text, "NO_REPLY") {
				break
			}
			f.flushes++
			if i == len(req.Messages)-1 {
				return remember("The tea is green.").Response, nil
			}
			return none.Response, nil
		}
	}
	return f.rest.Generate(ctx, req, stream)
}

// Hazard F06: however often a flush is interrupted, which is no failure.
func TestInterruptedFlushIsBegunAgainByTheNextTurn(t *testing.T) {
	t.Parallel()
	model := script()
	model.Tokens = 10_000
	w := newWorld(t, model)
	now := noon
	w.now = func() time.Time { now = now.Add(time.Minute); return now }
	c := w.start("s")
	w.seed(long(4000), "noted", 6000)
	for range 4 {
		interrupted(t, c, model)
	}
	model.Steps = append(model.Steps, remember("The tea is green."), none, llmtest.Say("They spoke of tea, of how it is made and when it is drunk, and of nothing else that anybody would need to know later on."), sized(llmtest.Say("fine"), 100))
	c = w.start("s")
	var l log
	w.say(c, "and then?", l.each)
	if diff := cmp.Diff([]string{"prompt", "flush done", "compacted", "text fine"}, l.lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if got := w.notes.text(); got != "The tea is green." {
		t.Errorf("notes %q", got)
	}
}

// Hazard F07: results are shortened in what is sent and nowhere else, and the next request repeats the bytes of the one
// before.
func TestTurnPrunesOnlyWhatIsSent(t *testing.T) {
	t.Parallel()
	read := sized(llmtest.Call("1", "read", map[string]any{}), 100)
	model := script(read, sized(llmtest.Say("read"), 100), llmtest.Say("second"), llmtest.Say("third"))
	model.Tokens = 12_000
	w := newWorld(t, model)
	w.sidecar.Prune, w.sidecar.Flush.Enabled = prune.Defaults(), false
	w.sidecar.Prune.KeepLastAssistants = 1
	page, now := long(2900), noon
	w.now = func() time.Time { return now }
	c := w.start("s", func(o *chat.Options) {
		o.Tools = toolFunc(func(context.Context, string) (json.RawMessage, error) { return json.Marshal(page) })
	})
	w.say(c, "read the page about "+long(1000), nil)
	now = now.Add(time.Hour)
	var l log
	w.say(c, "and now?", l.each)
	if !l.has("pruned") {
		t.Errorf("%q", l.lines)
	}
	w.say(c, "and then?", nil)
	reqs := model.Requests()
	first, second := reqs[2].Messages, reqs[3].Messages
	if short := first[2].Text; len(short) >= len(page) || !strings.Contains(short, "Trimmed") {
		t.Errorf("sent %d of %d bytes", len(short), len(page))
	}
	if diff := cmp.Diff(first, second[:len(first)]); diff != "" {
		t.Errorf("the next request differs (-want +got):\n%s", diff)
	}
	for _, e := range w.transcript("s") {
		if e.Message != nil && e.Message.Role == llm.RoleTool && e.Message.Text != page {
			t.Error("the transcript was shortened")
		}
	}
}
