package chat_test

import (
	"fmt"
	"strings"
	"testing"

	"kioku/agent/chat"
	"kioku/llm"
	"kioku/llm/echo"
)

// loop is a program that asks the model itself, and only ever adds to its messages.
type loop struct {
	t        *testing.T
	talk     *chat.Conversation
	model    llm.Model
	messages []llm.Message
	// largest is the size in tokens of the largest request.
	largest int
}

func (l *loop) say(message string) string {
	l.t.Helper()
	l.messages = append(l.messages, llm.Message{Role: llm.RoleUser, Text: message})
	for {
		req, err := l.talk.Before(l.t.Context(), l.messages, nil)
		if err != nil {
			l.t.Fatal(err)
		}
		l.largest = max(l.largest, llm.RequestTokens(req))
		resp, err := l.model.Generate(l.t.Context(), req, nil)
		if err != nil {
			l.t.Fatal(err)
		}
		if err := l.talk.After(resp); err != nil {
			l.t.Fatal(err)
		}
		l.messages = append(l.messages, resp.Message)
		if len(resp.Message.ToolCalls) == 0 {
			return resp.Message.Text
		}
		for _, call := range resp.Message.ToolCalls {
			l.messages = append(l.messages, l.talk.Call(l.t.Context(), call))
		}
	}
}

// Hazard F06: a loop of one's own that keeps all its messages forgets nothing either, sends what fits into the window, and goes on
// after a restart.
func TestLoopKeepsEveryFactInASmallWindow(t *testing.T) {
	t.Parallel()
	for _, window := range []int{3000, 8000} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			t.Parallel()
			model := &echo.Model{Tokens: window}
			w := newWorld(t, model)
			l := &loop{t: t, talk: w.start("s"), model: model}
			var facts []string
			for i := range 40 {
				if i%15 == 14 {
					l.talk = w.start("s")
				}
				fact := fmt.Sprintf("The locker %s is number %d", word(i), 100+i*7)
				facts = append(facts, fact)
				l.say(fact + ". " + strings.Repeat("Is it so? ", window/100))
				if lost := w.missingFacts(facts); len(lost) > 0 {
					t.Fatalf("turn %d: %q", i, lost)
				}
			}
			if l.largest > window {
				t.Errorf("a request has %d tokens", l.largest)
			}
			if err := w.onceACompaction("s"); err != nil {
				t.Error(err)
			}
		})
	}
}
