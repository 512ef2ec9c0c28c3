package indexer_test

import (
	"crypto/sha256"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"kioku/chunker"
	"kioku/indexer"
)

// described is what the index is told of a file beside its chunks.
type described struct {
	Title, Names, Folders, Date string
	Tags                        []string
	Links                       []chunker.Link
}

// describe indexes files with the real chunker and returns what the index is told of the file at a path.
func describe(t *testing.T, path, text string) (described, indexer.File) {
	t.Helper()
	f := setup(t, func(opt *indexer.Options) { opt.ExtraPaths = []string{"."} })
	split, err := chunker.New(chunker.Options{})
	f.must(err)
	x := indexer.New(split, f.index, indexer.Options{Workspace: f.dir, Settings: indexer.Settings{ExtraPaths: []string{"."}}, Now: f.now})
	f.write(path, text)
	_, err = x.Sync(t.Context(), indexer.SyncOptions{}, nil)
	f.must(err)
	got, ok := f.index.files[path]
	if !ok {
		t.Fatalf("%s is not indexed", path)
	}
	return described{got.Title, got.Names, got.Folders, got.Date, got.Tags, got.Links}, got
}

// File name (words of `Fushimi Inari.md`, `git_amend-author.md`), folder names, front matter `title`, `aliases` and `tags` are
// fields of every chunk of the file.
func TestSyncNamesEachFile(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, path, text string
		want             described
	}{
		{"words of a name with spaces", "Travel Plans/Fushimi Inari.md", "Red gates.",
			described{Title: "Fushimi Inari", Names: "Fushimi Inari", Folders: "Travel Plans"}},
		{"words of a name without spaces", "dev/til/git_amend-author.md", "Use --reset-author.",
			described{Title: "git amend author", Names: "git amend author", Folders: "dev\ntil"}},
		{"a hyphen in a name with spaces", "e-mail rules.md", "x", described{Title: "e-mail rules", Names: "e-mail rules"}},
		{"front matter", "memory/acme.md", "---\ntitle: The Acme Deal\naliases: [ACME Inc, acme]\ntags: [client/eu, '#big']\ncreated: 2026-01-20\n---\n# Notes\n\n#later",
			described{Title: "The Acme Deal", Names: "acme\nThe Acme Deal\nACME Inc\n#client/eu\n#big", Date: "2026-01-20", Tags: []string{"client/eu", "big", "later"}}},
		{"the heading", "memory/x1.md", "# Sump pump\n\nIt leaks.", described{Title: "Sump pump", Names: "x1\nSump pump"}},
		{"the heading without markup", "x.md", "# ![logo](l.png) [Gin](https://gin.dev) **`Web`** <a name=\"f\">Frame</a> [[Note|work]] [ref][r] Vec<T> {#top}",
			described{Title: "Gin Web Frame work ref Vec<T>", Names: "x\nGin Web Frame work ref Vec<T>",
				Links: []chunker.Link{{Line: 1, Text: "work", Target: "Note", Kind: chunker.WikiLink}}}},
		{"a daily note", "memory/2026-01-20.md", "# Tuesday, tea #daily\n", described{Title: "Tuesday, tea #daily", Date: "2026-01-20", Tags: []string{"daily"}}},
		{"a daily note named by its heading", "memory/2026-01-20-2.md", "# 2026-01-20\n", described{Date: "2026-01-20"}},
		{"a daily note with front matter", "journal/2026_01_20.md", "---\ntags: trip\n---\nx",
			described{Names: "#trip", Folders: "journal", Date: "2026-01-20", Tags: []string{"trip"}}},
		{"a day and words", "memory/20260120-standup-kyoto.md", "x", described{Title: "standup kyoto", Names: "standup kyoto", Date: "2026-01-20"}},
		{"a day within the name", "Minutes 2026-01-20 (board).md", "x", described{Title: "Minutes (board)", Names: "Minutes (board)", Date: "2026-01-20"}},
		{"front matter before the name", "2026-01-20 x.md", "---\ndate: 2025-12-31\n---\n", described{Title: "x", Names: "x", Date: "2025-12-31"}},
		{"an index", "docs/install/index.md", "# Installing\n", described{Title: "Installing", Names: "install\nInstalling", Folders: "docs\ninstall"}},
		{"an index without a heading", "docs/install/README.md", "x", described{Title: "install", Names: "install", Folders: "docs\ninstall"}},
		{"curated files", "MEMORY.md", "# Memory\n\n- tea #drinks", described{Title: "Memory", Tags: []string{"drinks"}}},
		{"a name of macOS", norm.NFD.String("Überblick für Köche.md"), "x", described{Title: "Überblick für Köche", Names: "Überblick für Köche"}},
		{"links", "a/b.md", "[[Note]] [x](../c%20d.md) [y](/e.md) [z](f.md) ![[./G]]", described{Title: "b", Names: "b", Folders: "a", Links: []chunker.Link{
			{Line: 1, Text: "Note", Target: "Note", Kind: chunker.WikiLink}, {Line: 1, Text: "x", Target: "c d.md", Kind: chunker.PathLink},
			{Line: 1, Text: "y", Target: "/e.md", Kind: chunker.PathLink}, {Line: 1, Text: "z", Target: "a/f.md", Kind: chunker.PathLink},
			{Line: 1, Text: "./G", Target: "a/G", Kind: chunker.EmbedLink}}}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, file := describe(t, tc.path, tc.text)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, c := range file.Chunks {
				if c.Hash != sha256.Sum256([]byte(indexer.EmbeddedText(tc.want.Names, c.Text))) {
					t.Errorf("the hash of %q is not that of what is embedded", c.Text)
				}
			}
		})
	}
}

