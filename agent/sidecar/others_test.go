package sidecar_test

import (
	"encoding/json"
	"strings"
	"testing"

	"kioku/agent/sidecar"
	"kioku/memory"
)

// Words of others never go to MEMORY.md: somebody else than the owner corrects nothing in a private conversation either.
func TestCallToolUpdatesNothingForOthers(t *testing.T) {
	t.Parallel()
	s := start(t, options(t, &notes{}))
	_, err := s.CallTool(t.Context(), sidecar.ToolCall{
		Name: "memory_update", Input: json.RawMessage(`{"old_text": "Ines prefers tea.", "new_text": "Ines prefers gin."}`),
		Said: memory.Said{Author: &memory.Author{ID: "bob", Name: "Bob"}, Channel: "discord:dm:7"},
	})
	if err == nil || !strings.Contains(err.Error(), "Bob (not the owner)") {
		t.Error(err)
	}
}
