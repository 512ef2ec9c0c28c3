package session_test

import (
	"encoding/json"
	"testing"
	"time"

	"kioku/agent/session"
	"kioku/llm"
)

func TestSpokenIsTheTextOfUsersAndAssistants(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	message := func(m llm.Message) session.Entry {
		return session.Entry{ID: "1", Time: at, Kind: session.KindMessage, Message: &m}
	}
	call := []llm.ToolCall{{ID: "c", Name: "read", Input: json.RawMessage(`{"path":"secret"}`)}}
	for _, c := range []struct {
		entry session.Entry
		want  string
	}{
		{message(llm.Message{Role: llm.RoleUser, Text: "お茶が好き"}), "User: お茶が好き"},
		{message(llm.Message{Role: llm.RoleAssistant, Text: "noted\nand kept", ToolCalls: call}), "Assistant: noted\nand kept"},
		{message(llm.Message{Role: llm.RoleAssistant, ToolCalls: call}), ""},
		{message(llm.Message{Role: llm.RoleTool, Text: "the secret", ToolCallID: "c"}), ""},
		{session.Entry{ID: "1", Time: at, Kind: session.KindCompaction, Compaction: &session.Compaction{Summary: "s"}}, ""},
		{session.Entry{ID: "1", Time: at, Kind: session.KindFlush, Flush: &session.Flush{Outcome: session.FlushDone}}, ""},
		{session.Entry{ID: "1", Time: at, Kind: session.KindPrune, Prune: []session.Edit{{Message: "1", Text: "x"}}}, ""},
	} {
		line, err := json.Marshal(c.entry)
		if err != nil {
			t.Fatal(err)
		}
		got, when := session.Spoken(line)
		if got != c.want || (got != "") != when.Equal(at) {
			t.Errorf("%s: %q at %v", line, got, when)
		}
		if torn, _ := session.Spoken(line[:len(line)-1]); torn != "" {
			t.Errorf("a torn line says %q", torn)
		}
	}
}
