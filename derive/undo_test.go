package derive_test

import (
	"strings"
	"testing"

	"kioku/derive/unit"
	"kioku/memory"
)

// Undo gives a unit back what it said, byte for byte, by lines with what differs, which a person can read and which make the same of a
// new index.
func TestUndoWritesWhatDiffers(t *testing.T) {
	t.Parallel()
	from := "2026-10"
	private := memory.Private
	fact := func(w *world) memory.Unit { return w.fact("lives_in", "Porto") }
	correct := func(set unit.Correction) func(w *world, id string) {
		return func(w *world, id string) {
			w.decide(unit.DecisionRequest{Verb: unit.DecideCorrect, ID: id, Set: set})
		}
	}
	for name, c := range map[string]struct {
		find    func(w *world) memory.Unit
		changes []func(w *world, id string)
		want    string
	}{
		"a correction":      {fact, []func(*world, string){correct(unit.Correction{Text: "Braga", From: &from})}, ` {"from":null,"text":null}`},
		"the second of two": {fact, []func(*world, string){correct(unit.Correction{Text: "Braga"}), correct(unit.Correction{Text: "Faro", From: &from})}, ` {"from":null,"text":"Braga"}`},
		"a sensitivity":     {fact, []func(*world, string){correct(unit.Correction{Sensitivity: &private})}, ` {"sensitivity":"normal"}`},
		"what a newer note says": {fact, []func(*world, string){func(w *world, _ string) {
			w.write("memory/2026-11-22.md", day(of("Ana", "City: Rome")))
			w.derive()
		}}, `"state":"validated"`},
		"a loop that was closed": {func(w *world) memory.Unit { return w.units(memory.KindLoop)[0] }, []func(*world, string){func(w *world, id string) {
			w.decide(unit.DecisionRequest{Verb: unit.DecideClose, ID: id})
		}}, `"status":"open"`},
		"a text with marks": {func(w *world) memory.Unit { return w.units(memory.KindLoop)[0] }, []func(*world, string){
			correct(unit.Correction{Text: `写 "<b>" & } : {`}), correct(unit.Correction{Text: "other"})}, ` {"text":"写 \"<b>\" & } : {"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "memory/2026-11-20.md", day(of("Ana", "City: Porto"), "- [ ] call the bank"))
			w.derive()
			id := c.find(w).UID
			var said []string
			payload := func() string {
				versions, err := w.History(t.Context(), id, memory.Secret)
				if err != nil || len(versions) == 0 {
					t.Fatalf("history: %v, %v", versions, err)
				}
				return versions[0].Payload
			}
			for _, change := range c.changes {
				said = append(said, payload())
				change(w, id)
			}
			d := w.decide(unit.DecisionRequest{Verb: unit.DecideUndo, ID: id, Note: "back"})
			if was := said[len(said)-1]; payload() != was {
				t.Errorf("undone to\n%s, want\n%s", payload(), was)
			}
			if !strings.Contains(d.Line, c.want) || len(d.Line) > 250 || !strings.Contains(w.decisions(), d.Line+"\n") {
				t.Errorf("decisions.md has %s, want %s", d.Line, c.want)
			}
			if bad := w.status().BadDecisions; len(bad) > 0 {
				t.Errorf("lines that are not understood: %q", bad)
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

// A summary that was corrected gets the text back that it had.
func TestUndoOfASummary(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-20.md", day("Ana lives in Porto.", "Bea was here, and Cid."))
	w.derive()
	s := w.units(memory.KindSummary)[0]
	w.decide(unit.DecisionRequest{Verb: unit.DecideCorrect, ID: s.UID, Set: unit.Correction{Text: "A quiet week."}})
	d := w.decide(unit.DecisionRequest{Verb: unit.DecideUndo, ID: s.UID})
	if d.Unit.Summary.Text != s.Summary.Text || !strings.Contains(d.Line, `{"text":`) {
		t.Errorf("%q by %s, want %q", d.Unit.Summary.Text, d.Line, s.Summary.Text)
	}
}
