package chunker_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
)

// Hazard K15: links of properties are links of the note.
func TestSplitReadsLinksOfProperties(t *testing.T) {
	t.Parallel()
	link := func(line int, target, text string) chunker.Link {
		return chunker.Link{Line: line, Target: target, Text: text, Kind: chunker.WikiLink}
	}
	cases := []struct {
		block string
		want  []chunker.Link
	}{
		{"up: \"[[Acme]]\"", []chunker.Link{link(2, "Acme", "Acme")}},
		{"up: [[Acme]]", []chunker.Link{link(2, "Acme", "Acme")}},
		{"up: '[[Acme|the client]]'", []chunker.Link{link(2, "Acme", "the client")}},
		{"x: 1\nrelated:\n  - \"[[A]]\"\n  - '[[b/B#c]]'", []chunker.Link{link(4, "A", "A"), link(5, "b/B", "b/B#c")}},
		{"related: [\"[[A]]\", [[B]]]", []chunker.Link{link(2, "A", "A"), link(2, "B", "B")}},
		{"related: [[A]], [[B]]", []chunker.Link{link(2, "A", "A"), link(2, "B", "B")}},
		{"source: \"[the paper](papers/a.md)\"", []chunker.Link{{Line: 2, Target: "papers/a.md", Text: "the paper", Kind: chunker.PathLink}}},
		{"matrix: [[1, 2], [3, 4]]\n# a #tag", nil},
	}
	for _, tc := range cases {
		t.Run(tc.block, func(t *testing.T) {
			t.Parallel()
			doc := newChunker(t, chunker.Options{}).Split(chunker.Notes, []byte("---\n"+tc.block+"\n---\nbody [[Z]]\n"))
			want := append(tc.want[:len(tc.want):len(tc.want)], link(3+strings.Count("\n"+tc.block, "\n"), "Z", "Z"))
			if diff := cmp.Diff(want, doc.Links); diff != "" || doc.Tags != nil {
				t.Errorf("tags %q, links %s", doc.Tags, diff)
			}
		})
	}
}

// Hazard K15: a template is what has placeholders and no other text; a note about templates is none.
func TestSplitKnowsTemplates(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		some, only bool
	}{
		{"a template", "---\ncreated: {{date}}\ntags: [meeting]\n---\n# {{title}}\n\nDate: {{date:YYYY-MM-DD}} {{time}}\n\n## Agenda\n\n- \n- [ ] \n\n**Attendees:**\n", true, true},
		{"only in the properties", "---\ncreated: \"{{date}}\"\n---\n## Notes\n", true, true},
		{"Templater", "<%* const t = tp.file.title\n%>\n# <% tp.file.title %>\n\n<% tp.file.cursor() %>\n", true, false},
		{"Templater in lines", "# <% tp.file.title %>\n\nCreated: <% tp.date.now() %>\n", true, true},
		{"with a text", "# {{title}}\n\nDate: {{date}}\n\nWe met at the mill and talked about the weir.\n", true, false},
		{"with an item", "# {{title}}\n\n- bring the lens\n", true, false},
		{"prose", "Use {{date}} for the day of a new note, and {{title}} for its name.\n", true, false},
		{"a list about them", "These work in my notes:\n\n- {{date}}: the day\n- {{title}}: the name\n", true, false},
		{"in a fence", "# Daily template\n\n```\n# {{title}}\n{{date}}\n```\n", false, false},
		{"in code spans", "Write `{{date}}` or ``<% tp.date.now() %>`` there.\n", false, false},
		{"an entry", "## 10:00 - fact\n\n{{date}}\n", true, false},
		{"flash cards", "{{c1::Kyoto}}\n", false, false},
		{"a formula", "$\\frac{{a}}{{b}}$\n", false, false},
		{"headings", "# Plan\n\n## Agenda\n", false, false},
		{"nothing", "", false, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			doc := newChunker(t, chunker.Options{}).Split(chunker.Notes, []byte(tc.text))
			if doc.Placeholders != tc.some || doc.OnlyPlaceholders != tc.only {
				t.Errorf("%v, %v; want %v, %v", doc.Placeholders, doc.OnlyPlaceholders, tc.some, tc.only)
			}
		})
	}
}

// Hazard K15: drawings and views are data of programs; the words of a drawing are text.
func TestSplitLeavesOutDrawingsAndViews(t *testing.T) {
	t.Parallel()
	const drawing = "---\n\nexcalidraw-plugin: parsed\ntags: [excalidraw]\n\n---\n==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠==\n\n\n" +
		"# Excalidraw Data\n\n## Text Elements\nThe heron stands in the race ^Xa1\n\n%%\n## Drawing\n```compressed-json\nN4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQ\n```\n%%\n"
	cases := []struct {
		name, text, with, without string
		heading                   string
	}{
		{"a drawing", drawing, "The heron stands in the race", "N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQ|EXCALIDRAW VIEW|%%|Excalidraw Data", "## Text Elements"},
		{"a drawing in JSON", strings.ReplaceAll(drawing, "compressed-json", "json"), "The heron", "N4KAk", "## Text Elements"},
		{"a base in a note", "# Herons\n\nCounted in spring.\n\n```base\nfilters:\n  - race == mill\n```\n\n![[Herons.base]]\n![[Herons.base#By place]]\n\nAt the weir.\n", "At the weir.", "filters|race ==|.base", "# Herons"},
		{"a note about bases", "# Bases\n\nEmbed one with ![[x.base]] in a line. `base` blocks:\n\n```yaml\nfilters: x\n```\n", "x.base", "none such", "# Bases"},
		{"an open fence", "# Bases\n\n```base\nThe weir.\n", "The weir.", "none such", "# Bases"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			doc := newChunker(t, chunker.Options{}).Split(chunker.Notes, []byte(tc.text))
			if len(doc.Chunks) != 1 || doc.Lines != strings.Count(tc.text, "\n") {
				t.Fatalf("%d chunks, %d lines", len(doc.Chunks), doc.Lines)
			}
			got := doc.Chunks[0].Text
			if !strings.Contains(got, tc.with) {
				t.Errorf("%q lacks %q", got, tc.with)
			}
			for without := range strings.SplitSeq(tc.without, "|") {
				if strings.Contains(got, without) {
					t.Errorf("%q has %q", got, without)
				}
			}
			if doc.Chunks[0].Headings != tc.heading {
				t.Errorf("headings %q", doc.Chunks[0].Headings)
			}
			line := 1 + strings.Count(tc.text[:strings.Index(tc.text, tc.with)], "\n")
			if at := doc.Chunks[0].StartLine + strings.Count(got[:strings.Index(got, tc.with)], "\n"); at != line {
				t.Errorf("the text is in line %d, want %d", at, line)
			}
		})
	}
}
