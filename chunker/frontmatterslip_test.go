package chunker_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
)

// Hazard K09: of front matter with one slip of YAML the other lines are read, and the slip has its line.
func TestSplitReadsFrontMatterWithASlip(t *testing.T) {
	t.Parallel()
	const rest = "tags: [kitchen, tea]\ndate: 2026-02-03\naliases:\n  - pot\n"
	cases := []struct {
		name, slip, title string
		line              string
		extra             []string
	}{
		{"a colon", "title: Review: the new kettle\n", "Review: the new kettle", "line 2: mapping values", nil},
		{"an open double quote", "title: \"The kettle\n", "The kettle", "line 2: ", nil},
		{"an open single quote", "title: 'The kettle\n", "The kettle", "line 2: ", nil},
		{"text behind a quote", "title: \"Tea\" and more\n", "\"Tea\" and more", "line 2: ", nil},
		{"an apostrophe in quotes", "title: 'Ida's kettle'\n", "Ida's kettle", "line 2: ", nil},
		{"a backslash", "title: \"C:\\dir\"\n", "C:\\dir", "line 2: found unknown escape", nil},
		{"an at sign", "title: @home\n", "@home", "line 2: found character", nil},
		{"a percent sign", "title: %done\n", "%done", "line 2: found character", nil},
		{"a backtick", "title: `go` tips\n", "`go` tips", "line 2: found character", nil},
		{"a star", "title: *bold* words\n", "*bold* words", "line 2: ", nil},
		{"an ampersand", "title: & more\n", "& more", "line 2: ", nil},
		{"a key twice", "title: One\ntitle: Two\n", "One", "line 3: the key \"title\"", nil},
		{"a key twice elsewhere", "title: One\nx: 1\nx: 2\n", "One", "line 4: the key \"x\"", nil},
		{"no space", "title:Kettle\n", "Kettle", "line 2: ", nil},
		{"an indented key", "title: Kettle\n status: open\n", "Kettle", "line 3: ", nil},
		{"a tab", "title: Kettle\n\tstatus: open\n", "Kettle", "line 3: found a tab", nil},
		{"items behind tabs", "title: Kettle\ntag:\n\t- pan\n\t- lid\n", "Kettle", "line 4: found character", []string{"pan", "lid"}},
		{"an open list", "title: Kettle\ntag: [pan, lid\n", "Kettle", "line 3: ", []string{"pan", "lid"}},
		{"an open list over lines", "title: Kettle\ntag: [pan,\n  lid\n", "Kettle", "line ", []string{"pan", "lid"}},
		{"tags with signs", "title: Kettle\ntag: [#pan, #lid]\n", "Kettle", "line 3: ", []string{"pan", "lid"}},
		{"an anchor", "title: Kettle\ntag: &t [pan, lid]\nmore: *t\n", "Kettle", "line 3: uses anchors", []string{"pan", "lid"}},
		{"a line of words", "title: Kettle\nand more words\n", "Kettle and more words", "line ", nil},
		{"links", "title: Kettle\nsee: [[A]], [[B]]\n", "Kettle", "line 3: ", nil},
	}
	c := newChunker(t, chunker.Options{})
	for _, tc := range cases {
		for _, order := range []string{"before", "after"} {
			t.Run(tc.name+" "+order, func(t *testing.T) {
				t.Parallel()
				block, line := tc.slip+rest, "front matter, "+tc.line
				if order == "after" {
					block, line = "x0: 1\n"+rest+tc.slip, "front matter, line "
				}
				meta := c.Split(chunker.Notes, []byte("---\n"+block+"---\nbody\n")).Meta
				tags := append([]string{"kitchen", "tea"}, tc.extra...)
				if order == "before" {
					tags = append(tc.extra[:len(tc.extra):len(tc.extra)], "kitchen", "tea")
				}
				got := chunker.Meta{Title: meta.Title, Tags: meta.Tags, Date: meta.Date, Aliases: meta.Aliases}
				if diff := cmp.Diff(chunker.Meta{Title: tc.title, Tags: tags, Date: "2026-02-03", Aliases: []string{"pot"}}, got); diff != "" {
					t.Error(diff)
				}
				if !strings.HasPrefix(meta.Slip, line) {
					t.Errorf("%q, want %q", meta.Slip, line)
				}
			})
		}
	}
}

// Hazard K09: text between two rules is no front matter.
func TestSplitLeavesTextBetweenRules(t *testing.T) {
	t.Parallel()
	for _, block := range []string{"# Tea: green\n", "The shop on the hill said: no: tea.\n", "- a: b: c\n", "Some words\nand: more: words\n", "\n"} {
		meta := newChunker(t, chunker.Options{}).Split(chunker.Notes, []byte("---\n"+block+"---\nbody\n")).Meta
		if diff := cmp.Diff(chunker.Meta{}, meta); diff != "" {
			t.Errorf("%q: %s", block, diff)
		}
	}
}
