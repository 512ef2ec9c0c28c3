package derive_test

import (
	"testing"
	"time"

	"kioku/memory"
)

// What has ended by a date that a note states holds no more, and what ends later still does.
func TestFactsHoldUntilTheDayThatTheyState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", "# Memory\n\n## Ana\n- Company: Acme (2026-03 to 2026-07)\n- City: Porto (2026-03 to 2027-07)\n")
	w.derive()
	if w.hasFact("works_at", "Acme") || !w.hasFact("lives_in", "Porto") {
		t.Errorf("now: %q", w.sentences(memory.KindFact))
	}
	for day, want := range map[string]int{"2026-02-28": 0, "2026-03-01": 2, "2026-07-31": 2, "2026-08-01": 1, "2027-08-01": 0} {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		if n := w.count(memory.UnitQuery{Kinds: []string{memory.KindFact}, AsOf: at}); n != want {
			t.Errorf("as of %s %d facts, want %d", day, n, want)
		}
	}
}

func TestSummariesAreKnownFromTheirFirstDayOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-18.md", day(of("Ana", "City: Porto")))
	w.derive()
	last := monday.AddDate(0, 0, -7) // the Monday of the week that has a summary
	for days, want := range map[int]int{-1: 0, 0: 1} {
		q := memory.UnitQuery{Kinds: []string{memory.KindSummary}, AsOf: last.AddDate(0, 0, days)}
		if n := w.count(q); n != want {
			t.Errorf("%s: %d summaries, want %d", q.AsOf.Format(time.DateOnly), n, want)
		}
	}
}

func TestUnitsAreBelievedFromTheMomentOfTheirCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-20.md", day(of("Ana", "City: Porto")))
	w.derive()
	for before, want := range map[time.Duration]int{0: 1, time.Microsecond: 0} {
		if n := w.count(memory.UnitQuery{Kinds: []string{memory.KindFact}, BelievedAt: monday.Add(-before)}); n != want {
			t.Errorf("%v before: %d facts, want %d", before, n, want)
		}
	}
}

// count returns how many units a query selects.
func (w *world) count(q memory.UnitQuery) int {
	w.t.Helper()
	q.MaxSensitivity = memory.Secret
	list, err := w.List(w.t.Context(), q, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return len(list.Units)
}
