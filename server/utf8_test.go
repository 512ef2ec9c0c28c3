package server

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// Hazard D16: whatever bytes a note holds, the response can be sent, and what was valid stays as it was.
func TestMakeValidAcceptsAnyBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) })
		bad := text.Draw(t, "bad")
		resp := &kiokuv1.MemorySearchResponse{}
		fillMessage(resp.ProtoReflect(), reflect.ValueOf(memory.Answer{
			Mode: bad, Degraded: []memory.Degradation{{Code: bad, Text: bad}},
			Hits: []memory.Hit{
				{Path: bad, Snippet: bad, Headings: bad, Date: bad, Source: bad, Trace: &memory.Trace{Terms: []memory.TermShare{{Term: bad}}}},
				{Path: "memory/良い.md", Snippet: "良い知らせ"},
			},
		}))
		makeValid(resp)
		data, err := proto.Marshal(resp)
		if err != nil {
			t.Fatalf("marshal: %v", err)
		}
		if len(data) == 0 || resp.Results[1].Snippet != "良い知らせ" || utf8.ValidString(bad) && resp.Mode != bad {
			t.Fatalf("response = %v", resp)
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
