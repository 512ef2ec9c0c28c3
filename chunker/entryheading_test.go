package chunker_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
)

// Hazard K16: an entry ends where the next one begins, whatever its text leaves open.
func TestLinesEndAnEntryBeforeTheNext(t *testing.T) {
	t.Parallel()
	const day = "# Tuesday\n\n## 10:00 - fact\n\n"
	const next = "\n\n## 10:05 - note\n\nThe milkman.\n\n## Milk\n\n### Cold\n\nThe fridge.\n\n## 11:00 - fact\n\nThe key.\n"
	for name, open := range map[string]string{
		"nothing":         "Text.",
		"a heading":       "# Zanzibar plan\n\nBook flights.",
		"headings":        "### Zanzibar\n\n# Plan\n\n## Flights\n\nBook.",
		"a setext line":   "Zanzibar plan\n===\n\nBook flights\n---",
		"a rule":          "Text.\n\n---\ntitle: x",
		"a fence":         "```go\nfunc main() {",
		"a fence in text": "Text.\n\n~~~\n# Zanzibar plan",
		"a fence again":   "```\na\n```\n\n````\n```\n# Zanzibar\n```",
		"a table":         "| a | b |\n|---|---|",
		"a comment":       "Text.\n\n<!-- open",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			above, got := chunker.Trail{}, map[string]string{}
			for _, line := range chunker.Lines(day+open+next, "", true) {
				if line.Level > 0 {
					above.Enter(line.Level, line.Title())
				} else if line.Fence == "" {
					got[strings.TrimSpace(line.Text)] = above.String()
				}
				again := chunker.ParseTrail(above.String())
				if again.String() != above.String() {
					t.Fatalf("%q is read as %q", above.String(), again.String())
				}
			}
			want := map[string]string{"The milkman.": "# Tuesday > ## 10:05 - note", "The fridge.": "# Tuesday > ## 10:05 - note > ## Milk > ### Cold",
				"The key.": "# Tuesday > ## 11:00 - fact"}
			for text := range got {
				if want[text] == "" {
					delete(got, text)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Hazard K16: the heading of an entry that a fence shows is code.
func TestLinesKeepEntriesThatAFenceShows(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"```\n## 10:00 - fact\n\na\n\n## 10:05 - fact\n```\n\nb\n": 0, "## 10:00 - fact\n\n```\n## 10:05 - fact\n```\n\nb\n": 1} {
		entries := 0
		for _, line := range chunker.Lines(text, "", true) {
			if line.IsEntry() {
				entries++
			}
		}
		if entries != want {
			t.Errorf("%q has %d entries, want %d", text, entries, want)
		}
	}
}

// Hazard K16: a heading within an entry is not the title of the file.
func TestSplitTakesNoTitleFromAnEntry(t *testing.T) {
	t.Parallel()
	c := newChunker(t, chunker.Options{})
	for text, want := range map[string]string{
		"## 10:00 - fact\n\n# Zanzibar plan\n":            "",
		"# Tuesday\n\n## 10:00 - fact\n\n# Zanzibar\n":    "Tuesday",
		"x\n\n# Tuesday\n\n## 10:00 - fact\n\n# Zanzibar": "Tuesday",
	} {
		if got := c.Split(chunker.Notes, []byte(text)).Heading; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
