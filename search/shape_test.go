package search

import (
	"strings"
	"testing"

	"kioku/chunker"
	"kioku/memory"
)

// firstOf asks a query and returns its hits, of which there must be one.
func firstOf(t *testing.T, s *Searcher, query string) []memory.Hit {
	t.Helper()
	hits := ask(t, s, query).Hits
	if len(hits) == 0 {
		t.Fatalf("no hit for %q", query)
	}
	return hits
}

// Passages that are mostly links (an index page, a table of contents, "see also") do not outrank the note that they point to.
func TestLinkListDoesNotOutrankItsTarget(t *testing.T) {
	t.Parallel()
	note := Chunk{Path: "help/refund.md", Names: "refund", Text: "Open the app, choose the ride and tap on the receipt. You get your money back within five days, " +
		"onto the card that was charged. If the ride was never unlocked, nothing was charged at all."}
	lists := map[string]string{
		"index page":        "- [Get your money back](refund.md)\n- [Download an invoice](invoice.md)\n- [Pause a ride](pause.md)",
		"wiki links":        "- [[refund|Get your money back]] - within days\n- [[invoice]]\n- [[pause]]",
		"table of contents": "1. [Get your money back](#money)\n2. [Download an invoice](#invoice)\n3. [Pause a ride](#pause)",
		"table":             "| page | what |\n|---|---|\n| [[refund]] | Get your money back |\n| [[invoice]] | |\n| [[pause]] | |",
		"see also":          "See also [Get your money back](refund.md), [[invoice]], [[pause]].",
	}
	for name, text := range lists {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := Chunk{Path: "help/index.md", StartLine: 1, EndLine: 5, Text: text}
			s := vaultSearcher(list, note)
			if hits := firstOf(t, s, "get money back"); hits[0].Path != note.Path {
				t.Errorf("%s comes first", hits[0].Path)
			}
			// A list is found if nothing else answers.
			if hits := firstOf(t, vaultSearcher(list), "get money back"); hits[0].Path != list.Path {
				t.Errorf("%s, want the list", hits[0].Path)
			}
		})
	}
}

func TestLinkShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       float64
	}{
		{"prose with a link", "We walked from [[Kyoto]] to the lake and slept in a hut above the trees.\nIt rained.", 0},
		{"links to the web are content", "- [Rust book](https://doc.rust-lang.org)\n- [Go tour](https://go.dev/tour)", 0},
		{"code is no link", "```\n[[a]]\n[[b]]\n```", 0},
		{"half", "# Trips\n\n- [[Kyoto]]\nPack the blue bag.", 0.5},
		{"all", "- [[Kyoto]]\n- ![[Nara]]\n* [Lake](lake.md)", 1},
		{"nothing", "", 0},
		{"a URL in a sentence", "The tour is at https://go.dev/tour and takes an evening.", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := linkShare(chunker.Lines(c.text, "", true)); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// Front matter is no snippet unless the match is in it.
func TestFrontMatterIsNoSnippet(t *testing.T) {
	t.Parallel()
	note := Chunk{Path: "note.md", Names: "Boiler\n#house", StartLine: 1, EndLine: 8, Text: "---\ntitle: Boiler\ntags: [house]\nvendor: Viessmann\n---\n" +
		"Error 18 means that water is missing.\n\nThe valve is behind the panel."}
	for _, granularity := range []string{memory.GranularityPassage, memory.GranularityChunk} {
		for query, want := range map[string]struct {
			start int
			text  string
		}{
			"boiler":               {6, "Error 18"},
			"house":                {6, "Error 18"},
			"boiler error":         {6, "Error 18"},
			"valve behind a panel": {6, "The valve"},
			"Viessmann":            {2, "vendor: Viessmann"},
		} {
			t.Run(granularity+"/"+query, func(t *testing.T) {
				t.Parallel()
				a, err := vaultSearcher(note).Search(t.Context(), memory.Query{Text: query, Granularity: granularity})
				if err != nil || len(a.Hits) == 0 {
					t.Fatalf("%v, %v", a.Degraded, err)
				}
				if h := a.Hits[0]; h.SnippetStart != want.start || !strings.Contains(h.Snippet, want.text) {
					t.Errorf("line %d: %q, want line %d with %q", h.SnippetStart, h.Snippet, want.start, want.text)
				}
			})
		}
	}
}

// Front matter is no snippet of a question for days, nor of one whose match is a name of the file.
func TestFrontMatterIsNoSnippetOfAPeriod(t *testing.T) {
	t.Parallel()
	note := Chunk{Path: "help/返金.md", Names: "返金\n返金について", Date: "2025-04-28", StartLine: 1, EndLine: 6,
		Text: "---\ntitle: 返金について\nupdated: 2025-04-28\n---\n# 返金について\n乗車料金の払い戻しは十四日以内です。Invite up to 200 people."}
	for _, granularity := range []string{memory.GranularityPassage, memory.GranularityChunk} {
		for _, query := range []string{"what did I write in April 2025?", "返金の期限", "what happened on 2025-04-28"} {
			a, err := vaultSearcher(note).Search(t.Context(), memory.Query{Text: query, Granularity: granularity})
			if err != nil || len(a.Hits) == 0 {
				t.Fatalf("%s: %v, %v", query, a.Degraded, err)
			}
			for _, h := range a.Hits {
				if h.SnippetStart < 5 {
					t.Errorf("%s, %s: the snippet is front matter: %q", granularity, query, h.Snippet)
				}
			}
		}
	}
}
