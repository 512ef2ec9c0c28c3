package chat_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/chat"
	"kioku/agent/compact"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm/echo"
	"kioku/llm/llmtest"
)

func TestFlushStoresWhatWasSaidSinceTheLastOne(t *testing.T) {
	t.Parallel()
	model := script(remember("The tea is green."), none, remember("The cups are blue."), none)
	w := newWorld(t, model)
	c := w.start("s")
	if out := c.Flush(t.Context(), nil); out.Outcome != session.FlushSkipped || out.Reason == "" {
		t.Errorf("nothing said: %+v", out)
	}
	w.seed("The tea is green", "noted", 0)
	var l log
	if out := c.Flush(t.Context(), l.each); out.Outcome != session.FlushDone || len(out.Notes) != 1 || !l.has("flush done") {
		t.Errorf("%+v, %q", out, l.lines)
	}
	w.seed("And the cups are blue", "noted", 0)
	out := c.Flush(t.Context(), nil)
	if out.Outcome != session.FlushDone || len(out.Notes) != 1 || w.notes.text() != "The tea is green.\nThe cups are blue." {
		t.Errorf("again: %+v, stored %q", out, w.notes.text())
	}
	if again := c.Flush(t.Context(), nil); again.Outcome != session.FlushSkipped || !strings.Contains(again.Reason, "since the last flush") {
		t.Errorf("nothing said since: %+v", again)
	}
	if s := c.Status(); s.Flush == nil || s.Flush.Outcome != session.FlushDone || s.Usage != out.Usage {
		t.Errorf("status %+v", s)
	}
}

func TestCompactFlushesFirst(t *testing.T) {
	t.Parallel()
	model := script(remember("The tea is green."), none, llmtest.Say("They spoke of tea, of how it is made and when it is drunk, and of nothing else that anybody would need to know later on."))
	model.Tokens = 10_000
	w := newWorld(t, model)
	c := w.start("s")
	w.seed(long(4000), "noted", 0)
	var l log
	made, err := c.Compact(t.Context(), l.each)
	if err != nil || made.Summary != "They spoke of tea, of how it is made and when it is drunk, and of nothing else that anybody would need to know later on." {
		t.Fatalf("%+v, %v", made, err)
	}
	if diff := cmp.Diff([]string{"flush done", "compacted"}, l.lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"assistant: noted", "flush done", "compaction"}, kinds(w.transcript("s"))); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
	// What is left is recent: the flush of the new cycle is not used up by that.
	if _, err := c.Compact(t.Context(), nil); !errors.Is(err, compact.ErrNothing) {
		t.Errorf("%v", err)
	}
	if s := c.Status(); s.Compactions != 1 || s.Flush != nil {
		t.Errorf("status %+v", s)
	}
}

func TestPromptDoesNotAskTheModel(t *testing.T) {
	t.Parallel()
	model := script()
	w := newWorld(t, model)
	w.write("SOUL.md", "You are calm.")
	w.notes.Append(t.Context(), note("The meeting room is blue."))
	c := w.start("s", func(o *chat.Options) { o.Turn.Channel = "terminal" })
	p := c.Prompt(t.Context(), "which meeting room?")
	for _, want := range []string{"You are calm.", "meeting room is blue", "- Model: script", "12:05", "memory_append"} {
		if !strings.Contains(p.Prompt, want) {
			t.Errorf("%q is not in\n%s", want, p.Prompt)
		}
	}
	bare := w.start("s", func(o *chat.Options) { o.Tools = nil }).Prompt(t.Context(), "x")
	if strings.Contains(bare.Prompt, "memory_append") {
		t.Errorf("tools that are not there:\n%s", bare.Prompt)
	}
	if len(model.Requests()) > 0 || len(w.transcript("s")) > 0 {
		t.Error("something was sent or kept")
	}
}

func TestStatusCountsTheNextPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(sized(llmtest.Say("hello"), 900)))
	c := w.start("s")
	empty := c.Status()
	if empty.Projected == 0 || empty.Messages != 0 || empty.Window != 100_000 || empty.Model != "script" || empty.Session != "s" || empty.FlushAt != 76_000 || empty.CompactAt != 80_000 {
		t.Errorf("%+v", empty)
	}
	w.say(c, "hi", nil)
	if s := c.Status(); s.Projected != 901 || s.Messages != 2 || s.Usage.Input != 900 {
		t.Errorf("%+v", s)
	}
}

// What was not flushed is flushed, although another session that was left open cannot be read: it is named, and does not stop the others.
func TestFlushLeftContinuesAfterABrokenSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &echo.Model{Tokens: 64_000})
	for _, id := range []string{"broken", "other"} {
		w.say(w.start(id), "My train leaves from platform 9, said in "+id+".", func(chat.Event) {})
	}
	if err := w.session.Close(); err != nil {
		t.Fatal(err)
	}
	folder, err := session.Folder(w.state, "main")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(folder, "broken.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("{\"half")
	if err := errors.Join(err, f.Close(), os.Mkdir(filepath.Join(folder, "broken.jsonl.torn"), 0o700)); err != nil {
		t.Fatal(err)
	}
	side, err := sidecar.New(w.sidecar)
	if err != nil {
		t.Fatal(err)
	}
	ended, err := chat.FlushLeft(t.Context(), chat.Options{Sidecar: side}, folder, session.Options{}, func(string, chat.Event) {})
	if ended != 1 || err == nil || !strings.Contains(err.Error(), `"broken"`) || !strings.Contains(w.notes.text(), "said in other") {
		t.Errorf("ended %d, %v; stored %q", ended, err, w.notes.text())
	}
}
