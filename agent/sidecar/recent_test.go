package sidecar_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/sidecar"
	"kioku/llm"
	"kioku/memory"
)

func TestRecentReturnsWhatWasSaidBeforeTheMessage(t *testing.T) {
	t.Parallel()
	said := []llm.Message{
		{Role: llm.RoleUser, Text: "one"}, {Role: llm.RoleAssistant, Text: "two"}, {Role: llm.RoleUser, Text: "three"},
		{Role: llm.RoleAssistant, Text: "Let me look.", ToolCalls: []llm.ToolCall{{Name: "memory_search"}}}, {Role: llm.RoleTool, Text: "found"},
		{Role: llm.RoleAssistant, Text: "four"}, {Role: llm.RoleUser, Text: "And her brother?"},
	}
	want := []memory.Turn{
		{Speaker: memory.SpeakerUser, Text: "one"}, {Speaker: memory.SpeakerAssistant, Text: "two"},
		{Speaker: memory.SpeakerUser, Text: "three"}, {Speaker: memory.SpeakerAssistant, Text: "four"},
	}
	if diff := cmp.Diff(want, sidecar.Recent(said, "And her brother?")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(want, memory.Turn{Speaker: memory.SpeakerUser, Text: "And her brother?"}), sidecar.Recent(said, "And her sister?")); diff != "" {
		t.Error(diff)
	}
	var long []llm.Message
	for range 50 {
		long = append(long, said...)
	}
	if n := len(sidecar.Recent(long, "")); n != 6 {
		t.Errorf("%d messages, want 6", n)
	}
}
