package flush

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kioku/llm"

	"pgregory.net/rapid"
)

// anyConversation draws messages as a session sends them: each call has its result behind it.
func anyConversation(r *rapid.T) []llm.Message {
	var messages []llm.Message
	text := func() string {
		return fmt.Sprint(len(messages)) + strings.Repeat(" x", rapid.IntRange(0, 300).Draw(r, "length"))
	}
	for range rapid.IntRange(0, 8).Draw(r, "turns") {
		messages = append(messages, llm.Message{Role: llm.RoleUser, Text: text()})
		for range rapid.IntRange(0, 4).Draw(r, "answers") {
			answer := llm.Message{Role: llm.RoleAssistant, Text: text()}
			for i := range rapid.IntRange(0, 2).Draw(r, "calls") {
				answer.ToolCalls = append(answer.ToolCalls, llm.ToolCall{ID: fmt.Sprint(len(messages), ".", i), Name: "x"})
			}
			messages = append(messages, answer)
			for _, call := range answer.ToolCalls {
				messages = append(messages, llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, Text: text()})
			}
		}
	}
	return messages
}

// whole reports whether the conversation begins with the user and each result has its call right before it.
func whole(messages []llm.Message) bool {
	var open []string
	for i, m := range messages {
		if m.Role == llm.RoleTool {
			at := slices.Index(open, m.ToolCallID)
			if at != 0 {
				return false
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 || i == 0 && m.Role != llm.RoleUser {
			return false
		}
		for _, call := range m.ToolCalls {
			open = append(open, call.ID)
		}
	}
	return len(open) == 0
}

func tokensOf(messages []llm.Message) (n int) {
	for _, m := range messages {
		n += llm.MessageTokens(nil, m)
	}
	return n
}

func TestShortenLeavesNoOrphans(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		messages := anyConversation(r)
		all := len(messages)
		for rounds := 0; ; rounds++ {
			if rounds > all {
				r.Fatal("it has no end")
			}
			shorter, ok := shorten(messages)
			if !ok {
				break
			}
			if !whole(shorter) {
				r.Fatalf("torn apart: %+v", shorter)
			}
			if a, b := messages[len(messages)-1], shorter[len(shorter)-1]; a.Text != b.Text {
				r.Fatalf("the end is gone: %+v", shorter)
			}
			kept := slices.DeleteFunc(slices.Clone(shorter), func(m llm.Message) bool { return m.Text == leftOut })
			if tokensOf(kept) >= tokensOf(messages) {
				r.Fatalf("%d tokens are not fewer than %d", tokensOf(kept), tokensOf(messages))
			}
			messages = shorter
		}
	})
}

func TestShortenLeavesOutAboutAQuarter(t *testing.T) {
	t.Parallel()
	var messages []llm.Message
	for i := range 20 {
		role := llm.RoleUser
		if i%2 == 1 {
			role = llm.RoleAssistant
		}
		messages = append(messages, llm.Message{Role: role, Text: "word word word " + string(rune('a'+i))})
	}
	shorter, ok := shorten(messages)
	if !ok || len(shorter) != 14 || shorter[0].Text != messages[6].Text {
		t.Errorf("%v, %d left: %+v", ok, len(shorter), shorter)
	}
}

func TestShortenCutsWithinALongTurn(t *testing.T) {
	t.Parallel()
	messages := []llm.Message{{Role: llm.RoleUser, Text: "go on"}}
	for i := range 8 {
		id := fmt.Sprint(i)
		messages = append(messages, llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: id}}}, llm.Message{Role: llm.RoleTool, ToolCallID: id, Text: "found"})
	}
	shorter, ok := shorten(messages)
	if !ok || !whole(shorter) || shorter[0].Text != leftOut || shorter[0].Role != llm.RoleUser || len(shorter) >= len(messages) {
		t.Errorf("%v: %+v", ok, shorter)
	}
	if _, ok := shorten(messages[:1]); ok {
		t.Error("a single message was shortened")
	}
}
