package prune_test

import (
	"strings"
	"testing"

	"kioku/agent/prune"
)

func TestToolsAreSelectedByPatternsAndDenyWins(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		allow, deny, tool string
		want              bool
	}{
		{"", "", "exec", true},
		{"exec", "", "exec", true},
		{"exec", "", "execute", false},
		{"EXEC", "", "exec", true},
		{"exec", "", "Exec", true},
		{"read,exec", "", "exec", true},
		{"read", "", "exec", false},
		{"*", "", "exec", true},
		{"*", "", "", true},
		{"mem*", "", "memory_search", true},
		{"mem*", "", "exec", false},
		{"*_search", "", "web_search", true},
		{"*_search", "", "web_search_2", false},
		{"m*_*h", "", "memory_web_search", true},
		{"m*a*b", "", "mab", true},
		{"m*a*b", "", "mba", false},
		{" exec ", "", "exec", true},
		{"日*", "", "日報", true},
		{"", "exec", "exec", false},
		{"", "exec", "read", true},
		{"exec", "EXEC", "exec", false},
		{"*", "web*", "web_fetch", false},
		{"exec", "*", "exec", false},
	} {
		s := prune.Defaults()
		s.Tools = prune.Tools{Allow: list(tt.allow), Deny: list(tt.deny)}
		messages := conversation(text(5000))
		messages[2].ToolName = tt.tool
		plan := prune.Prune(messages, s, stateOf(1000), later)
		if got := len(plan.New) == 1; got != tt.want {
			t.Errorf("allow %q, deny %q: %s is pruned %v, want %v", tt.allow, tt.deny, tt.tool, got, tt.want)
		}
	}
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func TestToolsPatternOfManyStarsIsFast(t *testing.T) {
	s := prune.Defaults()
	s.Tools.Allow = []string{strings.Repeat("*a", 500) + "b"}
	messages := conversation(text(5000))
	messages[2].ToolName = strings.Repeat("a", 5000)
	// Trying out every place for every star would take longer than any test may.
	if plan := prune.Prune(messages, s, stateOf(1000), later); len(plan.New) > 0 {
		t.Errorf("%d edits", len(plan.New))
	}
}
