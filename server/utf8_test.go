package server

import (
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"kioku/memory"
)

// Hazard D16: whatever bytes a note holds, the response can be sent, and what was valid stays as it was.
func TestMakeValidAcceptsAnyBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) })
		bad, terms := text.Draw(t, "bad"), rapid.SliceOf(text).Draw(t, "terms")
		resp := explainResponse(memory.Explanation{
			Answer: memory.Answer{
				Mode: bad, Degraded: []memory.Degradation{{Code: bad, Text: bad}},
				Hits: []memory.Hit{
					{Path: bad, Snippet: bad, Headings: bad, Date: bad, Source: bad, Trace: &memory.Trace{Terms: []memory.TermShare{{Term: bad}}}},
					{Path: "memory/良い.md", Snippet: "良い知らせ"},
				},
			},
			Outcome: bad, Text: bad, Terms: terms, Passage: &memory.Hit{Path: bad},
		})
		makeValid(resp)
		data, err := proto.Marshal(resp)
		if err != nil {
			t.Fatalf("marshal: %v", err)
		}
		if len(data) == 0 || resp.Answer.Results[1].Snippet != "良い知らせ" || len(resp.Terms) != len(terms) {
			t.Fatalf("response = %v", resp)
		}
		if utf8.ValidString(bad) && resp.Text != bad {
			t.Fatalf("%q became %q", bad, resp.Text)
		}
	})
}

func TestClipCutsBetweenRunes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		in   string
		n    int
		want string
	}{
		{"記憶", 6, "記憶"}, {"記憶", 5, "記..."}, {"記憶", 2, "..."}, {"abc", 2, "ab..."}, {"a\xff", 5, "a\uFFFD"}, {"", 0, ""},
		{strings.Repeat("\x80", 4), 2, "..."},
	}
	for _, c := range cases {
		if got := clip(c.in, c.n); got != c.want {
			t.Errorf("clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
