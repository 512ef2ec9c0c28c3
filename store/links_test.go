package store

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
	"kioku/memory"
)

// linkFile returns a file with links.
func linkFile(path, title string, aliases []string, links ...chunker.Link) note {
	f := testFile(path, nil, "text of "+path)
	f.Title, f.Meta.Aliases, f.Links = title, aliases, links
	return f
}

func wikiLink(line int, target string) chunker.Link {
	return chunker.Link{Line: line, Text: target, Target: target, Kind: chunker.WikiLink}
}

func pathLink(line int, target string) chunker.Link {
	return chunker.Link{Line: line, Text: target, Target: target, Kind: chunker.PathLink}
}

// Targets are found by path, path without .md, the end of the path, title and alias; of several files the nearest one.
func TestLinksResolve(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s,
		linkFile("travel/Fushimi Inari.md", "Fushimi Inari Taisha", []string{"伏見稲荷", "A/B test"}),
		linkFile("a/plan.md", "", nil), linkFile("b/plan.md", "", nil), linkFile("long/way/plan.md", "", nil),
		linkFile("docs/install/index.md", "Installing", nil), linkFile("Straße.md", "plan", nil),
		linkFile("Cafe\u0301.md", "", nil), linkFile("root note.md", "", nil),
	)
	cases := []struct {
		from string
		link chunker.Link
		want string
	}{
		{"x.md", wikiLink(1, "Fushimi Inari"), "travel/Fushimi Inari.md"},
		{"x.md", wikiLink(1, "fushimi inari.md"), "travel/Fushimi Inari.md"},
		{"x.md", wikiLink(1, "travel/Fushimi Inari"), "travel/Fushimi Inari.md"},
		{"x.md", wikiLink(1, "avel/Fushimi Inari"), ""},
		{"x.md", wikiLink(1, "Fushimi Inari Taisha"), "travel/Fushimi Inari.md"},
		{"x.md", wikiLink(1, "伏見稲荷"), "travel/Fushimi Inari.md"},
		{"x.md", wikiLink(1, "A/B test"), "travel/Fushimi Inari.md"},
		{"x.md", wikiLink(1, "B test"), ""},
		{"b/x.md", wikiLink(1, "plan"), "b/plan.md"},
		{"x.md", wikiLink(1, "plan"), "a/plan.md"},
		{"x.md", wikiLink(1, "way/plan"), "long/way/plan.md"},
		{"x.md", wikiLink(1, "install"), "docs/install/index.md"},
		{"x.md", wikiLink(1, "STRASSE"), ""},
		{"x.md", wikiLink(1, "straße"), "Straße.md"},
		{"x.md", wikiLink(1, "Café"), "Cafe\u0301.md"},
		{"x.md", wikiLink(1, "nothing"), ""},
		{"x.md", pathLink(1, "a/plan.md"), "a/plan.md"},
		{"x.md", pathLink(1, "a/plan"), "a/plan.md"},
		{"x.md", pathLink(1, "c/plan.md"), ""},
		{"x.md", pathLink(1, "plan.md"), "a/plan.md"},
		{"c/x.md", pathLink(1, "c/plan.md"), "a/plan.md"},
		{"x.md", pathLink(1, "docs/install"), "docs/install/index.md"},
		{"x.md", pathLink(1, "/way/plan"), "long/way/plan.md"},
		{"x.md", pathLink(1, "Installing"), ""},
		{"x.md", pathLink(1, "../../etc/passwd"), ""},
		{"c/x.md", pathLink(1, "c/root note.md"), "root note.md"},
	}
	for i, tc := range cases {
		t.Run(fmt.Sprint(tc.from, tc.link.Target), func(t *testing.T) {
			from := linkFile(fmt.Sprintf("%sq%d.md", tc.from[:len(tc.from)-len("x.md")], i), "", nil, tc.link)
			replace(t, s, from)
			links, err := s.Links(t.Context(), from.Path)
			if err != nil || len(links.Out) != 1 || links.Out[0].To != tc.want {
				t.Errorf("%+v, %v, want a link to %q", links, err, tc.want)
			}
			replace(t, s, gone(from.Path))
		})
	}
}

