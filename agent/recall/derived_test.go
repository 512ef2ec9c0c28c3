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

func TestRecallPutsFactsBeforeSummariesLoopsAndPassages(t *testing.T) {
	t.Parallel()
	lost := found(memory.KindFact, "Marta lives in Lisbon", "MEMORY.md", 0.9)
	lost.State = memory.StateConflict
	o := derived(t, recall.Options{}, []memory.FoundUnit{
		found(memory.KindLoop, "Open: write to Marta", "memory/2026-11-02.md", 0.8), lost,
		found(memory.KindSummary, "A week by the river.", "memory/2026-11-02.md", 0.6),
		found(memory.KindFact, "Marta lives in Porto", "MEMORY.md", 0.95),
	}, hit("Marta moved.", 0.7))
	want := "fact Marta lives in Porto\nfact Marta lives in Lisbon (another note contradicts this)\nsummary A week by the river.\nloop Open: write to Marta\nMarta moved."
	if diff := cmp.Diff(want, kindsOf(o)); diff != "" {
		t.Error(diff)
	}
	fact := prompt.Memory{Agent: "main", Path: "MEMORY.md", StartLine: 3, EndLine: 3, Score: 0.5, Date: "2026-11-02", Kind: memory.KindFact,
		Text: "Marta lives in Porto", Quote: "- Marta lives in Porto"}
	if diff := cmp.Diff(fact, o.Memories[0]); diff != "" {
		t.Error(diff)
	}
}

// What one kind does not need goes to the next; over the budget facts of little worth go, summaries and passages are shortened.
func TestRecallKeepsToTheBudgetOfEachKind(t *testing.T) {
	t.Parallel()
	var units []memory.FoundUnit
	for i := range 20 {
		units = append(units, found(memory.KindFact, strings.Repeat("Marta keeps another red boat. ", 2)+string(rune('a'+i)), "MEMORY.md", 0.5+float64(i)/50))
	}
	units = append(units, found(memory.KindSummary, strings.Repeat("It rained by the river all day. ", 80), "memory/2026-11-02.md", 0.6))
	long := hit("Marta lives by the river.\n"+strings.Repeat("Nothing else was said about it then.\n", 60)+"She likes it.", 0.9)
	o := derived(t, recall.Options{MaxTokens: 600}, units, long)
	counts, tokens := map[string]int{}, 0
	for _, m := range o.Memories {
		counts[m.Kind]++
		tokens += len(m.Text) / 4
	}
	if counts[memory.KindFact] < 2 || counts[memory.KindFact] > 5 || counts[memory.KindSummary] != 1 || counts[""] != 1 || tokens > 600 {
		t.Errorf("%v of %d tokens:\n%s", counts, tokens, kindsOf(o))
	}
	if first := o.Memories[0].Text; !strings.HasSuffix(first, "t") {
		t.Errorf("the fact of the greatest worth is not first but %q", first)
	}
	if last := o.Memories[len(o.Memories)-1].Text; !strings.Contains(last, "Marta lives by the river.") || len(last) > 300 {
		t.Errorf("the passage is %q", last)
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
