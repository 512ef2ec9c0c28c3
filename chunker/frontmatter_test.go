package chunker_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
)

func TestSplitReturnsFrontMatterAsMeta(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, block string
		want        chunker.Meta
	}{
		{"all keys", "date: 2026-01-20\ntags: [garden, 庭]\nevergreen: true\nsupersedes: old.md\ntitle: x",
			chunker.Meta{Date: "2026-01-20", Tags: []string{"garden", "庭"}, Evergreen: true, Supersedes: []string{"old.md"}}},
		{"lists", "tags:\n- a\n- b c\nsupersedes:\n  - x.md\n  - y.md",
			chunker.Meta{Tags: []string{"a", "b c"}, Supersedes: []string{"x.md", "y.md"}}},
		{"commas", "tags: a, b,, c", chunker.Meta{Tags: []string{"a", "b", "c"}}},
		{"nulls", "tags:\ndate:\nsupersedes: ~\nevergreen:", chunker.Meta{}},
		{"yes", "evergreen: Yes", chunker.Meta{Evergreen: true}},
		{"no", "evergreen: no", chunker.Meta{}},
		{"a time of day", "date: 2026-01-20T09:15:00Z", chunker.Meta{Date: "2026-01-20"}},
		{"a quoted date", "date: '2026-01-20'", chunker.Meta{Date: "2026-01-20"}},
		{"no calendar day", "date: 2026-02-30", chunker.Meta{}},
		{"other shapes", "tags: {a: b}\ndate: [2026]\nevergreen: maybe", chunker.Meta{}},
		{"broken", "date: 2026-01-20\n: : [", chunker.Meta{}},
	}
	c := newChunker(t, chunker.Options{})
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			doc := c.Split(chunker.Notes, []byte("---\n"+tc.block+"\n---\nbody\n"))
			if diff := cmp.Diff(tc.want, doc.Meta); diff != "" {
				t.Error(diff)
			}
			if len(doc.Chunks) != 1 || doc.Chunks[0].StartLine != 1 {
				t.Errorf("chunks %s, want the block and the body in one", spans(doc.Chunks))
			}
		})
	}
}

func TestSplitTakesFrontMatterOnlyAtTheStart(t *testing.T) {
	t.Parallel()
	const block = "date: 2026-01-20\n"
	cases := map[string]string{
		"---\n" + block + "---\n":            "2026-01-20",
		"--- \r\n" + block + "...\n":         "2026-01-20",
		"\uFEFF---\n" + block + "---":        "2026-01-20",
		"\n---\n" + block + "---\n":          "",
		"---\n" + block:                      "",
		"----\n" + block + "---\n":           "",
		" ---\n" + block + "---\n":           "",
		"---\n" + block + "--- closed?\n":    "",
		"# Title\n\n---\n" + block + "---\n": "",
	}
	c := newChunker(t, chunker.Options{})
	for text, want := range cases {
		if got := c.Split(chunker.Notes, []byte(text)).Meta.Date; got != want {
			t.Errorf("date of %q is %q, want %q", text, got, want)
		}
	}
}
