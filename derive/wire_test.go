package derive_test

import (
	"strings"
	"testing"
	"time"

	"kioku/derive/derivetest"
	"kioku/memory"
)

// Acceptance check 4: over HTTP, failures are waited out and never count as an answer.
func TestAcceptance04FailuresOverHTTP(t *testing.T) {
	t.Parallel()
	answer := strings.ReplaceAll(`{"episodes": [{"unit_id": 1, "entities": [], "relations": [], "loops": [], "facts": [{"subject": {"etype": "PERSON", "name": "Ana"},
"predicate": "lives_in", "object_text": "Porto", "object": null, "confidence": 0.9, "validity": {"from": null, "to": null},
"evidence": [{"line": 1, "quote": "Ana lives in Porto"}]}]}]}`, "\n", " ")
	server := derivetest.New(t, `
-- overloaded --
purpose: extract
status: 429
header: Retry-After: 600

{"error": {"message": "slow down"}}
-- broken --
purpose: extract
status: 500

{"error": {"message": "oops"}}
-- reset --
purpose: extract
cut: true

{"episodes": []}
-- good --
purpose: extract
tokens: 120 40

`+answer+`
-- summary --
purpose: summary
times: *

{"summary_text": "Ana lives in Porto", "key_events": [], "relationship_state": "", "notes": null}
`)
	w := newWorld(t, "memory/2026-11-23.md", "Ana lives in Porto, it says.\n")
	w.opt.Model = server.Model()
	w.serve()
	for try, step := range []string{"overloaded", "broken", "reset"} {
		w.derive()
		st := w.status()
		extracts := 0
		last := ""
		for _, r := range server.Requests() {
			if r.Purpose == "extract" {
				extracts, last = extracts+1, r.Step
			}
		}
		if extracts != try+1 || last != step || st.Problem == "" || len(st.Parked) != 0 {
			t.Fatalf("after %s: %d requests, the last is %s: %+v", step, extracts, last, st)
		}
		w.pass(2 * time.Hour)
	}
	w.derive()
	if u := w.fact("lives_in", "Porto"); u.Source != "model" {
		t.Errorf("fact: %+v", u)
	}
	st := w.status()
	if st.Problem != "" || st.TokensToday < 160 {
		t.Errorf("status: %+v", st)
	}
}

// What a model is told beside a batch is not above its ceiling either: a private loop is not offered.
func TestPrivateLoopsAreNotOffered(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	w := newWorld(t, "memory/family/2026-11-19.md", day("- [ ] call the Canarybank"), "memory/2026-11-20.md", day("- [ ] call the Openbank"))
	w.derive()
	w.withModel(m)
	w.write("memory/2026-11-23.md", day("I will call the Openbank and the other one, says Ana."))
	w.derive()
	if asked := m.asked(); strings.Contains(asked, "Canarybank") || !strings.Contains(asked, "open loops") {
		t.Errorf("the model was told:\n%s", asked)
	}
	if n := len(w.units(memory.KindLoop)); n != 2 {
		t.Errorf("%d loops", n)
	}
}
