package derive_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/unit"
	"kioku/memory"
)

// decisions returns the text of decisions.md.
func (w *world) decisions() string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.folder, "derived", "decisions.md"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(data)
}

func TestDecidePinsAndUnpins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", ana)
	w.derive()
	id := w.fact("lives_in", "Porto").UID
	d := w.decide(unit.DecisionRequest{Verb: unit.DecidePin, ID: id[:8], Note: "her home"})
	if !d.Unit.Pinned || !strings.Contains(w.decisions(), d.Line+"\n") || !strings.Contains(d.Line, " pin fact "+id+" : her home") {
		t.Errorf("pin: %+v, decisions:\n%s", d, w.decisions())
	}
	if d := w.decide(unit.DecisionRequest{Verb: unit.DecideUnpin, ID: id}); d.Unit.Pinned {
		t.Errorf("unpin: %+v", d)
	}
}

// One decision settles a conflict between lines of which none can end the other; undo takes it back as it was.
func TestDecidePinSettlesAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "USER.md", "# User\n\n- Name: Rin\n- City: Kobe\n", "memory/2026-11-18.md", "# 2026-11-18\n\n"+of("Rin", "City: Nishinomiya")+"\n")
	w.derive()
	before := w.sentences(memory.KindFact)
	if st, err := w.Status(t.Context()); err != nil || st.Conflicts != 1 {
		t.Fatalf("%d conflicts, %v: %q", st.Conflicts, err, before)
	}
	id, kobe := w.fact("lives_in", "Nishinomiya").UID, w.fact("lives_in", "Kobe").UID
	d := w.decide(unit.DecisionRequest{Verb: unit.DecidePin, ID: id})
	if !strings.HasSuffix(d.Line, " over "+kobe) || d.Unit.State != memory.StateValidated {
		t.Errorf("the decision is %q, the fact %+v", d.Line, d.Unit)
	}
	if st, err := w.Status(t.Context()); err != nil || st.Conflicts != 0 || w.hasFact("lives_in", "Kobe") {
		t.Errorf("%d conflicts, %v: %q", st.Conflicts, err, w.sentences(memory.KindFact))
	}
	if d := w.decide(unit.DecisionRequest{Verb: unit.DecideUndo, ID: id}); !strings.HasSuffix(d.Line, " undo fact "+id) || d.Unit.Pinned {
		t.Errorf("undone by %q: %+v", d.Line, d.Unit)
	}
	if diff := cmp.Diff(before, w.sentences(memory.KindFact)); diff != "" {
		t.Error(diff)
	}
}

func TestDecideCorrectsAndUndoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", ana)
	w.derive()
	before := w.fact("lives_in", "Porto")
	first, err := w.History(t.Context(), before.UID, memory.Private)
	if err != nil || len(first) != 1 {
		t.Fatalf("history: %v, %v", first, err)
	}
	from := "2026-10"
	d := w.decide(unit.DecisionRequest{Verb: unit.DecideCorrect, ID: before.UID, Set: unit.Correction{Text: "Braga", From: &from}})
	if d.Unit.Fact.Object != "Braga" || d.Unit.Fact.From != from || w.hasFact("lives_in", "Porto") {
		t.Errorf("corrected: %+v, facts %q", d.Unit.Fact, w.sentences(memory.KindFact))
	}
	d = w.decide(unit.DecisionRequest{Verb: unit.DecideUndo, ID: d.Unit.UID})
	if d.Unit.Fact.Object != "Porto" || d.Unit.Fact.From != "" {
		t.Errorf("undone: %+v", d.Unit.Fact)
	}
	after, err := w.History(t.Context(), d.Unit.UID, memory.Private)
	if err != nil || len(after) != 3 {
		t.Fatalf("history: %d versions, %v", len(after), err)
	}
	if after[0].Payload != first[0].Payload {
		t.Errorf("undo is not byte-identical:\n%s\n%s", after[0].Payload, first[0].Payload)
	}
	w.reopen(true)
	w.derive()
	if !w.hasFact("lives_in", "Porto") || w.hasFact("lives_in", "Braga") {
		t.Errorf("facts of a new index: %q", w.sentences(memory.KindFact))
	}
}

func TestDecideClosesLoops(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-20.md", day("- [ ] call the bank"))
	w.derive()
	loop := w.units(memory.KindLoop)[0]
	if d := w.decide(unit.DecisionRequest{Verb: unit.DecideClose, ID: loop.UID}); d.Unit.Loop.Status != memory.LoopClosed {
		t.Errorf("closed: %+v", d.Unit.Loop)
	}
	if open := w.units(memory.KindLoop); len(open) != 0 {
		t.Errorf("open loops: %v", open)
	}
	if d := w.decide(unit.DecisionRequest{Verb: unit.DecideReopen, ID: loop.UID}); d.Unit.Loop.Status != memory.LoopOpen {
		t.Errorf("reopened: %+v", d.Unit.Loop)
	}
}

