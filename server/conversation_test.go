package server

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kioku/agent/prune"
	"kioku/llm"
	"kioku/memory"
)

func exchange() []ChatMessage {
	return []ChatMessage{
		{Role: "user", Text: "Where is the key?", ImageCount: 3},
		{ID: "b", Role: "assistant", Text: "鍵…", ToolCalls: []llm.ToolCall{{ID: "c1", Name: "look", Input: json.RawMessage(`{"at": "door"}`)}, {ID: "c2", Name: "ask"}}},
		{Role: "tool", ToolCallID: "c2", ToolName: "ask", Text: "nobody knows", Failed: true},
		{Role: "tool", ToolCallID: "c1", ToolName: "look", Text: "under\u2028the\nmat \x00 \U0001F511"},
	}
}

func TestConversationKeepsItsMessages(t *testing.T) {
	t.Parallel()
	list := exchange()
	c, err := conversationOf(pointers(list), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0", "b", "2", "3"}, c.ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	wantSameAgain(t, c, list)
}

// wantSameAgain checks that nothing of the messages is lost on the way to a model.
func wantSameAgain(t *testing.T, c conversation, list []ChatMessage) {
	t.Helper()
	for i, want := range list {
		got := chatMessage(c.messages[i])
		got.ID, want.ID = c.ids[i], c.ids[i]
		want.Author, want.Channel, want.ThroughID = nil, "", ""
		for j := range want.ToolCalls {
			if len(want.ToolCalls[j].Input) == 0 {
				want.ToolCalls[j].Input = json.RawMessage("{}")
			}
			want.ToolCalls[j].Fault = ""
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("converted (-want +got):\n%s", diff)
		}
	}
}

// FuzzConversation reads messages of foreign programs: each conversation names its fault, or comes back as it was.
func FuzzConversation(f *testing.F) {
	for _, list := range [][]ChatMessage{
		exchange(), nil, {{}}, {{Role: "tool", ToolCallID: "c"}}, {{Role: "user", ImageCount: -1}}, {{ID: "1", Role: "user"}, {Role: "user"}},
		{{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "c", Name: "n"}}}},
	} {
		data, err := json.Marshal(PruneMessages{OfSession: OfSession{Messages: list}, Edits: []PruneEdit{{MessageID: "b", Text: "x"}, {MessageID: "2"}}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var req PruneMessages
		if json.Unmarshal(data, &req) != nil {
			return
		}
		c, err := conversationOf(pointers(req.Messages), "")
		if err != nil {
			var input *memory.InputError
			if !errors.As(err, &input) || !strings.HasPrefix(input.Field, "messages") {
				t.Fatalf("%v names no field of a message", err)
			}
			return
		}
		wantSameAgain(t, c, req.Messages)
		plan := prune.Prune(c.messages, prune.Defaults(), prune.State{Edits: c.edits(req.Edits)}, time.Time{})
		for i, e := range c.pruneEdits(plan.Edits, plan.New) {
			if c.indexes[e.MessageID] != plan.Edits[i].Index {
				t.Errorf("edit %d of %q", plan.Edits[i].Index, e.MessageID)
			}
		}
	})
}
