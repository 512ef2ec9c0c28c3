package search

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
)

// ledger has notes of May 2025 and of February 2026, two about meetings on other days, and one without a day.
func ledger() []Chunk {
	return []Chunk{
		{Path: "memory/2025-05-02.md", Date: "2025-05-02", Text: "Planted beans. 豆を植えた。 种了豆子。"},
		{Path: "memory/2025-05-20.md", Date: "2025-05-20", Text: "The fence fell. 柵が倒れた。 栅栏倒了。"},
		{Path: "memory/2026-02-03.md", Date: "2026-02-03", Text: "Sold the tractor. 農機を売った。 卖了拖拉机。"},
		{Path: "memory/2026-02-10.md", Date: "2026-02-10", Text: "Meeting about the roof. 屋根の会議。 开会谈屋顶。"},
		{Path: "memory/2026-03-05.md", Date: "2026-03-05", Text: "Meeting with Marco. 井戸の会議。 开会谈水井。"},
		{Path: "MEMORY.md", Text: "It happened that the well dried up last month, Marco said. 28 barrels."},
	}
}

// askLedger returns the answer to a query on 2026-03-27.
func askLedger(t *testing.T, q memory.Query) memory.Answer {
	t.Helper()
	q.Now = time.Date(2026, 3, 27, 9, 0, 0, 0, time.UTC)
	a, err := New(newFakeStore(ledger()...), nil, testOptions()).Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSearchLongSpanFindsItsNotesNewestFirst(t *testing.T) {
	t.Parallel()
	may := []string{"memory/2025-05-20.md", "memory/2025-05-02.md"}
	february := []string{"memory/2026-02-10.md", "memory/2026-02-03.md"}
	for query, want := range map[string][]string{
		"what happened last month": february, "last month": february, "上个月": february, "上个月做了什么": february,
		"先月何をした": february, "先月何があった？": february, "February 2026": february, "2026年2月": february,
		"What happened in May 2025?": may, "May 2025": may, "去年の5月": may, "令和7年": may, "去年": may,
		"what did I write last month?": february, "summary of last month": february, "summarise last month": february, "先月書いた記事": february,
		"先月のまとめ": february, "上个月写了什么": february, "总结上个月": february, "what did I write about the roof last month": february[:1],
		"what did I do last year?": may, "今月": {"memory/2026-03-05.md"}, "last 30 days": {"memory/2026-03-05.md"},
	} {
		t.Run(query, func(t *testing.T) {
			got := paths(answersOf(askLedger(t, memory.Query{Text: query})))
			if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
				t.Errorf("%s: found %v, want %v first", query, got, want)
			}
		})
	}
}

func TestSearchForDaysKeepsFilterAndMinScore(t *testing.T) {
	t.Parallel()
	for _, q := range []memory.Query{
		{Text: "last month", Filter: memory.Filter{PathPrefix: "MEM"}},
		{Text: "last month", Filter: memory.Filter{Until: "2026-01-31"}},
		{Text: "umbrella last month", MinScore: new(0.5)},
		{Text: "umbrella on 2026-02-10", Filter: memory.Filter{PathPrefix: "MEM"}},
		{Text: "umbrella on 2026-02-10", MinScore: new(0.9)},
	} {
		t.Run(q.Text, func(t *testing.T) {
			for _, hit := range askLedger(t, q).Hits {
				if strings.HasPrefix(hit.Date, "2026-02") {
					t.Errorf("%+v: found %s", q, hit.Path)
				}
			}
		})
	}
}

func TestSearchDayWithoutNotesHidesNothing(t *testing.T) {
	t.Parallel()
	meetings := []string{"memory/2026-02-10.md", "memory/2026-03-05.md"}
	for _, query := range []string{
		"meeting on 2026-02-28", "2026-02-30 meeting", "meeting 20260228", "the meeting of February 30", "meeting in April 2024",
		"3月19日の会議", "2月30日の会議", "令和8年2月28日の会議", "2026年2月28日开会", "2月30号开会",
	} {
		t.Run(query, func(t *testing.T) {
			got := paths(answersOf(askLedger(t, memory.Query{Text: query})))
			slices.Sort(got)
			if !cmp.Equal(meetings, got[max(len(got)-2, 0):]) {
				t.Errorf("%s: found %v", query, got)
			}
		})
	}
}

func TestConfidenceCountsWordsOfDates(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(
		Chunk{Path: "a.md", Text: "The meeting about paint"},
		Chunk{Path: "b.md", Text: "The meeting of 2026-02-28 about paint"},
	), nil, testOptions())
	for _, query := range []string{"meeting on 2026-02-28", "2026-02-28"} {
		t.Run(query, func(t *testing.T) {
			a := askWednesday(t, s, query)
			if len(a.Hits) == 0 || a.Hits[0].Path != "b.md" {
				t.Errorf("%s: found %v", query, paths(a))
			}
		})
	}
}

func TestSearchDayInDigitsIsDayAndNumber(t *testing.T) {
	t.Parallel()
	s := New(newFakeStore(
		Chunk{Path: "memory/2026-03-20.md", Date: "2026-03-20", Text: "A meeting about the roof"},
		Chunk{Path: "a.md", Text: "Order 20260320 is paid"},
	), nil, testOptions())
	if got := paths(askWednesday(t, s, "meeting 20260320")); len(got) == 0 || got[0] != "memory/2026-03-20.md" {
		t.Errorf("found %v", got)
	}
	if got := paths(askWednesday(t, s, "order 20260320")); !slices.Contains(got, "a.md") {
		t.Errorf("found %v", got)
	}
}

func TestSpellingVariantsSkipWordsOfDates(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"March 2024", "in March", "March", "the roof in March 2020", "since march 3rd"} {
		t.Run(query, func(t *testing.T) {
			e, err := New(newFakeStore(ledger()[5:]...), nil, testOptions()).Explain(t.Context(), memory.Query{Text: query, Now: wednesday}, "", 0)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(e.Terms, "marco") {
				t.Errorf("%s looks for %v", query, e.Terms)
			}
		})
	}
}

func TestSearchEmptyAnswerNamesDaysWithoutNotes(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"umbrella in April 2024": "No note holds a word of the query, and no note is dated 2024-04-01 to 2024-04-30.",
		"2024-04-01":             "No note is dated 2024-04-01.",
		"umbrella last year":     "",
		"umbrella":               "No note holds a word of the query.",
	} {
		t.Run(query, func(t *testing.T) {
			a := askLedger(t, memory.Query{Text: query})
			if want == "" {
				a = askLedger(t, memory.Query{Text: query, Filter: memory.Filter{PathPrefix: "x"}})
				want = `No note has a path that begins with "x", so the filter leaves all of them out.`
			}
			if len(a.Hits) != 0 || len(a.Degraded) == 0 || a.Degraded[0].Text != want {
				t.Errorf("%s: found %v, %v", query, paths(a), a.Degraded)
			}
		})
	}
}