// Of files whose names differ only by case or composition, a link means the one that is spelled as the link is.
func TestLinksTellFilesOfOtherSpellingApart(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	nfc, nfd := "Caf\u00e9.md", "Cafe\u0301.md"
	files := []string{"A.md", "a.md", nfc, nfd, "Sub/note.md", "sub/note.md", "sub/Note.md", "B.MD", "b.md", "d/E.md", "d/e.md"}
	for i, file := range files {
		replace(t, s, linkFile(file, "", nil, pathLink(1, fmt.Sprintf("target%d.md", i)), pathLink(2, files[(i+1)%len(files)])))
	}
	for i, file := range files {
		got, err := s.Links(t.Context(), file)
		if err != nil || got.Path != file || len(got.Out) != 2 || got.Out[0].Target != fmt.Sprintf("target%d.md", i) {
			t.Errorf("links of %s: %+v, %v", file, got, err)
			continue
		}
		before := files[(i+len(files)-1)%len(files)]
		if next := files[(i+1)%len(files)]; got.Out[1].To != next || len(got.In) != 1 || got.In[0].From != before {
			t.Errorf("%s links to %s and %v link to it, want %s and %s", file, got.Out[1].To, got.In, next, before)
		}
	}
	replace(t, s, linkFile("q.md", "", nil, wikiLink(1, "A"), wikiLink(2, "a"), wikiLink(3, "E"), wikiLink(4, "e"), wikiLink(5, "sub/Note")))
	got, err := s.Links(t.Context(), "q")
	if err != nil {
		t.Fatal(err)
	}
	var to []string
	for _, l := range got.Out {
		to = append(to, l.To)
	}
	if diff := cmp.Diff([]string{"A.md", "a.md", "d/E.md", "d/e.md", "sub/Note.md"}, to); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// `kioku ls` lists what is indexed with dates, titles, tags and chunks, page by page in the order of the paths.
func TestListReturnsFilesPageByPage(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	skipped := testFile("z.md", nil)
	skipped.Skipped = "too large"
	a := fieldFile("a.md", map[string][]string{"title": {"Tea"}, "tags": {"x", "y/z"}, "aliases": {"Cha"}})
	replace(t, s, skipped, a, testFile("memory/2026-01-20.md", nil, "one", "two"), testFile("b.md", nil, "one"))
	all := func(string) bool { return true }
	first, err := s.List(t.Context(), memory.FileQuery{Limit: 2, Skipped: true}, all)
	if err != nil {
		t.Fatal(err)
	}
	file := memory.File{Source: memory.SourceMemory, Size: 3, ModTime: a.ModTime, Tags: []string{}, Aliases: []string{}, Chunks: 1}
	tea, b, day, z := file, file, file, file
	tea.Path, tea.Title, tea.Tags, tea.Aliases = "a.md", "Tea", a.Tags, a.Meta.Aliases
	b.Path = "b.md"
	day.Path, day.Date, day.Chunks = "memory/2026-01-20.md", "2026-01-20", 2
	z.Path, z.Skipped, z.Chunks = "z.md", "too large", 0
	if diff := cmp.Diff(memory.FileList{Files: []memory.File{tea, b}, Total: 4, Next: "b.md"}, first); diff != "" {
		t.Errorf("first page (-want +got):\n%s", diff)
	}
	second, err := s.List(t.Context(), memory.FileQuery{Limit: 2, Skipped: true, After: first.Next}, all)
	if diff := cmp.Diff(memory.FileList{Files: []memory.File{day, z}, Total: 4}, second); diff != "" || err != nil {
		t.Errorf("second page: %v (-want +got):\n%s", err, diff)
	}
	some, err := s.List(t.Context(), memory.FileQuery{Limit: 9, Filter: memory.Filter{PathPrefix: "m", Since: "2026-01-20"}}, func(p string) bool { return p != "b.md" })
	if diff := cmp.Diff(memory.FileList{Files: []memory.File{day}, Total: 1}, some); diff != "" || err != nil {
		t.Errorf("selected: %v (-want +got):\n%s", err, diff)
	}
}
