package derive_test

import (
	"fmt"
	"testing"
	"time"

	"kioku/derive"
	"kioku/llm"
	"kioku/memory"
)

// Acceptance check 14: over a day of endless new notes and failing answers, calls and tokens stay below the caps; the status says that the
// budget is used up, searches go on, and so does derivation on the next day.
func TestAcceptance14CostsNoMoreThanItsCaps(t *testing.T) {
	t.Parallel()
	const calls, tokens = 5, 60_000
	m := &fakeModel{answer: func(int, llm.Request) (llm.Response, error) {
		r := say("nonsense")
		r.Usage = llm.Usage{Input: 2000, Output: 500}
		return r, nil
	}}
	w := newWorld(t).withModel(m, func(o *derive.Options) { o.MaxCallsPerHour, o.MaxTokensPerDay = calls, tokens })
	w.pass(15 * time.Hour) // it is midnight
	exhausted := 0
	for half := range 24 * 2 {
		hour, before := half/2, m.calls()
		w.write(fmt.Sprintf("memory/n%d.md", half), fmt.Sprintf("# Note %d\n\nHalf %d brings Ana to Town%d.\n", half, half, half))
		w.derive()
		st := w.status()
		if st.CallsThisHour > calls || m.calls()-before > calls || st.TokensToday > tokens {
			t.Fatalf("in hour %d: %d calls of %d, %d tokens of %d", hour, st.CallsThisHour, calls, st.TokensToday, tokens)
		}
		if st.BudgetExhausted {
			exhausted++
		}
		w.pass(30 * time.Minute)
	}
	if made := m.calls(); made < 10 || made*2500 > tokens || exhausted == 0 {
		t.Errorf("%d calls in 24 hours for %d tokens, exhausted %d times", made, tokens, exhausted)
	}
	if a, err := w.memory.Search(t.Context(), memory.Query{Text: "Half 47 Town47"}); err != nil || len(a.Hits) == 0 {
		t.Errorf("search without budget: %v, %v", a.Hits, err)
	}
	m.answer = nil // the next day
	before := m.calls()
	w.derive()
	if m.calls() == before {
		t.Errorf("nothing was asked on the next day: %+v", w.status())
	}
}

// A day of 100 exchanges costs at most 20 calls.
func TestADayOfAHundredTurnsCostsFewCalls(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	var turns []string
	for i := range 100 {
		turns = append(turns, fmt.Sprintf("- User: What about item %d? Well, Ana%d lives in Porto.\n- Assistant: Item %d is noted.", i, i, i))
	}
	w := newWorld(t, "memory/2026-11-23.md", day(turns...)).withModel(m)
	w.derive()
	if n := m.calls(); n == 0 || n > 20 {
		t.Errorf("%d calls", n)
	}
}
