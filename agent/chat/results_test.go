package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"kioku/agent/chat"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/llm/llmtest"
)

// result has a model with a window call tools, each of which answers with a text, and returns what is kept of each.
func result(t *testing.T, window int, answers ...string) []string {
	call := llmtest.Call("0", "t0", map[string]any{})
	call.Response.Message.ToolCalls = nil
	tools := named{}
	for i, text := range answers {
		name := fmt.Sprint("t", i)
		tools[name] = text
		call.Response.Message.ToolCalls = append(call.Response.Message.ToolCalls, llm.ToolCall{ID: fmt.Sprint(i), Name: name, Input: json.RawMessage("{}")})
	}
	model := script(call, llmtest.Say("done"))
	model.Tokens = window
	w := newWorld(t, model)
	w.calm()
	c := w.start("s", func(o *chat.Options) { o.Tools = tools })
	shown := 0
	w.say(c, "go on", func(e chat.Event) {
		if e.Result != nil {
			shown += len(e.Result.Output)
		}
	})
	var kept []string
	for _, m := range w.session.View().Messages {
		if m.Role == llm.RoleTool {
			kept = append(kept, m.Text)
		}
	}
	if shown < len(strings.Join(answers, "")) {
		t.Errorf("the user is shown %d bytes", shown)
	}
	return kept
}

// calm has nothing stored or summarised before the window is full.
func (w *world) calm() { w.sidecar.Flush.Enabled, w.sidecar.Flush.ReserveTokens = false, 1 }

// lines are numbered ones.
func lines(n int, text string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d %s\n", i+1, text)
	}
	return b.String()
}

func TestResultKeepsItsBeginningAndItsEnd(t *testing.T) {
	t.Parallel()
	for window, most := range map[int]int{8000: 2000, 32_000: 8000} {
		for _, phrase := range []string{"over the hills and far away", "山の向こうの遠い海まで歩く"} {
			long := lines(20_000, phrase)
			got := result(t, window, long)[0]
			if n := text.EstimateTokens(got); n > most || n < most/2 {
				t.Errorf("window %d: %d tokens of %q", window, n, phrase)
			}
			if !strings.HasPrefix(got, "1 "+phrase+"\n2 "+phrase+"\n") || !strings.Contains(got, "\n20000 "+phrase+"\n") {
				t.Errorf("window %d: kept %.200q", window, got)
			}
			if total := fmt.Sprintf("of %d characters", utf8.RuneCountInString(long)); !strings.Contains(got, total) || !strings.Contains(got, "t0") {
				t.Errorf("window %d: %q is not in %q", window, total, got)
			}
			for line := range strings.Lines(got) {
				if strings.Contains(line, phrase[:6]) && !strings.HasSuffix(line, phrase+"\n") && !strings.HasSuffix(line, phrase) {
					t.Errorf("window %d: a line is cut: %q", window, line)
				}
			}
		}
	}
	unknown := result(t, 0, strings.Repeat("x", 200_000))[0]
	if n := len(unknown); n > 50_000 || n < 40_000 {
		t.Errorf("without a window %d characters are kept", n)
	}
	if short := lines(20, "short"); result(t, 8000, short)[0] != short {
		t.Error("a short result is changed")
	}
}

// Many results of one answer have half of the window together.
func TestResultsOfManyCallsFitIntoTheWindow(t *testing.T) {
	t.Parallel()
	long := lines(2000, "over the hills and far away")
	got := result(t, 16_000, long, long, long, "short", long, long, long, long)
	n := 0
	for _, result := range got {
		n += text.EstimateTokens(result)
	}
	if len(got) != 8 || n > 8000 || n < 5000 || got[3] != "short" {
		t.Errorf("%d results with %d tokens", len(got), n)
	}
}

func TestResultBoundsAnErrorToo(t *testing.T) {
	t.Parallel()
	model := script(llmtest.Call("1", "read", map[string]any{}), llmtest.Say("done"))
	model.Tokens = 8000
	w := newWorld(t, model)
	c := w.start("s", func(o *chat.Options) {
		o.Tools = toolFunc(func(context.Context, string) (json.RawMessage, error) { return nil, errors.New(lines(9000, "trouble")) })
	})
	w.say(c, "go on", nil)
	if m := w.session.View().Messages[2]; !m.Failed || text.EstimateTokens(m.Text) > 2000 || !strings.HasPrefix(m.Text, "1 trouble\n") {
		t.Errorf("failed %v, %d tokens", m.Failed, text.EstimateTokens(m.Text))
	}
}

// Whatever a tool returns, what is kept of it is text, is no longer than its share, and is all of it if that is enough.
func TestResultNeverHasMoreThanItsShare(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(rapid.SampledFrom([]string{"\n", "word ", "{\"a\":1}", "言葉", "👪", "é"}), rapid.String())
	rapid.Check(t, func(r *rapid.T) {
		whole := strings.Repeat(strings.Join(rapid.SliceOfN(piece, 1, 20).Draw(r, "pieces"), ""), rapid.IntRange(1, 400).Draw(r, "times"))
		whole += strings.Repeat(piece.Draw(r, "end"), rapid.IntRange(0, 2000).Draw(r, "ends"))
		window := rapid.IntRange(1000, 9000).Draw(r, "window")
		got := result(t, window, whole)[0]
		fits := text.EstimateTokens(whole) <= window/4
		switch n := text.EstimateTokens(got); {
		case !utf8.ValidString(got):
			r.Fatalf("no text: %q", got)
		case n > window/4:
			r.Fatalf("%d tokens in a window of %d", n, window)
		case fits && got != whole && utf8.ValidString(whole):
			r.Fatalf("changed: %q", got)
		case !fits && !strings.Contains(got, fmt.Sprint(utf8.RuneCountInString(whole))):
			r.Fatalf("the length is not told: %q", got)
		}
	})
}
