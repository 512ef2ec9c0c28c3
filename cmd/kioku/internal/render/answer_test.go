package render

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"kioku/internal/testkit"
	"kioku/memory"
)

// changingMemory answers each search from the next state of its index.
type changingMemory struct{ answers []memory.Answer }

func (m *changingMemory) search(context.Context, memory.Query) (memory.Answer, error) {
	next := m.answers[0]
	m.answers = m.answers[1:]
	return next, nil
}

// An empty answer is not explained by a search of a newer index: if the index has changed, the question is asked again.
func TestSearchExplainsAnEmptyAnswerFromTheSameIndex(t *testing.T) {
	t.Parallel()
	answer := func(generation int64, citations ...string) memory.Answer {
		a := memory.Answer{Index: memory.IndexStats{Generation: generation, Files: 3}}
		for _, c := range citations {
			a.Hits = append(a.Hits, memory.Hit{Path: c, Score: 0.68})
		}
		return a
	}
	for name, test := range map[string]struct {
		answers       []memory.Answer
		want, without string
	}{
		"same index":           {[]memory.Answer{answer(1), answer(1, "n.md")}, "the nearest, n.md", "1 result"},
		"changed, found":       {[]memory.Answer{answer(1), answer(2, "n.md"), answer(2, "n.md")}, "1 result", "no result"},
		"changed, not found":   {[]memory.Answer{answer(1), answer(2, "n.md"), answer(2)}, "the nearest, n.md", "1 result"},
		"changed, then again":  {[]memory.Answer{answer(1), answer(2, "n.md"), answer(3)}, "no result", "the nearest"},
		"found at once":        {[]memory.Answer{answer(1, "n.md")}, "1 result", "no result"},
		"nothing near, either": {[]memory.Answer{answer(1), answer(1)}, "no passage shares anything", "the nearest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, notices bytes.Buffer
			o := &Output{Stdout: &out, Stderr: &notices}
			m := &changingMemory{answers: test.answers}
			testkit.Must(t, o.Search(t.Context(), m.search, memory.Query{Text: "zulu77"}, false))
			if got := notices.String(); !strings.Contains(got, test.want) || strings.Contains(got, test.without) || len(m.answers) > 0 {
				t.Errorf("%q, want %q without %q; %d answers left", got, test.want, test.without, len(m.answers))
			}
		})
	}
}
