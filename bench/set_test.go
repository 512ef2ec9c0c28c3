package bench

import (
	"kioku/internal/testkit"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// newSet makes a set of one note of three lines and these lines of questions.
func newSet(t *testing.T, questions ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "own")
	testkit.WriteFile(t, dir, "ws/a/memory/2026-02-01.md", "# 2026-02-01\n\nThe kettle whistles at noon.\n")
	testkit.WriteFile(t, dir, questionsFile, strings.Join(questions, "\n"))
	return dir
}

func TestLoadReadsTheTimeOfEachQuestion(t *testing.T) {
	t.Parallel()
	dir := newSet(t,
		"\uFEFF"+`{"id":"1","ws":"a","query":"kettle?","category":"c","lang":"en","relevant":[{"path":"./memory/2026-02-01.md","start_line":3,"end_line":3}]}`,
		``,
		`{"id":"2","ws":"a","query":"when?","category":null,"now":"2026-03-04","relevant":[{"path":"memory/2026-02-01.md","start_line":1,"end_line":3}],"answer":"noon","note":1}`,
		`{"id":"3","ws":"a","query":"noon?","now":"2026-03-04T08:00:00Z","relevant":[{"path":"memory/2026-02-01.md","start_line":3,"end_line":3}]}`)
	sets, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	note := Range{"memory/2026-02-01.md", 3, 3}
	want := Set{Name: "own", Folder: dir, Questions: []Question{
		{ID: "1", WS: "a", Query: "kettle?", Category: "c", Lang: "en", Relevant: []Range{note},
			Asked: time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)},
		{ID: "2", WS: "a", Query: "when?", Now: "2026-03-04", Relevant: []Range{{note.Path, 1, 3}}, Asked: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)},
		{ID: "3", WS: "a", Query: "noon?", Now: "2026-03-04T08:00:00Z", Relevant: []Range{note},
			Asked: time.Date(2026, 3, 4, 8, 0, 0, 0, time.UTC)},
	}}
	if diff := cmp.Diff([]Set{want}, sets); diff != "" {
		t.Error(diff)
	}
}

func TestLoadRefusesABadSetWithFileAndLine(t *testing.T) {
	t.Parallel()
	good := `{"id":"1","ws":"a","query":"q","relevant":[{"path":"memory/2026-02-01.md","start_line":3,"end_line":3}]}`
	replaced := func(old, new string) string {
		return strings.Replace(strings.Replace(good, `"id":"1"`, `"id":"2"`, 1), old, new, 1)
	}
	for _, tc := range []struct{ line, want string }{
		{"{", "not a question"},
		{"[]", "not a question: the line must be a JSON object"},
		{"null", "not a question: the line must be a JSON object"},
		{replaced(`"query":"q"`, `"query":"`+strings.Repeat("q", 4097)+`"`), `the "query" has 4097 bytes, more than 4096`},
		{replaced(`"query"`, `"nwo":"2026-03-04","query"`), "nwo means nothing here; did you mean now?"},
		{replaced(`"query"`, `"Lang":"en","query"`), "Lang means nothing here; did you mean lang?"},
		{replaced(`"query"`, `"catgeroy":"c","query"`), "did you mean category?"},
		{replaced(`"end_line"`, `"endline":4,"end_line"`), "relevant[0].endline means nothing here; did you mean end_line?"},
		{replaced(`"start_line":3`, `"start_line":"3"`), ": relevant[0].start_line must be a whole number"},
		{replaced(`"start_line":3`, `"start_line":2.5`), ": relevant[0].start_line must be a whole number"},
		{replaced(`"query":"q"`, `"query":5`), ": query must be a text"},
		{replaced(`"query"`, `"lang":["en"],"query"`), ": lang must be a text"},
		{replaced(`"relevant":[`, `"relevant":[7,`), ": relevant[0] must be an object with path, start_line and end_line"},
		{`{"id":"2","ws":"a","query":"q","relevant":"memory/2026-02-01.md"}`, ": relevant must be a list of places"},
		{good, `"1" was there before`},
		{replaced(`"id":"2",`, ""), `needs an "id"`},
		{replaced(`"ws":"a"`, `"ws":"b"`), "workspace b"},
		{replaced(`"ws":"a"`, `"ws":"../a"`), "name a folder in ws/"},
		{replaced("memory/", "../"), "not within the workspace"},
		{replaced("memory/", "notes/"), "no file that can be read"},
		{replaced(`"start_line":3`, `"start_line":0`), "lines count from 1"},
		{replaced(`"end_line":3`, `"end_line":2`), "are no range"},
		{replaced(`"end_line":3`, `"end_line":9`), "the evidence ends at 9"},
		{replaced(`"query"`, `"now":"soon","query"`), `now is "soon"`},
		{`{"id":"2","ws":"a","query":"q","relevant":[]}`, "golden questions"},
	} {
		t.Run(tc.want, func(t *testing.T) {
			dir := newSet(t, good, tc.line)
			_, err := Load(dir)
			if err == nil || strings.Contains(err.Error(), "Go ") || !strings.Contains(err.Error(), filepath.Join(dir, questionsFile)+":2: ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\ngot %v", tc.line, err)
			}
		})
	}
}

