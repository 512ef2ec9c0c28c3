package derive_test

import (
	"testing"

	"kioku/memory"
)

// What user and assistant are about together in a week is summed up by a model, of their conversations only.
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
	w.withModel(&fakeModel{})
	w.derive()
	found := summaries()
	if len(found) != 1 || found[0].Summary.Key != "2026-W47" || found[0].Source != "model" {
		t.Fatalf("by a model: %+v", found)
	}
	for _, e := range found[0].Evidence {
		if e.Path != "memory/2026-11-20.md" {
			t.Errorf("it is made of %s, which is no conversation", e.Path)
		}
	}
}
