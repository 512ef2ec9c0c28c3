package recall_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/prompt"
	"kioku/agent/recall"
	"kioku/memory"
)

// found is a unit of a kind with a text, and evidence in a file.
func found(kind, text, path string, confidence float64) memory.FoundUnit {
	return memory.FoundUnit{
		Text: text, Score: 0.5, Names: []string{"Marta"},
		Unit: memory.Unit{Kind: kind, State: memory.StateValidated, Confidence: confidence, OccurredAt: time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC),
			Evidence: []memory.Evidence{{Path: path, StartLine: 3, EndLine: 3, Quote: "- " + text}}},
	}
}

// kindsOf returns kinds and texts of what was recalled, one a line.
func kindsOf(o recall.Outcome) string {
	var lines []string
	for _, m := range o.Memories {
		lines = append(lines, strings.TrimSpace(m.Kind+" "+m.Text))
	}
	return strings.Join(lines, "\n")
}

// derived recalls from a memory that has both.
func derived(t *testing.T, opt recall.Options, units []memory.FoundUnit, hits ...memory.Hit) recall.Outcome {
	t.Helper()
	own := &fake{answer: memory.Answer{Hits: hits, Units: units, Mode: memory.ModeKeyword}}
	return recall.New(opt, among(map[string]*fake{"main": own})).Recall(t.Context(), recall.Request{
		Message: "Where does Marta live?", Agent: "main", Now: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC),
	})
}

// Passages and units stand in one list by their scores. A unit has a share of the score of the best passage.
func TestRecallPutsUnitsAmongPassagesByTheirScores(t *testing.T) {
	t.Parallel()
	scored := func(u memory.FoundUnit, score float64) memory.FoundUnit { u.Score = score; return u }
	lost := scored(found(memory.KindFact, "Marta lives in Lisbon", "USER.md", 0.9), 0.7)
	lost.State = memory.StateConflict
	units := []memory.FoundUnit{
		scored(found(memory.KindFact, "Marta lives in Porto", "MEMORY.md", 0.95), 1), lost,
		scored(found(memory.KindLoop, "Open: write to Marta", "memory/2026-11-02.md", 0.8), 0.5),
		scored(found(memory.KindSummary, "A week by the river.", "memory/2026-11-02.md", 0.6), 0.4),
	}
	o := derived(t, recall.Options{}, units, hit("Marta moved.", 0.7), hit("Marta lives upstream.", 0.6), hit("The river.", 0.4))
	want := "Marta moved.\nfact Marta lives in Porto\nMarta lives upstream.\nfact Marta lives in Lisbon (another note contradicts this)\nThe river.\nloop Open: write to Marta"
	if diff := cmp.Diff(want, kindsOf(o)); diff != "" {
		t.Error(diff)
	}
	fact := prompt.Memory{Agent: "main", Path: "MEMORY.md", StartLine: 3, EndLine: 3, Score: 0.7, Date: "2026-11-02", Kind: memory.KindFact,
		Text: "Marta lives in Porto", Quote: "- Marta lives in Porto"}
	if diff := cmp.Diff(fact, o.Memories[1]); diff != "" {
		t.Error(diff)
	}
	if o := derived(t, recall.Options{}, units); len(o.Memories) != 3 || o.Memories[0].Score != 1 {
		t.Errorf("without passages: %+v", o.Memories)
	}
}

// With derivation on, recall has the passages that it has without, whole and in their order; units have what these leave of the tokens.
func TestRecallKeepsPassagesWholeBesideUnits(t *testing.T) {
	t.Parallel()
	var units []memory.FoundUnit
	for i := range 20 {
		units = append(units, found(memory.KindFact, strings.Repeat("Marta keeps another red boat. ", 2)+string(rune('a'+i)), "MEMORY.md", 0.9))
	}
	hits := []memory.Hit{hit("Marta lives by the river.\n"+strings.Repeat("Nothing else was said about it then.\n", 30), 0.9), hit("She likes it.", 0.2)}
	for room, want := range map[int]int{100: 0, 600: 5, 5000: 20} {
		var passages []string
		o := derived(t, recall.Options{MaxTokens: room}, units, hits...)
		for _, m := range o.Memories {
			if m.Kind == "" {
				passages = append(passages, m.Text)
			}
		}
		if diff := cmp.Diff([]string{hits[0].Snippet, hits[1].Snippet}, passages); diff != "" {
			t.Errorf("%d tokens: %s", room, diff)
		}
		if n := len(o.Memories) - len(passages); n != want {
			t.Errorf("%d tokens: %d units, want %d", room, n, want)
		}
	}
}

// A fact adds nothing to the passage that it was derived from, unless it does not hold any more.
func TestRecallLeavesOutWhatAPassageShows(t *testing.T) {
	t.Parallel()
	fact, gone := found(memory.KindFact, "Marta lives in Porto", "MEMORY.md", 0.9), found(memory.KindFact, "Marta works at Slipway", "MEMORY.md", 0.9)
	gone.State = memory.StateSuperseded
	shown := hit("- Marta lives in Porto", 0.7)
	shown.Path, shown.StartLine, shown.EndLine = "MEMORY.md", 3, 3
	o := derived(t, recall.Options{}, []memory.FoundUnit{fact, gone}, shown)
	if diff := cmp.Diff("- Marta lives in Porto\nfact Marta works at Slipway (no longer)", kindsOf(o)); diff != "" {
		t.Error(diff)
	}
}

// Without anything derived, no passage is shortened or left out for the budget.
func TestRecallOfPassagesHasNoBudget(t *testing.T) {
	t.Parallel()
	long := hit(strings.Repeat("Marta lives by the river.\n", 400), 0.9)
	if o := derived(t, recall.Options{MaxTokens: 100}, nil, long); len(o.Memories) != 1 || o.Memories[0].Text != long.Snippet {
		t.Error("the passage was cut")
	}
}

// The query tells the last six messages, without what was recalled into them, and no more than both ends of long ones.
func TestRecallSendsTheLatestMessages(t *testing.T) {
	t.Parallel()
	own := &fake{answer: answer(hit("a", 0.9))}
	var turns []memory.Turn
	for _, said := range []string{"one", "two", "three", " ", "four", "five", "six", strings.Repeat("long ", 2000)} {
		turns = append(turns, memory.Turn{Speaker: memory.SpeakerUser, Text: said})
	}
	recall.New(recall.Options{}, among(map[string]*fake{"main": own})).Recall(t.Context(), recall.Request{Message: "And her brother?", Agent: "main", Context: turns})
	got := own.asked[0]
	if len(got.Context) != 6 || got.Context[0].Text != "two" || len(got.Context[5].Text) > 5000 {
		t.Errorf("sent %d messages, the first %q", len(got.Context), got.Context[0].Text)
	}
	if err := got.CheckRecall(); err != nil {
		t.Error(err)
	}
}

// Another agent shares nothing that is private.
func TestRecallOfSharedMemoryHasALowerCeiling(t *testing.T) {
	t.Parallel()
	own, team := &fake{answer: answer()}, &fake{answer: answer()}
	recall.New(recall.Options{}, among(map[string]*fake{"main": own, "team": team})).Recall(t.Context(), recall.Request{Message: "x", Agent: "main", Shared: []string{"team"}})
	if *own.asked[0].MaxSensitivity != memory.Private || *team.asked[0].MaxSensitivity != memory.Normal {
		t.Errorf("ceilings %v and %v", *own.asked[0].MaxSensitivity, *team.asked[0].MaxSensitivity)
	}
}
