package chat_test

import (
	"fmt"
	"strings"
	"testing"

	"kioku/agent/session"
	"kioku/llm"
	"kioku/llm/echo"
)

// missingFacts returns the facts that are neither in a note nor in the window.
func (w *world) missingFacts(facts []string) []string {
	have := w.notes.text()
	for _, m := range w.session.View().Messages {
		have += "\n" + m.Text
	}
	var out []string
	for _, fact := range facts {
		if !strings.Contains(have, fact) {
			out = append(out, fact)
		}
	}
	return out
}

// onceACompaction returns an error unless each range between two compactions has exactly one flush.
func (w *world) onceACompaction(id string) error {
	flushes, compactions := 0, 0
	for _, e := range w.transcript(id) {
		switch {
		case e.Flush != nil && e.Flush.Outcome == session.FlushDone:
			flushes++
		case e.Compaction != nil:
			if compactions++; flushes != 1 {
				return fmt.Errorf("%d flushes before compaction %d", flushes, compactions)
			}
			flushes = 0
		}
	}
	if compactions == 0 {
		return fmt.Errorf("no compaction: the test does not test")
	}
	return nil
}

// Hazard F06: 40 facts in a small window and no fault. Each is in a note or in the window, and each compaction has one flush.
func TestTurnsKeepEveryFactInASmallWindow(t *testing.T) {
	t.Parallel()
	for _, window := range []int{3000, 8000, 24_000, 48_000} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &echo.Model{Tokens: window})
			c := w.start("s")
			var facts []string
			for i := range 40 {
				fact := fmt.Sprintf("The locker %s is number %d", word(i), 100+i*7)
				facts = append(facts, fact)
				w.say(c, fact+". "+strings.Repeat("Is it so? ", window/100), nil)
				if lost := w.missingFacts(facts); len(lost) > 0 {
					t.Fatalf("turn %d: %q", i, lost)
				}
			}
			if err := w.onceACompaction("s"); err != nil {
				t.Error(err)
			}
		})
	}
}

// Hazard F06: a server takes 8,000 tokens while its window is believed to be larger, or is unknown.
func TestTurnsKeepEveryFactOfAServerWithASmallerWindow(t *testing.T) {
	t.Parallel()
	for _, window := range []int{0, 200_000} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			t.Parallel()
			model := &learner{most: 8000, window: window}
			w := newWorld(t, model)
			c := w.start("s")
			var facts []string
			for i := range 8 {
				facts = append(facts, word(i))
				w.say(c, fmt.Sprintf("My item is %s. %s", word(i), long(1800)), nil)
				if lost := w.missingFacts(facts); len(lost) > 0 {
					t.Fatalf("turn %d: %q", i, lost)
				}
			}
			if out := c.Flush(t.Context(), nil); out.Outcome == session.FlushFailed {
				t.Errorf("%+v", out)
			}
			for i := range 8 {
				if n := strings.Count(w.notes.text(), word(i)); n != 1 {
					t.Errorf("%s is in %d notes", word(i), n)
				}
			}
			if model.refused > 12 {
				t.Errorf("%d requests were refused", model.refused)
			}
		})
	}
}

// A result of a tool that is longer than the window is stored in pieces, and the conversation goes on.
func TestTurnGoesOnAfterAMessageThatIsLongerThanTheWindow(t *testing.T) {
	t.Parallel()
	model := &learner{most: 4000, window: 4000}
	w := newWorld(t, model)
	c := w.start("s")
	if _, err := c.Turn(t.Context(), "My item is "+word(1)+". "+long(9000)+" My item is "+word(2)+".", nil); llm.KindOf(err) != llm.KindOverflow {
		t.Fatal(err)
	}
	for range 3 {
		w.say(c, "and now? "+long(300), nil)
	}
	if got := w.notes.text(); !strings.Contains(got, word(1)) || !strings.Contains(got, word(2)) {
		t.Errorf("notes %q", got)
	}
}
