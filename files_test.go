package kioku

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"kioku/internal/testkit"
	"kioku/memory"
)

// vault is a folder of notes with names, front matter, tags and links.
var vault = map[string]string{
	"Travel/Fushimi Inari.md":                              "---\r\naliases: [伏見稲荷]\r\ntags: [kyoto, shrine/gate]\r\nrating: 5\r\nvisited: 2026-01-20T09:15:00+09:00\r\n---\r\nThousands of red gates.\r\n\r\nSee [[Nara]].\r\n",
	"Travel/" + norm.NFD.String("Café Größenwahn") + ".md": "\uFEFF---\nrating: 3\nstatus: Closed\n---\nCake by the window. #cake\n",
	"dev/git_amend-author.md":                              "Use the option --reset-author of the last commit.\n",
	"index.md":                                             "# Everything\n\n- [[Fushimi Inari|the gates]]\n- [Amending](dev/git_amend-author.md#how)\n- ![[伏見稲荷]]\n- [[Nara]]\n",
	"memory/2026-01-20.md":                                 "# 2026-01-20\n\nRained all day. #weather/rain\n",
	"20251231 year.md":                                     "A quiet evening.\n",
}

// vaultMemory indexes the vault.
func vaultMemory(t *testing.T, opt Options) *Memory {
	opt.Workspace = workspace(t, vault)
	opt.Index.ExtraPaths = []string{"."}
	return synced(t, opt)
}

