package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseGolden(t *testing.T) {
	t.Parallel()
	got, err := ParseGolden([]byte(`
- question: Who has the key?
  path: ././memory//2026-02-03.md
  lines: 3-9
  now: 2026-02-10
- question: 鍵は?
  path: MEMORY.md
  lines: 4
  lang: ja
- {question: "where: here?", path: USER.md, category: code, now: 2026-02-10T08:00:00Z}
- question: How tall is it?
  none: true
  category: far away
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Question{
		{Line: 2, Query: "Who has the key?", Relevant: []Range{{"memory/2026-02-03.md", 3, 9}}, Now: "2026-02-10",
			Asked: time.Date(2026, 2, 10, 12, 0, 0, 0, time.UTC)},
		{Line: 6, Query: "鍵は?", Relevant: []Range{{"MEMORY.md", 4, 4}}, Lang: "ja"},
		{Line: 10, Query: "where: here?", Relevant: []Range{{Path: "USER.md"}}, Category: "code", Now: "2026-02-10T08:00:00Z",
			Asked: time.Date(2026, 2, 10, 8, 0, 0, 0, time.UTC)},
		{Line: 11, Query: "How tall is it?", Category: "far away"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseGoldenRefusesABadFileWithTheLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "1: the file holds no question",
		"[]":                       "1: the file holds no question",
		"question: q":              "1: not a list",
		"- question: q\n  path: [": "did not find",
		"- q":                      "1: not a question",
		"\n- path: a.md":           `2: a question needs "question" and "path", or "none: true"`,
		"- question: q\n  path: a.md\n  none: true":                         `1: a question needs "question" and "path", or`,
		"- question: q\n  none: true\n  lines: 3":                           "1: a question that no note answers has no lines",
		"- question: q\n  none: false":                                      `2: none is "false"; write "none: true"`,
		"- question: q\n  answer: 3":                                        `2: "answer" means nothing here`,
		"- question: q\n  question: q":                                      "2: question stands twice",
		"- question: q\n  path:\n    - a.md":                                "3: path is no text",
		"- question: q\n  path: /etc/hosts":                                 "2: path \"/etc/hosts\" is not within",
		"- question: q\n  path: .":                                          `2: path "." is not within`,
		"- question: \" \"\n  path: a.md":                                   `1: a question needs a "question"; it is missing or blank`,
		"- path: a.md\n  question: " + strings.Repeat("q", 4097):            `2: the "question" has 4097 bytes`,
		"- question: q\n  path: a.md\n---\n- question: r\n  path: a.md\n":   "3: a second document begins",
		"# c\n---\n- question: q\n  path: a.md\n--- # x\n\n- question: r\n": "5: a second document begins",
		"- question: q\n  path: a.md\n---\n":                                "3: a second document begins",
		"- question: q\n  path: a.md\n---\n- [":                             "did not find",
		"- question: q\n  path: a.md\n  lines: 9-3":                         `3: lines is "9-3"`,
		"- question: q\n  path: a.md\n  lines: some":                        `3: lines is "some"`,
		"- question: q\n  path: a.md\n  now: yesterday":                     `3: now is "yesterday"`,
		"- question: q\n  path: a.md\n- question: only\n":                   `3: a question needs`,
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := ParseGolden([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: got %v", text, err)
			}
		})
	}
}

func TestQuestionAnswerRanksByPathAndLines(t *testing.T) {
	t.Parallel()
	results := []Result{{Range: Range{"b.md", 1, 9}}, at(1, 4, 1), at(20, 24, 1)}
	for _, tc := range []struct {
		place    Range
		expected string
		rank     int
	}{
		{Range{Path: "a.md"}, "a.md", 2},
		{Range{"a.md", 21, 22}, "a.md#L21-L22", 3},
		{Range{"a.md", 50, 51}, "a.md#L50-L51", 0},
		{Range{Path: "c.md"}, "c.md", 0},
	} {
		t.Run(tc.expected, func(t *testing.T) {
			want := GoldenAnswer{Question: "q", Expected: tc.expected, Rank: tc.rank, Passed: tc.rank > 0, First: "b.md#L1-L9"}
			q := Question{Query: "q", Relevant: []Range{tc.place}}
			if diff := cmp.Diff(want, q.Answer(results, want.First)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGoldenReportCountsOffTopicQuestionsApart(t *testing.T) {
	t.Parallel()
	results := []Result{at(1, 4, 1), at(20, 24, 1)}
	ask := func(category, lang string, place ...Range) Question {
		return Question{Query: "q", Category: category, Lang: lang, Relevant: place}
	}
	answers := []GoldenAnswer{
		ask("name", "en", Range{"a.md", 21, 22}).Answer(results, "a.md#L1-L4"),
		ask("name", "en", Range{Path: "a.md"}).Answer(results, "a.md#L1-L4"),
		ask("", "de", Range{Path: "b.md"}).Answer(results, "a.md#L1-L4"),
		ask("", "de").Answer(results, "a.md#L1-L4"),
		ask("", "de").Answer(nil, ""),
		ask("", "de").Answer([]Result{{Range: Range{Path: "a.md"}, Weak: true}}, "a.md"),
	}
	got := NewGoldenReport(answers)
	want := GoldenReport{Recall: 2.0 / 3, MRR: 0.5, Passed: 2, Total: 3, Silent: 2, OffTopic: 3, Questions: answers}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	groups := []GoldenGroup{{Name: "other", Total: 1}, {Name: "name", First: 1, Passed: 2, Total: 2, MRR: 0.75}}
	if diff := cmp.Diff(groups, got.ByCategory()); diff != "" {
		t.Error(diff)
	}
	if text := got.ByLanguage(); text != "; de 0 of 1; en 2 of 2" {
		t.Errorf("by language: %q", text)
	}
	if none := NewGoldenReport(answers[3:]); none.Recall != 1 || none.MRR != 1 || none.ByCategory() != nil {
		t.Errorf("without a question that has an answer: %+v", none)
	}
}

func FuzzParseGolden(f *testing.F) {
	f.Add([]byte("- question: q\n  path: a.md\n  lines: 3-9\n"))
	f.Add([]byte("- &a {question: q, path: a.md}\n- *a\n"))
	f.Add([]byte("- question: q\n  <<: {path: a}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		questions, err := ParseGolden(text)
		if err != nil {
			return
		}
		for _, q := range questions {
			if strings.TrimSpace(q.Query) == "" {
				t.Errorf("%+v", q)
			}
			for _, r := range q.Relevant {
				if r.Path == "" || r.Start < 0 || r.End < r.Start {
					t.Errorf("%+v", q)
				}
			}
		}
	})
}
