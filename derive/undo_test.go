package derive_test

import (
	"strings"
	"testing"

	"kioku/derive/unit"
	"kioku/memory"
)

// Undo takes the last decision about a unit back: the unit says what it said before, byte for byte, in a new index too.
func TestUndoTakesTheLastDecisionBack(t *testing.T) {
	t.Parallel()
	from := "2026-10"
	private := memory.Private
	correct := func(set unit.Correction) unit.DecisionRequest {
		return unit.DecisionRequest{Verb: unit.DecideCorrect, Set: set}
	}
	for name, c := range map[string]struct {
		kind      string
		decisions []unit.DecisionRequest
	}{
		"a correction":           {memory.KindFact, []unit.DecisionRequest{correct(unit.Correction{Text: "Braga", From: &from})}},
		"the second of two":      {memory.KindFact, []unit.DecisionRequest{correct(unit.Correction{Text: "Braga"}), correct(unit.Correction{Text: "Faro", From: &from})}},
		"a sensitivity":          {memory.KindFact, []unit.DecisionRequest{correct(unit.Correction{Sensitivity: &private})}},
		"a pin":                  {memory.KindFact, []unit.DecisionRequest{{Verb: unit.DecidePin}}},
		"a loop that was closed": {memory.KindLoop, []unit.DecisionRequest{{Verb: unit.DecideClose}}},
		"a summary":              {memory.KindSummary, []unit.DecisionRequest{correct(unit.Correction{Text: "A quiet week."})}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "memory/2026-11-20.md", day(of("Ana", "City: Porto"), "- [ ] call the bank"))
			w.derive()
			id := w.units(c.kind)[0].UID
			payload := func() string {
				versions, err := w.History(t.Context(), id, memory.Secret)
				if err != nil || len(versions) == 0 {
					t.Fatalf("history: %v, %v", versions, err)
				}
				return versions[0].Payload
			}
			said := ""
			for _, d := range c.decisions {
				said, d.ID = payload(), id
				w.decide(d)
			}
			if payload() == said {
				t.Errorf("nothing was decided: %s", said)
			}
			d := w.decide(unit.DecisionRequest{Verb: unit.DecideUndo, ID: id, Note: "back"})
			if payload() != said {
				t.Errorf("undone to\n%s, want\n%s", payload(), said)
			}
			if !strings.HasSuffix(d.Line, " undo "+c.kind+" "+id+" : back") || !strings.Contains(w.decisions(), d.Line+"\n") || len(w.status().BadDecisions) > 0 {
				t.Errorf("decisions.md has %s, and bad lines %q", w.decisions(), w.status().BadDecisions)
			}
			w.derive() // summaries
			before := w.contents()
			w.reopen(true)
			w.derive()
			if got := w.contents(); strings.Join(got, "\n") != strings.Join(before, "\n") {
				t.Errorf("a new index has\n%s\nwant\n%s", got, before)
			}
		})
	}
}