func TestDecideMergesAndSplitsEntities(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", "# Memory\n\n## Dario Conti\n- lives in: Porto\n\n## Dario\n- works at: Acme\n")
	w.derive()
	uids := map[string]string{}
	list, err := w.Entities(t.Context(), unit.EntityFilter{Name: "dario"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Entities {
		uids[e.Name] = e.UID
	}
	if uids["Dario"] == "" || uids["Dario Conti"] == "" {
		t.Fatalf("entities: %+v", list.Entities)
	}
	d := w.decide(unit.DecisionRequest{Verb: unit.DecideMerge, ID: uids["Dario"][:8], Into: uids["Dario Conti"]})
	if d.Entity.MergedInto != uids["Dario Conti"] || w.fact("works_at", "").Fact.Subject.Name != "Dario Conti" {
		t.Errorf("merged: %+v, facts %q", d.Entity, w.sentences(memory.KindFact))
	}
	if _, err := w.Decide(t.Context(), unit.DecisionRequest{Verb: unit.DecideMerge, ID: uids["Dario Conti"], Into: uids["Dario"]}); !errors.As(err, new(*memory.InputError)) {
		t.Errorf("a circle of merges: %v", err)
	}
	d = w.decide(unit.DecisionRequest{Verb: unit.DecideSplit, ID: uids["Dario"]})
	if d.Entity.MergedInto != "" || w.fact("works_at", "").Fact.Subject.Name != "Dario" {
		t.Errorf("split: %+v, facts %q", d.Entity, w.sentences(memory.KindFact))
	}
}

func TestDecideRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", ana, "memory/2026-11-20.md", day("- [ ] call the bank"))
	w.derive()
	fact, loop := w.fact("lives_in", "Porto").UID, w.units(memory.KindLoop)[0].UID
	before := w.decisions()
	bad, reversed := "soon", "2025"
	from := "2026-10"
	for name, r := range map[string]unit.DecisionRequest{
		"id: short":               {Verb: unit.DecidePin, ID: "abc"},
		"id: no digits":           {Verb: unit.DecidePin, ID: "porto!"},
		"id: close a fact":        {Verb: unit.DecideClose, ID: fact},
		"id: nothing to undo":     {Verb: unit.DecideUndo, ID: fact},
		"id: split what is whole": {Verb: unit.DecideSplit, ID: w.entityOf("Ana")},
		"into: itself":            {Verb: unit.DecideMerge, ID: w.entityOf("Ana"), Into: w.entityOf("Ana")},
		"valid_from: no day":      {Verb: unit.DecideCorrect, ID: fact, Set: unit.Correction{From: &bad}},
		"valid_to: before from":   {Verb: unit.DecideCorrect, ID: fact, Set: unit.Correction{From: &from, To: &reversed}},
		"valid_from: of a loop":   {Verb: unit.DecideCorrect, ID: loop, Set: unit.Correction{From: &from}},
		"due: of a fact":          {Verb: unit.DecideCorrect, ID: fact, Set: unit.Correction{Due: &from}},
		"text: long":              {Verb: unit.DecideCorrect, ID: fact, Set: unit.Correction{Text: strings.Repeat("x", 700)}},
		"note: long":              {Verb: unit.DecidePin, ID: fact, Note: strings.Repeat("x", 501)},
		"verb: unknown":           {Verb: "burn", ID: fact},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.Decide(t.Context(), r)
			var input *memory.InputError
			if field, _, _ := strings.Cut(name, ":"); !errors.As(err, &input) || input.Field != field {
				t.Errorf("the error is %v, want an InputError of %s", err, field)
			}
		})
	}
	if _, err := w.Decide(t.Context(), unit.DecisionRequest{Verb: unit.DecidePin, ID: "0123456789abcdef"}); !errors.Is(err, memory.ErrNoUnit) {
		t.Errorf("an unknown unit: %v", err)
	}
	if after := w.decisions(); after != before {
		t.Errorf("refused decisions were written:\n%s", after)
	}
}

// entityOf returns the UID of an entity by its name.
func (w *world) entityOf(name string) string {
	w.t.Helper()
	list, err := w.Entities(w.t.Context(), unit.EntityFilter{Name: name})
	if err != nil || len(list.Entities) == 0 {
		w.t.Fatalf("entities called %s: %v, %v", name, list.Entities, err)
	}
	return list.Entities[0].UID
}

func TestDecisionsAreReadWhenAPersonEditsThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", ana)
	w.derive()
	id := w.fact("lives_in", "Porto").UID
	w.write("derived/decisions.md", "# Mine\n\n- 2026-11-20 pin fact "+id+"\n- 2026-11-20 pin everything\n")
	if bad := w.status().BadDecisions; len(bad) != 1 {
		t.Errorf("bad lines before the file is applied: %q", bad)
	}
	w.derive()
	if !w.fact("lives_in", "Porto").Pinned {
		t.Error("a line that a person has written does not count")
	}
	if bad := w.status().BadDecisions; len(bad) != 1 || !strings.HasPrefix(bad[0], "line 4: ") {
		t.Errorf("bad lines: %q", bad)
	}
	w.write("derived/decisions.md", "# Mine\n")
	w.derive()
	if w.fact("lives_in", "Porto").Pinned {
		t.Error("a line that a person has deleted still counts")
	}
}

