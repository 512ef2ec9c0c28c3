package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/chat"
	"kioku/agent/sidecar"
	"kioku/llm"
	"kioku/llm/echo"
	"kioku/llm/llmtest"
	"kioku/memory"
)

func script(steps ...llmtest.Step) *llmtest.Script {
	return &llmtest.Script{Tokens: 100_000, Steps: steps}
}

func TestTurnWritesTheMessageBeforeItAsksTheModel(t *testing.T) {
	t.Parallel()
	model := script(llmtest.Say("hello"))
	w := newWorld(t, model)
	model.Steps[0].Check = func(llm.Request) error {
		if diff := cmp.Diff([]string{"user: hi"}, said(w.transcript("s"))); diff != "" {
			t.Errorf("transcript at the time of the request (-want +got):\n%s", diff)
		}
		return nil
	}
	model.Steps[0].Response.Usage = llm.Usage{Input: 12, Output: 3}
	c := w.start("s")
	var l log
	reply := w.say(c, "hi", l.each)
	if diff := cmp.Diff(chat.Reply{Text: "hello", Usage: llm.Usage{Input: 12, Output: 3}}, reply); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
	entries := w.transcript("s")
	if diff := cmp.Diff([]string{"user: hi", "assistant: hello"}, said(entries)); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
	if u := entries[1].Usage; u == nil || *u != (llm.Usage{Input: 12, Output: 3}) {
		t.Errorf("usage in the transcript: %v", u)
	}
	if diff := cmp.Diff([]string{"prompt", "text hello"}, l.lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestTurnCallsToolsUntilTheModelAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(
		llmtest.Call("1", "memory_append", map[string]any{"text": "She drinks green tea."}),
		llmtest.Call("2", "memory_serch", map[string]any{}),
		llmtest.Say("Noted."),
	))
	c := w.start("s")
	var l log
	reply := w.say(c, "I drink green tea", l.each)
	if reply.Text != "Noted." || reply.Rounds != 2 {
		t.Errorf("reply %+v", reply)
	}
	want := []string{
		"user: I drink green tea",
		`assistant:  memory_append({"text":"She drinks green tea."})`,
		`tool: {"path":"memory/notes.md","start_line":1,"deduplicated":false}`,
		`assistant:  memory_serch({})`,
		"tool: name: unknown tool; did you mean memory_search? [failed]",
		"assistant: Noted.",
	}
	if diff := cmp.Diff(want, said(w.transcript("s"))); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
	events := []string{"prompt", "call memory_append", "result memory_append failed=false", "call memory_serch", "result memory_serch failed=true", "text Noted."}
	if diff := cmp.Diff(events, l.lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestTurnOffersNoToolsAfterTheLastRound(t *testing.T) {
	t.Parallel()
	call := llmtest.Call("1", "memory_search", map[string]any{"query": "green tea"})
	stubborn := llmtest.Say("It is green.")
	stubborn.Response.Message.ToolCalls = call.Response.Message.ToolCalls
	const rounds = 25
	model := script(append(slices.Repeat([]llmtest.Step{call}, rounds), stubborn)...)
	w := newWorld(t, model)
	c := w.start("s")
	var l log
	reply := w.say(c, "which tea?", l.each)
	if reply.Text != "It is green." || reply.Rounds != rounds || !l.has("limit") {
		t.Errorf("reply %+v, events %q", reply, l.lines)
	}
	last := model.Requests()[rounds]
	if len(last.Tools) > 0 {
		t.Errorf("tools %v", last.Tools)
	}
	for _, m := range last.Messages {
		if len(m.ToolCalls) > 0 || m.Role == llm.RoleTool {
			t.Errorf("a call is left: %s", spoken(m))
		}
	}
	if text := last.Messages[1].Text + last.Messages[2].Text; !strings.Contains(text, `memory_search with {"query":"green tea"}`) || !strings.Contains(text, `"results":[]`) {
		t.Errorf("calls in words: %q", text)
	}
	entries := w.transcript("s")
	if at := entries[len(entries)-1].Message; len(at.ToolCalls) > 0 || entries[1].Message.ToolCalls == nil {
		t.Errorf("transcript %q", said(entries))
	}
}

func TestTurnKeepsAnInterruptedAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &echo.Model{})
	c := w.start("s")
	ctx, cancel := context.WithCancelCause(t.Context())
	reply, err := c.Turn(ctx, "hello there", func(e chat.Event) {
		if strings.Contains(e.Text, "recall") {
			cancel(errors.New("ctrl-c"))
		}
	})
	if !errors.Is(err, context.Canceled) || reply.Text != "I recall" {
		t.Errorf("%+v, %v", reply, err)
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	cancel(nil)
	if _, err := c.Turn(ctx, "still there?", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	w.say(c, "go on", nil)
	want := []string{
		"user: hello there", "assistant: I recall\n\n[Interrupted here: this answer is not complete.]",
		"user: still there?", "assistant: [Interrupted before an answer was given.]",
		"user: go on", "assistant: I recall nothing about that. You said: go on",
	}
	if diff := cmp.Diff(want, said(w.transcript("s"))); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}

func TestTurnThatIsGivenUpLeavesNoCallWithoutAResult(t *testing.T) {
	t.Parallel()
	call := llmtest.Call("1", "wait", map[string]any{})
	call.Response.Message.ToolCalls = append(call.Response.Message.ToolCalls, llm.ToolCall{ID: "2", Name: "never", Input: json.RawMessage("{}")})
	model := script(call, llmtest.Say("Where were we?"))
	w := newWorld(t, model)
	ctx, cancel := context.WithCancel(t.Context())
	c := w.start("s", func(o *chat.Options) {
		o.Tools = toolFunc(func(ctx context.Context, name string) (json.RawMessage, error) {
			if name == "never" {
				t.Error("a call was run after the turn was given up")
			}
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		})
	})
	if _, err := c.Turn(ctx, "wait for it", nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.say(c, "hello?", nil)
	var got []string
	for _, m := range model.Requests()[1].Messages {
		got = append(got, spoken(m))
	}
	none := "tool: [No result: the turn ended before this tool did.] [failed]"
	want := []string{"user: wait for it", "assistant:  wait({}) never({})", none, none, "assistant: [Interrupted before an answer was given.]", "user: hello?"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("next request (-want +got):\n%s", diff)
	}
}

// toolFunc is a set of tools that a function runs.
type toolFunc func(ctx context.Context, name string) (json.RawMessage, error)

func (toolFunc) List() []llm.Tool { return []llm.Tool{{Name: "wait"}, {Name: "never"}, {Name: "read"}} }
func (f toolFunc) Call(ctx context.Context, name string, _ json.RawMessage) (json.RawMessage, error) {
	return f(ctx, name)
}

func TestTurnLosesNothingOnAnErrorOfTheProvider(t *testing.T) {
	t.Parallel()
	broken := llmtest.Say("The answer is")
	broken.Err = &llm.Error{Kind: llm.KindUnavailable, Message: "the server has gone"}
	model := script(llmtest.Fail(llm.KindAuth), broken, llmtest.Say("42"))
	w := newWorld(t, model)
	c := w.start("s")
	if _, err := c.Turn(t.Context(), "first", nil); llm.KindOf(err) != llm.KindAuth {
		t.Errorf("%v", err)
	}
	if reply, err := c.Turn(t.Context(), "second", nil); llm.KindOf(err) != llm.KindUnavailable || reply.Text != "The answer is" {
		t.Errorf("%+v, %v", reply, err)
	}
	w.say(c, "third", nil)
	want := []string{"user: first", "user: second", "assistant: The answer is\n\n[Interrupted here: this answer is not complete.]", "user: third", "assistant: 42"}
	if diff := cmp.Diff(want, said(w.transcript("s"))); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
	if n := len(model.Requests()[2].Messages); n != 4 {
		t.Errorf("the third request has %d messages", n)
	}
}

func TestTurnRefusesAMessageWithoutText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script())
	c := w.start("s")
	for _, blank := range []string{"", " \n", `{"source":"memory/a.md#L1","agent":"main","score":0.9,"text":"x"}`} {
		if _, err := c.Turn(t.Context(), blank, nil); !errors.Is(err, chat.ErrBlank) {
			t.Errorf("%q: %v", blank, err)
		}
	}
	if n := len(w.transcript("s")); n > 0 {
		t.Errorf("%d entries", n)
	}
}

func TestTurnReportsACutOffOrSilentAnswer(t *testing.T) {
	t.Parallel()
	long := llmtest.Say("It was a dark and")
	long.Response.Stop = llm.StopLength
	w := newWorld(t, script(long, llmtest.Say("NO_REPLY"), llmtest.Say(" ")))
	c := w.start("s")
	var l log
	if reply := w.say(c, "tell me", l.each); reply.Silent || !l.has("cut off") {
		t.Errorf("%+v, %q", reply, l.lines)
	}
	if reply := w.say(c, "tick", nil); !reply.Silent {
		t.Errorf("%+v", reply)
	}
	if reply := w.say(c, "tick", nil); !reply.Silent {
		t.Errorf("%+v", reply)
	}
}

func TestTurnRepliesWithoutAMemory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, script(llmtest.Say("hello")))
	w.notes.err = memory.ErrUnreachable
	c := w.start("s")
	var p *sidecar.Prompt
	reply := w.say(c, "anything about the weather?", func(e chat.Event) {
		if e.Prompt != nil {
			p = e.Prompt
		}
	})
	if reply.Text != "hello" || p == nil || p.Recall.Searches[0].Err == nil {
		t.Errorf("%+v, %+v", reply, p)
	}
}

func TestNewNeedsAModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if _, err := w.open("s"); !errors.Is(err, sidecar.ErrNoModel) {
		t.Errorf("%v", err)
	}
	w.session.Close()
}
