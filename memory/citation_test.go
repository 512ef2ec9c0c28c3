package memory_test

import (
	"errors"
	"testing"

	"kioku/memory"
)

// Hazard K06: every form in which a citation is printed, pasted or written by a model names the same lines.
func TestReadingsOfCitations(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]memory.GetRequest{
		"a.md": {Path: "a.md"}, "a.md:7": {Path: "a.md", From: 7}, "a.md:7:3": {Path: "a.md", From: 7, Lines: 3}, "a.md#L3": {Path: "a.md", From: 3},
		"a.md#L3-L9": {Path: "a.md", From: 3, Lines: 7}, "a.md#L9-L3": {Path: "a.md", From: 9, Lines: 1}, "a.md#L5-9": {Path: "a.md", From: 5, Lines: 5},
		"a.md:3-5": {Path: "a.md", From: 3, Lines: 3}, "a.md:3–5": {Path: "a.md", From: 3, Lines: 3}, "a.md:L3-L5": {Path: "a.md", From: 3, Lines: 3},
		"a.md#L3C1-L5C2": {Path: "a.md", From: 3, Lines: 3}, "a.md (lines 3-5)": {Path: "a.md", From: 3, Lines: 3}, "a.md, lines 3 to 5": {Path: "a.md", From: 3, Lines: 3},
		"a.md, line 3": {Path: "a.md", From: 3}, "a.md L3-L5": {Path: "a.md", From: 3, Lines: 3}, "a.md: lines 3-5": {Path: "a.md", From: 3, Lines: 3},
		"./a.md": {Path: "a.md"}, `memory\a.md:3`: {Path: "memory/a.md", From: 3}, "/w/a.md:3": {Path: "/w/a.md", From: 3}, "memory//a.md": {Path: "memory/a.md"}, "x/../a.md": {Path: "x/../a.md"},
		"file:///w/my%20a.md#L3": {Path: "/w/my a.md", From: 3}, "kioku:///memory/a.md": {Path: "memory/a.md"}, "my%20a.md:3": {Path: "my a.md", From: 3},
		`"a.md:3"`: {Path: "a.md", From: 3}, "`a.md`:3": {Path: "a.md", From: 3}, "<a.md#L3>": {Path: "a.md", From: 3}, "[a.md:3-5]": {Path: "a.md", From: 3, Lines: 3},
		"(a.md:3-5).": {Path: "a.md", From: 3, Lines: 3}, "“a.md”, lines 3–5": {Path: "a.md", From: 3, Lines: 3}, "**a.md:3**": {Path: "a.md", From: 3},
		"[[a]]": {Path: "a"}, "[[a|the note]]": {Path: "a"}, "[[a#Part]]": {Path: "a"}, "[[a.md#L3]]": {Path: "a.md", From: 3}, "[x](a.md#L3)": {Path: "a.md", From: 3},
		"a.md:3-5 of 20": {Path: "a.md", From: 3, Lines: 3}, "## a.md:3-5 (score 0.52, 2026-01-20) # Pumps": {Path: "a.md", From: 3, Lines: 3}, "@a.md:3": {Path: "a.md", From: 3},
		"a:b.md": {Path: "a:b.md"}, "a:b.md:4": {Path: "a:b.md", From: 4}, "a:": {Path: "a:"}, "a.md:b.md:2": {Path: "a.md:b.md", From: 2}, "x:1.md": {Path: "x:1.md"},
		":3": {Path: ":3"}, "12:34:5:6": {Path: "12:34", From: 5, Lines: 6},
	} {
		t.Run(in, func(t *testing.T) {
			t.Parallel()
			got, err := memory.Readings(in)
			if err != nil || got[0] != (memory.GetRequest{Path: in}) || got[len(got)-1] != want {
				t.Errorf("got %+v, %v; want %+v at the end", got, err, want)
			}
		})
	}
	for _, in := range []string{"MEMORY.md:abc", "MEMORY.md:-1", "a.md:", "a.md:x:2", "a.jsonl#3", "A.MD#L", "a.md:0", "a.md:1:0", "a.md#L0", "a.md:99999999999"} {
		var input *memory.InputError
		if _, err := memory.Readings(in); !errors.As(err, &input) {
			t.Errorf("%s: got %v", in, err)
		}
	}
}
