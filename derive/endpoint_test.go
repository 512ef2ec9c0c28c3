package derive_test

import (
	"strings"
	"testing"
	"time"

	"kioku/derive"
	"kioku/llm"
	"kioku/memory"
)

// Two servers may have different models of one name: what one has said is not taken for what the other one would say, and comes back
// at no cost with the server that has said it.
func TestAnswersAreThoseOfOneServer(t *testing.T) {
	t.Parallel()
	first := &fakeModel{}
	second := &fakeModel{answer: func(_ int, req llm.Request) (llm.Response, error) {
		return say(strings.ReplaceAll(reading(req), `"object_text":"Porto"`, `"object_text":"Nowhere"`)), nil // no line says so
	}}
	w := newWorld(t, "memory/2026-11-20.md", day("Now Ana lives in Porto.", "Then Bea lives in Rome."))
	anew := func(m *fakeModel, server string) {
		t.Helper()
		if _, err := w.memory.Rebuild(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		w.withModel(m, func(o *derive.Options) { o.ModelServer = server })
		w.derive()
	}
	anew(first, "openai")
	calls := first.calls()
	if !w.hasFact("lives_in", "Porto") {
		t.Fatalf("facts %q after %d calls", w.sentences(memory.KindFact), calls)
	}
	anew(second, "openai-0123")
	if second.extracts() == 0 || w.hasFact("lives_in", "Porto") {
		t.Errorf("%d calls to the second server, facts %q", second.extracts(), w.sentences(memory.KindFact))
	}
	anew(first, "openai")
	if first.calls() != calls || !w.hasFact("lives_in", "Porto") {
		t.Errorf("%d calls to the first server again, facts %q", first.calls()-calls, w.sentences(memory.KindFact))
	}
}

// A summary that one server has made is not cached for another one.
func TestSummariesAreThoseOfOneServer(t *testing.T) {
	t.Parallel()
	for server, wantCalls := range map[string]bool{"openai": false, "openai-0123": true} {
		m := &fakeModel{}
		w := newWorld(t, "memory/2026-11-10.md", day("Now Ana lives in Porto.")).withModel(m, func(o *derive.Options) { o.ModelServer = "openai" })
		w.derive()
		w.write("memory/2026-11-11.md", day("Lunch."))
		w.pass(25 * time.Hour)
		w.derive()
		w.remove("memory/2026-11-11.md")
		w.pass(25 * time.Hour)
		before := m.purposes("summary")
		w.withModel(m, func(o *derive.Options) { o.ModelServer = server })
		w.derive()
		if before < 2 || (m.purposes("summary") > before) != wantCalls {
			t.Errorf("%s: %d summaries, %d before", server, m.purposes("summary"), before)
		}
	}
}

// What one server has read is read again by another one, without a new index.
func TestAnotherServerReadsAgain(t *testing.T) {
	t.Parallel()
	first, second := &fakeModel{}, &fakeModel{}
	w := newWorld(t, "memory/2026-11-20.md", day("Now Ana lives in Porto.")).withModel(first, func(o *derive.Options) { o.ModelServer = "openai" })
	w.derive()
	w.withModel(second, func(o *derive.Options) { o.ModelServer = "openai-0123" })
	w.derive()
	if second.extracts() != 1 {
		t.Errorf("%d calls", second.extracts())
	}
}
