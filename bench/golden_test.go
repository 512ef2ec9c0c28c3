package bench

import (
	"strings"
	"testing"

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
- {question: "where: here?", path: USER.md, now: 2026-02-10T08:00:00Z}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Case{
		{Line: 2, Question: "Who has the key?", Path: "memory/2026-02-03.md", Start: 3, End: 9, Now: "2026-02-10"},
		{Line: 6, Question: "鍵は?", Path: "MEMORY.md", Start: 4, End: 4, Lang: "ja"},
		{Line: 10, Question: "where: here?", Path: "USER.md", Now: "2026-02-10T08:00:00Z"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseGoldenRefusesABadFileWithTheLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "1: the file holds no question",
		"[]":                                 "1: the file holds no question",
		"question: q":                        "1: not a list",
		"- question: q\n  path: [":           "did not find",
		"- q":                                "1: not a question",
		"\n- path: a.md":                     `2: a question needs "question" and "path"`,
		"- question: q\n  answer: 3":         `2: "answer" means nothing here`,
		"- question: q\n  question: q":       "2: question stands twice",
		"- question: q\n  path:\n    - a.md": "3: path is no text",
		"- question: q\n  path: /etc/hosts":  "2: path \"/etc/hosts\" is not within",
		"- question: q\n  path: .":           `2: path "." is not within`,
		"- question: \" \"\n  path: a.md":    `1: a question needs a "question"; it is missing or blank`,
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

func TestCaseRankComparesPathAndLines(t *testing.T) {
	t.Parallel()
	results := []Range{{"b.md", 1, 9}, {"a.md", 1, 4}, {"a.md", 20, 24}}
	for _, tc := range []struct {
		c    Case
		want int
	}{
		{Case{Path: "a.md"}, 2},
		{Case{Path: "a.md", Start: 21, End: 22}, 3},
		{Case{Path: "a.md", Start: 50, End: 51}, 0},
		{Case{Path: "c.md"}, 0},
	} {
		if got := tc.c.Rank(results); got != tc.want {
			t.Errorf("%+v: rank %d", tc.c, got)
		}
	}
}

func FuzzParseGolden(f *testing.F) {
	f.Add([]byte("- question: q\n  path: a.md\n  lines: 3-9\n"))
	f.Add([]byte("- &a {question: q, path: a.md}\n- *a\n"))
	f.Add([]byte("- question: q\n  <<: {path: a}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		cases, err := ParseGolden(text)
		if err != nil {
			return
		}
		for _, c := range cases {
			if strings.TrimSpace(c.Question) == "" || c.Path == "" || c.Start < 0 || c.End < c.Start {
				t.Errorf("%+v", c)
			}
		}
	})
}
