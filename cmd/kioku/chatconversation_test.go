package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm"
)

// factModel is a scripted model that stores each fact that it is shown in a message of a user, word for word, and nothing else. It
// keeps the last request.
type factModel struct {
	facts []plantedFact
	last  llm.Request
}

func (*factModel) Name() string { return "scripted" }
func (*factModel) Window() int  { return 8000 }

// Generate implements llm.Model.
func (m *factModel) Generate(_ context.Context, req llm.Request, stream func(llm.Event)) (llm.Response, error) {
	last := req.Messages[len(req.Messages)-1]
	answer := llm.Message{Role: llm.RoleAssistant, Text: "I see. " + strings.Repeat("Let me think about that for a while. ", 5)}
	switch {
	case last.Role == llm.RoleTool:
		answer.Text = "NO_REPLY"
	case strings.Contains(last.Text, "NO_REPLY"):
		answer = m.store(req.Messages)
	case len(req.Tools) == 0:
		answer.Text = "## Decisions\nThey went through many drafts."
	default:
		m.last = req
	}
	resp := llm.Response{Message: answer, Stop: llm.StopEnd}
	if len(answer.ToolCalls) > 0 {
		resp.Stop = llm.StopTools
	}
	return resp, nil
}

// store returns the calls that store the facts in messages of the user.
func (m *factModel) store(messages []llm.Message) llm.Message {
	answer := llm.Message{Role: llm.RoleAssistant, Text: "NO_REPLY"}
	for _, f := range m.facts {
		if slices.ContainsFunc(messages, func(m llm.Message) bool { return m.Role == llm.RoleUser && strings.Contains(m.Text, f.Say) }) {
			answer.ToolCalls = append(answer.ToolCalls, llm.ToolCall{ID: fmt.Sprint("fact-", f.Turn), Name: "memory_append", Input: fmt.Appendf(nil, `{"text":%q}`, f.Say)})
		}
	}
	return answer
}

// shown is what the model was sent with the newest message: the system prompt and the block of the turn.
func (m *factModel) shown() string {
	newest := m.last.Messages[len(m.last.Messages)-1]
	return m.last.System + "\n" + newest.Turn
}

// A conversation of 200 turns with 24 planted facts in three languages, two restarts and an early end recalls 24 of 24 through chat.
func TestChatRecallsTheFactsOfALongConversation(t *testing.T) {
	t.Parallel()
	for _, friendly := range []bool{true, false} {
		t.Run(fmt.Sprintf("cache-friendly %v", friendly), func(t *testing.T) {
			t.Parallel()
			told := readConversation(t)
			s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n"})
			model := &factModel{facts: told.Facts}
			order := func(o *sidecar.Options) { o.OldOrder = !friendly }
			talk := newTalker(s, "long", model, order)
			compactions := 0
			for turn := 1; turn <= told.Turns; turn++ {
				talk.say(told.message(turn))
				if slices.Contains(told.RestartsAfter, turn) {
					compactions += talk.compactions
					talk.close()
					talk = newTalker(s, "long", model, order)
				}
			}
			if out := talk.End(t.Context(), nil); out.Outcome != session.FlushDone {
				t.Errorf("the end: %+v", out)
			}
			if compactions += talk.compactions; compactions < 3 || len(talk.notices) > 0 {
				t.Errorf("%d compactions, notices %q", compactions, talk.notices)
			}
			talk.close()

			asking := newTalker(s, "new", model, order)
			defer asking.close()
			recalled := 0
			for _, f := range told.Facts {
				asking.say(f.Ask)
				if strings.Contains(model.shown(), f.Answer) {
					recalled++
				} else {
					t.Errorf("turn %d: %s does not bring %s:\n%s", f.Turn, f.Ask, f.Answer, model.shown())
				}
			}
			t.Logf("%d of %d facts were recalled after %d compactions", recalled, len(told.Facts), compactions)
		})
	}
}
