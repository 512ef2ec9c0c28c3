package search

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
)

func TestSearchAnswersAQuestionForAnOrderByDay(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(
		Chunk{Path: "memory/2026-03-02.md", Date: "2026-03-02", StartLine: 1, EndLine: 1, Text: "The ledger moved, the ledger moved, the ledger is moved.\n"},
		Chunk{Path: "memory/2026-01-05.md", Date: "2026-01-05", StartLine: 1, EndLine: 1, Text: "We planned the move of the ledger and of three other tables.\n"},
		Chunk{Path: "MEMORY.md", StartLine: 1, EndLine: 1, Text: "The ledger is dear to us.\n"},
	), nil, testOptions())
	now := time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC)
	for query, want := range map[string][]string{
		"In which order did the ledger move?": {"memory/2026-01-05.md", "memory/2026-03-02.md", "MEMORY.md"},
		"ledger moved":                        {"memory/2026-03-02.md", "memory/2026-01-05.md", "MEMORY.md"},
	} {
		a, err := s.Search(t.Context(), memory.Query{Text: query, Now: now})
		if diff := cmp.Diff(want, paths(a)); diff != "" || err != nil {
			t.Errorf("%s: (-want +got):\n%s%v", query, diff, err)
		}
	}
	for query, want := range map[string]bool{
		"list in order the steps": true, "Give me a timeline of the move": true, "どの順番で移行したか": true, "按时间顺序列出": true,
		"I want to order a pizza": false, "Which orders are open?": false, "Is the boiler invoice in order?": false, "Was ist die Reihenfolge?": false, "I went home in order to sleep": false,
	} {
		if got := asksOrder.MatchString(query); got != want {
			t.Errorf("%s: %t", query, got)
		}
	}
}
