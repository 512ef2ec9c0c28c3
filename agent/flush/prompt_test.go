package flush_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"kioku/agent/flush"
	"kioku/agent/tools"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/llm/echo"
)

func TestPromptsSayWhatToDo(t *testing.T) {
	t.Parallel()
	user := flush.UserPrompt(flush.Occasion{}, time.Date(2026, 3, 4, 23, 59, 0, 0, time.UTC))
	for _, want := range []string{"2026-03-04", tools.Append, flush.NoReply, "compacted"} {
		if !strings.Contains(user, want) {
			t.Errorf("the user's prompt lacks %q", want)
		}
	}
	system := flush.SystemPrompt(flush.Occasion{})
	for _, want := range []string{tools.Append, flush.NoReply, "today's notes", "decisions", "preferences", "open tasks", "recalled", "language"} {
		if !strings.Contains(system, want) {
			t.Errorf("the system prompt lacks %q", want)
		}
	}
	if n := text.EstimateTokens(system + user); n > 600 {
		t.Errorf("the prompts have %d tokens", n)
	}
}

func TestPromptsAreKnownToEcho(t *testing.T) {
	t.Parallel()
	resp, err := (&echo.Model{}).Generate(t.Context(), llm.Request{
		Messages: []llm.Message{{Role: llm.RoleUser, Text: "We decided to ship on Friday."}, {Role: llm.RoleUser, Text: flush.UserPrompt(flush.Occasion{}, time.Now())}},
		Tools:    []llm.Tool{{Name: tools.Append}},
	}, nil)
	if err != nil || len(resp.Message.ToolCalls) != 1 {
		t.Fatalf("%+v, %v", resp, err)
	}
	var input struct{ Text string }
	if err := json.Unmarshal(resp.Message.ToolCalls[0].Input, &input); err != nil || input.Text != "We decided to ship on Friday." {
		t.Errorf("%+v, %v", input, err)
	}
}