// searchPaths returns the paths of the hits for a query with conditions.
func searchPaths(t *testing.T, m *Memory, q memory.Query) []string {
	t.Helper()
	a, err := m.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, h := range a.Hits {
		paths = append(paths, norm.NFC.String(h.Path))
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// `date`, `created`, `published`, `updated` and `YYYYMMDD` or `YYYY-MM-DD` anywhere in the file name date a note. `kioku ls`
// lists what is indexed with dates, titles, tags and chunks.
func TestFilesListsTheVault(t *testing.T) {
	t.Parallel()
	m := vaultMemory(t, Options{})
	list, err := m.Files(t.Context(), memory.FileQuery{})
	if err != nil || list.Total != len(vault) || list.Next != "" {
		t.Fatalf("%+v, %v", list, err)
	}
	var got []string
	for _, f := range list.Files {
		got = append(got, norm.NFC.String(fmt.Sprintf("%s|%s|%s|%s|%s|%d", f.Path, f.Title, f.Date, strings.Join(f.Tags, " "), strings.Join(f.Aliases, " "), f.Chunks)))
	}
	want := []string{
		"20251231 year.md|year|2025-12-31|||1",
		"Travel/Café Größenwahn.md|Café Größenwahn||cake||1",
		"Travel/Fushimi Inari.md|Fushimi Inari||kyoto shrine/gate|伏見稲荷|1",
		"dev/git_amend-author.md|git amend author||||1",
		"index.md|Everything||||1",
		"memory/2026-01-20.md||2026-01-20|weather/rain||1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFilesSelectsByGlobAndFilter(t *testing.T) {
	t.Parallel()
	m := vaultMemory(t, Options{})
	for _, tc := range []struct {
		q    memory.FileQuery
		want string
	}{
		{memory.FileQuery{Glob: "*.md"}, "20251231 year.md, Travel/Café Größenwahn.md, Travel/Fushimi Inari.md, dev/git_amend-author.md, index.md, memory/2026-01-20.md"},
		{memory.FileQuery{Glob: "Travel"}, "Travel/Café Größenwahn.md, Travel/Fushimi Inari.md"},
		{memory.FileQuery{Glob: "./Travel/"}, "Travel/Café Größenwahn.md, Travel/Fushimi Inari.md"},
		{memory.FileQuery{Glob: "Travel/*Inari*"}, "Travel/Fushimi Inari.md"},
		{memory.FileQuery{Glob: "**/git*"}, "dev/git_amend-author.md"},
		{memory.FileQuery{Glob: "{dev,memory}/**"}, "dev/git_amend-author.md, memory/2026-01-20.md"},
		{memory.FileQuery{Glob: "nothing"}, ""},
		{memory.FileQuery{Filter: memory.Filter{Where: []memory.Condition{{Field: "tag", Values: []string{"#shrine"}}}}}, "Travel/Fushimi Inari.md"},
		{memory.FileQuery{Filter: memory.Filter{Since: "2026-01-01"}}, "memory/2026-01-20.md"},
		{memory.FileQuery{Filter: memory.Filter{Sources: []string{"memory"}}}, "memory/2026-01-20.md"},
		{memory.FileQuery{Glob: "Travel", Limit: 1}, "Travel/Café Größenwahn.md"},
	} {
		t.Run(fmt.Sprintf("%+v", tc.q), func(t *testing.T) {
			t.Parallel()
			list, err := m.Files(t.Context(), tc.q)
			var got []string
			for _, f := range list.Files {
				got = append(got, norm.NFC.String(f.Path))
			}
			if s := strings.Join(got, ", "); err != nil || s != tc.want {
				t.Errorf("%s, %v; want %s", s, err, tc.want)
			}
		})
	}
	for field, q := range map[string]memory.FileQuery{
		"glob":   {Glob: "a[b"},
		"limit":  {Limit: 10_001},
		"filter": {Filter: memory.Filter{Where: []memory.Condition{{Field: "x", Op: "~", Values: []string{"y"}}}}},
	} {
		var input *memory.InputError
		if _, err := m.Files(t.Context(), q); !errors.As(err, &input) || input.Field != field {
			t.Errorf("%+v: %v, want a bad %s", q, err, field)
		}
	}
}

// `--tag x`, `--where status=done`: tags, and any scalar or list field, can be filtered; what excludes notes without the field or
// without a date says so.
func TestSearchFiltersByFields(t *testing.T) {
	t.Parallel()
	m := vaultMemory(t, Options{})
	low := 0.01
	for _, tc := range []struct {
		text  string
		where memory.Condition
		want  []string
		says  string
	}{
		{"gates cake rained", memory.Condition{Field: "tags", Values: []string{"shrine"}}, []string{"Travel/Fushimi Inari.md"}, ""},
		{"gates cake rained", memory.Condition{Field: "tags", Op: "in", Values: []string{"weather", "cake"}},
			[]string{"Travel/Café Größenwahn.md", "memory/2026-01-20.md"}, ""},
		{"gates cake rained", memory.Condition{Field: "rating", Op: ">", Values: []string{"3"}}, []string{"Travel/Fushimi Inari.md"}, "4 of 6 notes have no rating"},
		{"gates cake rained", memory.Condition{Field: "visited", Op: "<=", Values: []string{"2026-01-20"}}, []string{"Travel/Fushimi Inari.md"}, "5 of 6 notes have no visited"},
		{"gates cake rained", memory.Condition{Field: "status", Values: []string{"closed"}}, []string{"Travel/Café Größenwahn.md"}, "5 of 6 notes have no status"},
		{"cake rained", memory.Condition{Field: "status", Op: "!=", Values: []string{"closed"}}, []string{"memory/2026-01-20.md"}, ""},
		{"gates cake rained", memory.Condition{Field: "stauts", Values: []string{"closed"}}, nil, "No note has the field stauts"},
	} {
		t.Run(fmt.Sprint(tc.where), func(t *testing.T) {
			t.Parallel()
			q := memory.Query{Text: tc.text, MinScore: &low, Filter: memory.Filter{Where: []memory.Condition{tc.where}}}
			if diff := cmp.Diff(tc.want, searchPaths(t, m, q)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := saidOf(t, m, q); !strings.HasPrefix(got, tc.says) || tc.says == "" && got != "" {
				t.Errorf("the answer says %q, want %q", got, tc.says)
			}
		})
	}
	since := memory.Query{Text: "gates cake rained", MinScore: &low, Filter: memory.Filter{Since: "2026-01-01"}}
	if got := saidOf(t, m, since); !strings.HasPrefix(got, "4 of 6 notes have no date") {
		t.Errorf("since: the answer says %q", got)
	}
}

// Explain says which condition leaves a passage out.
func TestExplainNamesTheConditionThatLeavesAPassageOut(t *testing.T) {
	t.Parallel()
	m := vaultMemory(t, Options{})
	q := memory.Query{Text: "red gates", Filter: memory.Filter{Where: []memory.Condition{
		{Field: "rating", Op: ">=", Values: []string{"5"}}, {Field: "tag", Op: "in", Values: []string{"beach", "#sea"}}}}}
	ex, err := m.Explain(t.Context(), q, "Travel/Fushimi Inari.md", 7)
	if err != nil || ex.Outcome != memory.Filtered || !strings.Contains(ex.Text, "or tags in beach,sea") {
		t.Errorf("%s: %s, %v", ex.Outcome, ex.Text, err)
	}
}

// saidOf returns what an answer says of the notes that the filter leaves out.
func saidOf(t *testing.T, m *Memory, q memory.Query) string {
	t.Helper()
	a, err := m.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range a.Degraded {
		if d.Code == memory.FilterExcludes {
			return d.Text
		}
	}
	return ""
}

// Links and backlinks with line numbers; explain shows them; a link whose note appears later leads to it then.
func TestLinksOfTheVault(t *testing.T) {
	t.Parallel()
	m := vaultMemory(t, Options{})
	line := func(l memory.Link) string {
		return fmt.Sprintf("%s:%d %s %q -> %s", l.From, l.Line, l.Kind, l.Text, l.To)
	}
	show := func(links memory.Links) (all []string) {
		for _, l := range slices.Concat(links.Out, links.In) {
			all = append(all, line(l))
		}
		return all
	}
	links, err := m.Links(t.Context(), "Fushimi Inari")
	want := []string{`Travel/Fushimi Inari.md:9 wiki "Nara" -> `, `index.md:3 wiki "the gates" -> Travel/Fushimi Inari.md`, `index.md:5 embed "伏見稲荷" -> Travel/Fushimi Inari.md`}
	if diff := cmp.Diff(want, show(links)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	testkit.WriteFile(t, m.Workspace(), "Trips/Nara.md", "Deer.\n")
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	links, err = m.Links(t.Context(), "Trips/Nara.md")
	want = []string{`Travel/Fushimi Inari.md:9 wiki "Nara" -> Trips/Nara.md`, `index.md:6 wiki "Nara" -> Trips/Nara.md`}
	if diff := cmp.Diff(want, show(links)); diff != "" || err != nil {
		t.Errorf("after Nara.md appeared: %v (-want +got):\n%s", err, diff)
	}
	ex, err := m.Explain(t.Context(), memory.Query{Text: "red gates"}, "Travel/Fushimi Inari.md", 7)
	if err != nil || ex.Links == nil || len(ex.Links.In) != 2 || len(ex.Links.Out) != 1 {
		t.Errorf("explain: %+v, %v", ex.Links, err)
	}
	if _, err := m.Links(t.Context(), "nothing.md"); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("an unknown note: %v", err)
	}
}

// The shown text of a link is text: the note is found by it, and by the name of the note that the link means.
func TestSearchFindsTheShownTextOfLinks(t *testing.T) {
	t.Parallel()
	m := synced(t, Options{Workspace: workspace(t, map[string]string{"memory/2026-01-20.md": "Met at [[Harbor Office|the blue house]], see [the plan](plans/q3%20roof.md).\n"})})
	for _, query := range []string{"blue house", "harbor office", "roof plan"} {
		if got := find(t, m, query); len(got) != 1 {
			t.Errorf("%q finds %q", query, got)
		}
	}
}

// File name, front matter title, aliases and tags are in what is embedded; a daily note is embedded as ever, so that nothing that
// was paid for is paid for again.
func TestSyncEmbedsTheNamesOfAFile(t *testing.T) {
	t.Parallel()
	fake, client := openAI(t)
	m := vaultMemory(t, Options{Embedder: client})
	fake.mu.Lock()
	defer fake.mu.Unlock()
	for _, want := range []string{
		"git amend author\n\nUse the option --reset-author of the last commit.",
		"Fushimi Inari, 伏見稲荷, #kyoto, #shrine/gate\n\n---\naliases: [伏見稲荷]",
		"# 2026-01-20\n\nRained all day. #weather/rain",
	} {
		if !slices.ContainsFunc(fake.embedded, func(text string) bool { return strings.HasPrefix(text, want) }) {
			t.Errorf("no embedded text begins with %q: %q", want, fake.embedded)
		}
	}
	checkIndex(t, m)
}

// Chunks of a file cover its lines in order, with their headings and dates, and say which have vectors; the file of another name is
// not found.
func TestChunksOfTheVault(t *testing.T) {
	t.Parallel()
	m := vaultMemory(t, Options{})
	found, err := m.Chunks(t.Context(), "Travel/Fushimi Inari.md")
	if err != nil || found.Path != "Travel/Fushimi Inari.md" || len(found.Chunks) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	for i, c := range found.Chunks {
		if c.StartLine < 1 || c.EndLine < c.StartLine || c.Tokens < 1 || c.Embedded || i > 0 && c.StartLine < found.Chunks[i-1].StartLine {
			t.Errorf("chunk %d is %+v", i, c)
		}
	}
	if _, err := m.Chunks(t.Context(), "nothing.md"); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("an unknown note: %v", err)
	}
	var input *memory.InputError
	if _, err := m.Chunks(t.Context(), ""); !errors.As(err, &input) {
		t.Errorf("no path: %v", err)
	}
}
