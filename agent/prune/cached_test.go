package prune_test

import (
	"strings"
	"testing"
	"time"

	"kioku/agent/prune"
	"kioku/llm"
)

// afterRead returns a conversation that goes on after a tool has returned 9,000 characters.
func afterRead() []llm.Message {
	call := llm.ToolCall{ID: "1", Name: "read", Input: []byte(`{}`)}
	return []llm.Message{
		{Role: llm.RoleUser, Text: "read it"}, {Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{call}},
		{Role: llm.RoleTool, ToolCallID: "1", ToolName: "read", Text: strings.Repeat("x", 9000)},
		{Role: llm.RoleAssistant, Text: "one"}, {Role: llm.RoleAssistant, Text: "two"}, {Role: llm.RoleAssistant, Text: "three"},
	}
}

// Cache-TTL pruning acts on what was really cached: within the TTL only if the provider says that nothing is cached, and after the
// TTL not while the provider is known to keep its cache longer.
func TestPruneActsOnWhatWasReallyCached(t *testing.T) {
	t.Parallel()
	messages := afterRead()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		ago, lasted time.Duration
		uncached    bool
		prunes      bool
	}{
		"the cache is fresh":                 {ago: time.Minute},
		"the TTL is over":                    {ago: 6 * time.Minute, prunes: true},
		"fresh, but nothing is cached":       {ago: time.Minute, uncached: true, prunes: true},
		"over, but it is known to last":      {ago: 6 * time.Minute, lasted: 20 * time.Minute},
		"over, and longer than it ever was":  {ago: 21 * time.Minute, lasted: 20 * time.Minute, prunes: true},
		"known to last, but nothing is left": {ago: 6 * time.Minute, lasted: 20 * time.Minute, uncached: true, prunes: true},
	} {
		st := prune.State{LastTouch: now.Add(-c.ago), Window: 4000, Uncached: c.uncached, Lasted: c.lasted}
		s := prune.Defaults()
		plan := prune.Prune(messages, s, st, now)
		if got := len(plan.New) > 0; got != c.prunes || s.Cold(st, now) != c.prunes {
			t.Errorf("%s: %+v, cold %v", name, plan, s.Cold(st, now))
		}
		if s.Mode = prune.ModeOff; s.Cold(st, now) {
			t.Errorf("%s: off, and cold", name)
		}
	}
}

// The ratio that decides what is pruned counts what messages are sent with: the blocks of recalled memories that old messages keep.
func TestPruneCountsWhatMessagesAreSentWith(t *testing.T) {
	t.Parallel()
	messages := afterRead()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for beside, want := range map[int]string{0: prune.ReasonRoom, 9000: prune.ReasonTrimmed} {
		plan := prune.Prune(messages, prune.Defaults(), prune.State{LastTouch: now.Add(-time.Hour), Window: 12_000, Beside: beside}, now)
		if plan.Reason != want || plan.Before != 9000+beside+len("read it"+"one"+"two"+"three"+"{}") {
			t.Errorf("%d characters beside: %s, %d characters", beside, plan.Reason, plan.Before)
		}
	}
}