// Acceptance check 11: what is forgotten never comes back, whoever says it again, and its text is nowhere.
func TestAcceptance11ForgetsForGood(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	w := newWorld(t, "memory/2026-11-20.md", day("Yesterday Ana lives in Xanadu, she said.")).withModel(m)
	w.opt.ViewDir = "derived"
	w.serve()
	w.derive()
	d := w.decide(unit.DecisionRequest{Verb: unit.DecideForget, ID: w.fact("lives_in", "Xanadu").UID})
	if d.Unit != nil || !slices.Equal(d.Remaining, []string{"memory/2026-11-20.md#L2"}) || strings.Contains(w.decisions(), "Xanadu") {
		t.Errorf("forgotten: %+v\n%s", d, w.decisions())
	}
	for i := range 10 {
		w.write(filepath.Join("memory", time.Date(2026, 11, i+1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)+".md"), day(strings.Repeat("So ", i+1)+"Ana lives in Xanadu."))
	}
	w.derive()
	if w.hasFact("lives_in", "Xanadu") {
		t.Error("it is back from other notes")
	}
	w.reopen(true)
	w.derive()
	if w.hasFact("lives_in", "Xanadu") {
		t.Error("it is back after the index was made anew")
	}
	for i := range 10 {
		w.remove(filepath.Join("memory", time.Date(2026, 11, i+1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)+".md"))
	}
	w.remove("memory/2026-11-20.md")
	w.derive()
	// The index of words keeps those of deleted notes until it merges its parts; what was paid for is taken over.
	if _, err := w.memory.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := w.memory.Close(); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(w.state, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(data), []byte("xanadu")) {
			t.Errorf("%s still has it", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range w.files("derived") {
		if data, _ := os.ReadFile(filepath.Join(w.folder, path)); strings.Contains(string(data), "Xanadu") {
			t.Errorf("%s still says it", path)
		}
	}
}

// Who forgets does not wait for the next pass until the pages are without it.
func TestForgetRewritesItsPagesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-20.md", day(of("Ana", "likes: snails"), of("Ana", "City: Porto")))
	w.opt.ViewDir = "derived"
	w.serve()
	w.derive()
	saying := func(text string) (pages []string) {
		for _, path := range w.files("derived") {
			if data, _ := os.ReadFile(filepath.Join(w.folder, path)); strings.Contains(string(data), text) {
				pages = append(pages, path)
			}
		}
		return pages
	}
	if len(saying("snails")) == 0 {
		t.Fatal("no page says it before")
	}
	w.decide(unit.DecisionRequest{Verb: unit.DecideForget, ID: w.fact("likes", "snails").UID})
	if still := saying("snails"); len(still) > 0 || len(saying("Porto")) == 0 {
		t.Errorf("still said in %q; Porto in %q", still, saying("Porto"))
	}
}

// What a person has corrected a unit to stays in decisions.md, and forgetting it names the line.
func TestForgetNamesTheCorrections(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", "# Memory\n\n- City: Porto\n")
	w.derive()
	u := w.fact("lives_in", "Porto")
	w.decide(unit.DecisionRequest{Verb: unit.DecideCorrect, ID: u.UID, Set: unit.Correction{Text: "Faro"}})
	d := w.decide(unit.DecisionRequest{Verb: unit.DecideForget, ID: u.UID})
	if len(d.Remaining) == 0 || !strings.HasPrefix(d.Remaining[len(d.Remaining)-1], "derived/decisions.md#L") {
		t.Errorf("remaining: %q", d.Remaining)
	}
}

// A correction does not bring back what is forgotten.
func TestDecideCorrectsToNothingThatIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-20.md", day(of("Ana", "likes: tea"), of("Ana", "likes: snails")))
	w.derive()
	w.decide(unit.DecisionRequest{Verb: unit.DecideForget, ID: w.fact("likes", "snails").UID})
	_, _ = w.Decide(t.Context(), unit.DecisionRequest{Verb: unit.DecideCorrect, ID: w.fact("likes", "tea").UID, Set: unit.Correction{Text: "snails"}})
	w.derive()
	if w.hasFact("likes", "snails") {
		t.Errorf("it is back: %q", w.sentences(memory.KindFact))
	}
}

// What a person writes into a correction is not sent if it looks like a secret, although the notes have none.
func TestASecretInACorrectionIsNotSent(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	w := newWorld(t, "memory/2026-11-19.md", day("- [ ] call the Openbank"))
	w.derive()
	loop := w.units(memory.KindLoop)[0]
	w.decide(unit.DecisionRequest{Verb: unit.DecideCorrect, ID: loop.UID, Set: unit.Correction{Text: "call the Openbank, ghp_Zt8Qw3Lm9Xc2Vb7Nk4Jh6Gf1Ds5Ap0RyUeIo"}})
	w.withModel(m)
	w.write("memory/2026-11-20.md", day("The Openbank has moved."))
	w.derive()
	if asked := m.asked(); strings.Contains(asked, "ghp_") || len(w.status().Parked) == 0 {
		t.Errorf("parked %v, the model was told:\n%s", w.status().Parked, asked)
	}
}
