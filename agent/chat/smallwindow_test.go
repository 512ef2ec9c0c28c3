package chat_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kioku/agent/chat"
	"kioku/llm"
	"kioku/llm/echo"
)

// counter counts what happens in turns.
type counter struct{ compactions, leftOut, notSummarised int }

func (n *counter) each(e chat.Event) {
	switch {
	case e.Compacted != nil:
		n.compactions++
	case strings.Contains(e.Notice, "left out of the request"):
		n.leftOut++
	case strings.Contains(e.Notice, "could not be summarised"):
		n.notSummarised++
	}
}

// Hazard F06: in a small window too, what is stored is compacted again and again, and the messages that are sent are all the
// others. The summaries of the scripted model are longer than they may be.
func TestTurnsAreCompactedInSmallWindows(t *testing.T) {
	t.Parallel()
	for _, window := range []int{1400, 2000, 3000, 4000, 8000} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			t.Parallel()
			const turns = 120
			w := newWorld(t, &echo.Model{Tokens: window})
			c := w.start("s")
			var n counter
			for i := range turns {
				w.say(c, fmt.Sprintf("Fact %d: the locker %s belongs to person-%d and opens with code QX%d-%d, which %s", i, word(i), i, i, 1000+i, long(25)), n.each)
			}
			c.Flush(t.Context(), nil)
			notes, missing := w.notes.text(), 0
			for i := range turns {
				if !strings.Contains(notes, word(i)) {
					missing++
				}
			}
			if missing > 0 || n.compactions < 2 || n.leftOut >= turns/20 || n.notSummarised > 0 {
				t.Errorf("%d facts are not in notes; %+v, status %+v", missing, n, c.Status())
			}
		})
	}
}

// Hazard F06: a server whose window is unknown refuses long requests, and no summary can be written. Each message has an answer;
// a turn asks for at most one summary, and the next ones wait longer and longer.
func TestTurnsGoOnWithoutSummaries(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func() (*llm.Response, error){
		"empty": func() (*llm.Response, error) { return &llm.Response{Stop: llm.StopEnd}, nil },
		"fails": func() (*llm.Response, error) { return nil, &llm.Error{Kind: llm.KindUnavailable, Message: "boom"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, now := 0, noon
			model := &learner{most: 8000, usage: true}
			model.fault = func(kind string, _ []string) (*llm.Response, error) {
				if kind != askSummary {
					return nil, nil
				}
				asked++
				return fault()
			}
			w := newWorld(t, model)
			w.now = func() time.Time { return now }
			c := w.start("s")
			var n counter
			for i := range 40 {
				before, refused := asked, model.refused
				w.say(c, fmt.Sprintf("My item is %s. %s", word(i), long(400)), n.each)
				if asked > before+2 || model.refused > refused+6 {
					t.Errorf("turn %d: %d requests for a summary, %d requests refused", i, asked-before, model.refused-refused)
				}
				now = now.Add(10 * time.Second)
			}
			if n.notSummarised < 1 || n.notSummarised > 6 || asked == 0 || asked > 2*6 || model.refused > 8 || n.compactions > 0 {
				t.Errorf("%+v, %d requests for summaries, %d requests refused", n, asked, model.refused)
			}
		})
	}
}
