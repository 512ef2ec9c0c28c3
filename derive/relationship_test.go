package derive_test

import (
	"strings"
	"testing"

	"kioku/llm"
	"kioku/memory"
)

// What user and assistant are about together in a week is summed up by a model, which is asked once for that and the week.
func TestARelationshipIsSummedUpOfConversations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-18.md", day("Bea lives in Rome."), "memory/2026-11-20.md", conversation)
	summaries := func() (found []memory.Unit) {
		for _, u := range w.units(memory.KindSummary) {
			if u.Summary.Scope == memory.ScopeRelationship {
				found = append(found, u)
			}
		}
		return found
	}
	w.derive()
	if found := summaries(); len(found) != 0 {
		t.Errorf("by rules: %+v", found)
	}
	m := &fakeModel{}
	asked := map[string]int{}
	m.answer = func(_ int, req llm.Request) (llm.Response, error) {
		if scope, ok := strings.CutPrefix(req.System, "Task: summary"); ok && scope != "" {
			_, scope, _ := strings.Cut(req.Messages[0].Text, "scope: ")
			scope, _, _ = strings.Cut(scope, "\n")
			asked[scope]++
		}
		return say(reading(req)), nil
	}
	w.withModel(m)
	w.derive()
	found := summaries()
	if len(found) != 1 || found[0].Summary.Key != "2026-W47" || found[0].Source != "model" {
		t.Fatalf("by a model: %+v", found)
	}
	if asked["weekly 2026-W47"] != 1 || asked["relationship 2026-W47"] != 0 {
		t.Errorf("a week and its relationship are asked for as %v", asked)
	}
}

// A week without a conversation has no relationship.
func TestAWeekOfNotesHasNoRelationship(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-18.md", day("Bea lives in Rome.")).withModel(&fakeModel{})
	w.derive()
	for _, u := range w.units(memory.KindSummary) {
		if u.Summary.Scope == memory.ScopeRelationship {
			t.Errorf("%+v", u)
		}
	}
}