func TestLoadReadsAFolderOfSets(t *testing.T) {
	t.Parallel()
	sets, err := Load("testdata")
	if err != nil || len(sets) != 1 || sets[0].Name != "trio" {
		t.Errorf("got %d sets, %v", len(sets), err)
	}
	if got, want := sets[0].Workspaces(), []string{"home", "work"}; !cmp.Equal(got, want) {
		t.Errorf("workspaces %v", got)
	}
	for _, tc := range []struct {
		folders []string
		want    string
	}{
		{[]string{"testdata/trio", "testdata"}, "a set called trio was named before"},
		{[]string{t.TempDir()}, "is no set and holds none"},
		{[]string{"testdata/none"}, "no such file"},
		{[]string{newSet(t)}, "holds no question"},
	} {
		if _, err := Load(tc.folders...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: got %v, want %s", tc.folders, err, tc.want)
		}
	}
}

func TestTextsCountsCharactersWithLineEnds(t *testing.T) {
	t.Parallel()
	set := Set{Folder: t.TempDir()}
	testkit.WriteFile(t, set.Folder, "ws/a/n.md", "味噌\r\nsoup\rrice")
	texts := newTexts(set)
	for _, tc := range []struct{ start, end, want int }{{1, 1, 3}, {2, 2, 5}, {1, 3, 13}, {3, 99, 5}, {7, 9, 0}} {
		if got := texts.chars("a", Range{"n.md", tc.start, tc.end}); got != tc.want {
			t.Errorf("lines %d to %d: %d characters, want %d", tc.start, tc.end, got, tc.want)
		}
	}
	if n := texts.lines("a", "none.md"); n != 0 {
		t.Errorf("a missing file has %d lines", n)
	}
}

func TestResembles(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]map[string]bool{
		"now":      {"nwo": true, "Now": true, "no": true, "note": false, "when": false, "notes": false},
		"id":       {"ID": true, "qid": false, "k": false},
		"category": {"categroy": true, "catgory": true, "categories": false, "cat": false},
		"query":    {"qeury": true, "querys": true, "question": false, "": false},
	} {
		for other, near := range want {
			if resembles(other, key) != near {
				t.Errorf("%s for %s: %v", other, key, !near)
			}
		}
	}
}

func FuzzParseQuestion(f *testing.F) {
	f.Add([]byte(`{"id":"1","ws":"a","query":"q","relevant":[{"path":"././n.md","start_line":1,"end_line":2}]}`))
	f.Add([]byte(`{"id":"1","ws":"..","query":null}`))
	f.Add([]byte("\xff"))
	f.Fuzz(func(t *testing.T, line []byte) {
		q, err := parseQuestion(line)
		if err != nil {
			return
		}
		for _, r := range q.Relevant {
			if !filepath.IsLocal(r.Path) || r.Start < 1 || r.End < r.Start {
				t.Errorf("%+v", r)
			}
		}
		blank := strings.TrimSpace(q.Query) == "" // as some are in public sets
		if q.ID == "" || !blank && checkText("query", q.Query) != nil || !filepath.IsLocal(q.WS) || len(q.Relevant) == 0 {
			t.Errorf("%+v", q)
		}
	})
}