// Hazard K15: templates are no answers, and the index says why; a note in a folder for templates without placeholders is one.
func TestSyncLeavesOutTemplates(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		path, text string
		template   bool
	}{
		{"Templates/Meeting.md", "# {{title}}\n\nWhat do we want to decide today?\n", true},
		{"vault/99 - Templates/x.md", "Today is <% tp.date.now() %> and all is well.\n", true},
		{"Meeting.md", "# {{title}}\n\nDate: {{date}}\n", true},
		{"Templates/How to.md", "Write `{{date}}` where the day belongs.\n", false},
		{"How to.md", "Write {{date}} where the day belongs.\n", false},
		{"contemplates/x.md", "Write {{date}} where the day belongs.\n", false},
	} {
		t.Run(tc.path, func(t *testing.T) {
			t.Parallel()
			_, file := describe(t, tc.path, tc.text)
			if (len(file.Chunks) == 0) != tc.template || (file.Remark != "") != tc.template || file.Skipped != "" {
				t.Errorf("%d chunks, %q", len(file.Chunks), file.Remark)
			}
		})
	}
}

// What is embedded has the names of the file before the text; of a file without names it is only the text, as ever.
func TestEmbeddedText(t *testing.T) {
	t.Parallel()
	if got := indexer.EmbeddedText("", "tea"); got != "tea" {
		t.Errorf("%q", got)
	}
	if got := indexer.EmbeddedText("Fushimi Inari\n#kyoto", "Red gates."); got != "Fushimi Inari, #kyoto\n\nRed gates." {
		t.Errorf("%q", got)
	}
}

func TestNamesKeepToTheirLimit(t *testing.T) {
	t.Parallel()
	aliases := "aliases:\n" + strings.Repeat("- "+strings.Repeat("ö", 100)+"\n", 2) + "- " + strings.Repeat("x", 250) + "\n"
	for i := range 20 {
		aliases += "- " + strings.Repeat(string(rune('a'+i)), 200) + "\n"
	}
	got, _ := describe(t, "long.md", "---\ntitle: t\n"+aliases+"---\nx")
	if len(got.Names) > 1<<10 || !strings.HasPrefix(got.Names, "long\nt\n") || strings.Count(got.Names, "ö") != 100 {
		t.Errorf("%d bytes: %.40q...", len(got.Names), got.Names)
	}
}

// Any file name gives a name of one line in NFC, and a name that is only a day gives none.
func TestNameOf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := indexer.NameOf("a/" + rapid.String().Draw(t, "name") + ".md")
		if strings.ContainsAny(name, "\n_") || name != strings.TrimSpace(name) || !utf8.ValidString(name) || !norm.NFC.IsNormalString(name) {
			t.Fatalf("%q", name)
		}
		only := rapid.StringMatching(`[-_ .]{0,2}2026-01-20[-_ .]{0,2}[0-9]?`).Draw(t, "a day")
		if day := indexer.DateOf(only); indexer.NameOf(only+".md") != "" && day != "" {
			t.Fatalf("the name of %q is %q", only, indexer.NameOf(only+".md"))
		}
	})
}
