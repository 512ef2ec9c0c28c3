package search

import (
	"slices"
	"testing"
	"time"

	"kioku/memory"
)

// A period plus words that only ask is a question for the period; a question with a subject keeps it.
func TestAsksForMore(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 27, 9, 0, 0, 0, time.UTC)
	for want, queries := range map[bool][]string{
		false: {
			"what did I write last month?", "summary of last month", "Summarise last week", "summarize yesterday, please",
			"what happened last month", "what have I written since January", "my notes from last week", "recap of last year",
			"show me the entries of May 2025", "list all articles from last year", "what did we do yesterday?",
			"what did I learn last month?", "what was I working on last week", "journal of 3 May 2025", "what's new this week?",
			"what changed last week?", "Give me an overview of the last 30 days", "anything noted last Friday?", "what did I post in June 2025",
			"先月書いた記事", "先月は何をしましたか", "先月のまとめ", "先週の出来事をまとめて", "昨日の日記", "先月何を書いた？", "先週やったこと",
			"去年の5月のメモを見せて", "先月の振り返り", "昨日あったことを教えてください", "先週の作業", "今月書いたノートの一覧",
			"上个月写了什么", "上个月我写过什么文章", "上周的总结", "总结一下上个月", "昨天做了什么", "上周发生了什么事情", "去年五月的日记",
			"上個月寫了什麼", "上個月的筆記", "昨天我们做过什么", "列出上个月的所有文章", "回顾去年",
		},
		true: {
			"what did I write about Rust last month", "summary of the budget meeting last month", "last month's invoices",
			"what did Marco write last week", "who repaired the fence in May 2025?", "notes about the roof from last week",
			"先月書いたRustの記事", "先月の会議のまとめ", "昨日の夕食", "先週の出張で書いたメモ", "先月りんごを買った店",
			"上个月写了什么关于接口的文章", "上周会议的总结", "昨天的晚饭", "上个月的预算", "上個月的發票",
		},
	} {
		for _, query := range queries {
			d := parseDates(query, now)
			if len(d.mentions) == 0 {
				t.Errorf("%q names no day", query)
			} else if got := asksForMore(withoutParts(d.norm, d.mentions)); got != want {
				t.Errorf("%q asks for more: %v, want %v", query, got, want)
			}
		}
	}
}

// A question for a period without notes finds nothing but texts that name this period, and says that no note has such a date.
func TestSearchQuestionForAPeriodWithoutNotes(t *testing.T) {
	t.Parallel()
	chunks := append(ledger(),
		Chunk{Path: "undo.md", Text: "Undo the last commit: what you wrote last month changed, the summary too."},
		Chunk{Path: "house.md", Text: "In April 2019 we moved. The refund took 30 days. It rained on May 3rd."})
	for i := range chunks {
		chunks[i].Vector = []float32{1, 0, 0}
	}
	e := &fakeEmbedder{vector: []float32{1, 0, 0}}
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	for query, want := range map[string]struct {
		found []string
		says  string
	}{
		"what did I write last month?":       {nil, "No note is dated 2026-10-01 to 2026-10-31."},
		"summary of last month":              {nil, "No note is dated 2026-10-01 to 2026-10-31."},
		"what changed last week?":            {nil, "No note is dated 2026-11-09 to 2026-11-15."},
		"what happened in the last 30 days?": {nil, "No note is dated 2026-10-24 to 2026-11-22."},
		"先月書いた記事":                            {nil, "No note is dated 2026-10-01 to 2026-10-31."},
		"what did I do in April 2019?":       {[]string{"house.md"}, "No note is dated 2019-04-01 to 2019-04-30."},
		"what happened in April 2021?":       {[]string{"house.md"}, "No note is dated 2021-04-01 to 2021-04-30."},
		"what happened on May 3rd?":          {[]string{"house.md"}, "No note is dated 2026-05-03."},
	} {
		for _, s := range []*Searcher{New(newFakeStore(chunks...), nil, testOptions()), New(newFakeStore(chunks...), e, testOptions())} {
			a, err := s.Search(t.Context(), memory.Query{Text: query, Now: now})
			if err != nil || !slices.Equal(paths(answersOf(a)), want.found) {
				t.Errorf("%s: found %v, want %v; %v", query, paths(a), want.found, err)
			}
			if len(a.Degraded) != 1 || a.Degraded[0].Text != want.says || !a.Degraded[0].IsHint() {
				t.Errorf("%s: %+v, want %q", query, a.Degraded, want.says)
			}
		}
	}
}
