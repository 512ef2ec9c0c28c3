package server

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"kioku/agent/prune"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

func exchange() []*kiokuv1.ChatMessage {
	return []*kiokuv1.ChatMessage{
		{Role: "user", Text: "Where is the key?", ImageCount: 3},
		{Id: "b", Role: "assistant", Text: "鍵…", ToolCalls: []*kiokuv1.ToolCall{{Id: "c1", Name: "look", Input: `{"at": "door"}`}, {Id: "c2", Name: "ask"}}},
		{Role: "tool", ToolCallId: "c2", ToolName: "ask", Text: "nobody knows", Failed: true},
		{Role: "tool", ToolCallId: "c1", ToolName: "look", Text: "under\u2028the\nmat \x00 \U0001F511"},
	}
}

func TestConversationKeepsItsMessages(t *testing.T) {
	t.Parallel()
	c, err := conversationOf(exchange(), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0", "b", "2", "3"}, c.ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	wantSameAgain(t, c, exchange())
}

// wantSameAgain checks that nothing of the messages is lost on the way to a model.
func wantSameAgain(t *testing.T, c conversation, list []*kiokuv1.ChatMessage) {
	t.Helper()
	var converted []*kiokuv1.ChatMessage
	for i, m := range list {
		got := chatMessage(c.messages[i])
		got.Id = c.ids[i]
		converted = append(converted, got)
		m.Id = c.ids[i]
		for _, call := range m.GetToolCalls() {
			if call.Input == "" {
				call.Input = "{}"
			}
		}
	}
	if diff := cmp.Diff(list, converted, protocmp.Transform()); diff != "" {
		t.Errorf("converted (-want +got):\n%s", diff)
	}
}

// FuzzConversation reads messages of foreign programs: each conversation names its fault, or comes back as it was.
func FuzzConversation(f *testing.F) {
	for _, list := range [][]*kiokuv1.ChatMessage{
		exchange(), nil, {{}}, {{Role: "tool", ToolCallId: "c"}}, {{Role: "user", ImageCount: -1}}, {{Id: "1", Role: "user"}, {Role: "user"}},
		{{Role: "assistant", ToolCalls: []*kiokuv1.ToolCall{{Id: "c", Name: "n", Input: "[1, 2"}}}},
	} {
		data, err := proto.Marshal(&kiokuv1.PruneRequest{Messages: list, Edits: []*kiokuv1.PruneEdit{{MessageId: "b", Text: "x"}, {MessageId: "2"}}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		req := &kiokuv1.PruneRequest{}
		if proto.Unmarshal(data, req) != nil {
			return
		}
		discardUnknown(req)
		c, err := conversationOf(req.GetMessages(), "")
		if err != nil {
			var input *memory.InputError
			if !errors.As(err, &input) || !strings.HasPrefix(input.Field, "messages") {
				t.Fatalf("%v names no field of a message", err)
			}
			return
		}
		wantSameAgain(t, c, req.GetMessages())
		plan := prune.Prune(c.messages, prune.Defaults(), prune.State{Edits: c.edits(req.GetEdits())}, time.Time{})
		for i, e := range c.pruneEdits(plan.Edits, plan.New) {
			if c.indexes[e.GetMessageId()] != plan.Edits[i].Index {
				t.Errorf("edit %d of %q", plan.Edits[i].Index, e.GetMessageId())
			}
		}
	})
}

// discardUnknown drops fields of a newer format, which JSON does not carry.
func discardUnknown(req *kiokuv1.PruneRequest) {
	for _, m := range req.GetMessages() {
		m.ProtoReflect().SetUnknown(nil)
		for _, c := range m.GetToolCalls() {
			c.ProtoReflect().SetUnknown(nil)
		}
	}
}
