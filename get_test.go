package kioku

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
	"kioku/memory"
)

func TestGetReturnsLines(t *testing.T) {
	m := openMemory(t, Options{Workspace: workspace(t, map[string]string{
		"MEMORY.md":            "one\r\ntwo\r\nthree",
		"memory/2026-01-05.md": strings.Repeat("line\n", 300),
		"memory/long.md":       strings.Repeat("あ", 20_000) + "\nsecond\n",
		"memory/empty.md":      "",
		"memory/one.md":        strings.Repeat("x", 12_001),
	})})
	for _, c := range []struct {
		req  memory.GetRequest
		want memory.Excerpt
	}{
		{memory.GetRequest{Path: "MEMORY.md"}, memory.Excerpt{Text: "one\ntwo\nthree", From: 1, Lines: 3, TotalLines: 3}},
		{memory.GetRequest{Path: "MEMORY.md", From: 2, Lines: 1}, memory.Excerpt{Text: "two\n", From: 2, Lines: 1, TotalLines: 3, NextFrom: 3}},
		{memory.GetRequest{Path: "MEMORY.md", From: 9}, memory.Excerpt{From: 9, TotalLines: 3}},
		{memory.GetRequest{Path: "MEMORY.md", From: -1, Lines: -5}, memory.Excerpt{Text: "one\ntwo\nthree", From: 1, Lines: 3, TotalLines: 3}},
		{memory.GetRequest{Path: "memory/2026-01-05.md", From: 299, Lines: 1e9}, memory.Excerpt{Text: "line\nline\n", From: 299, Lines: 2, TotalLines: 300}},
		{memory.GetRequest{Path: "memory/empty.md"}, memory.Excerpt{From: 1}},
		{memory.GetRequest{Path: "memory/2026-01-05.md"}, memory.Excerpt{Text: strings.Repeat("line\n", 120), From: 1, Lines: 120, TotalLines: 300, NextFrom: 121}},
		{memory.GetRequest{Path: "memory/long.md", Lines: 2}, memory.Excerpt{Text: strings.Repeat("あ", 12_000), From: 1, Lines: 1, TotalLines: 2, Truncated: true, NextFrom: 2}},
		{memory.GetRequest{Path: "memory/one.md"}, memory.Excerpt{Text: strings.Repeat("x", 12_000), From: 1, Lines: 1, TotalLines: 1, Truncated: true}},
	} {
		got, err := m.Get(t.Context(), c.req)
		c.want.Path = c.req.Path
		if err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%+v: %v\n%s", c.req, err, cmp.Diff(c.want, got))
		}
	}
}

// Hazard C15: a request for everything gets whole lines within the budget, and the line to go on from.
func TestGetPagesThroughLongFile(t *testing.T) {
	text := strings.Repeat("a line of some length, as notes have it\n", 2000)
	m := openMemory(t, Options{Workspace: workspace(t, map[string]string{"memory/a.md": text})})
	var all strings.Builder
	for from, calls := 1, 0; from != 0; calls++ {
		ex, err := m.Get(t.Context(), memory.GetRequest{Path: "memory/a.md", From: from, Lines: 1e9})
		if err != nil || utf8.RuneCountInString(ex.Text) > 12_000 || calls > 100 {
			t.Fatalf("call %d: %d characters, %v", calls, len(ex.Text), err)
		}
		all.WriteString(ex.Text)
		from = ex.NextFrom
	}
	if all.String() != text {
		t.Error("the pages do not add up to the file")
	}
}

// hostile are paths that must not be read; outside.md lies beside the workspace, so that a hole would show.
func hostile(outside string) []string {
	return []string{
		"../outside.md", "memory/../../outside.md", outside, "/etc/passwd", "//etc/passwd", "memory/..%2f..%2foutside.md",
		"%2e%2e/outside.md", `..\outside.md`, "file://" + outside, outside + ":1-5", "[x](../outside.md#L1)", "[[../outside]]", `"` + outside + `"`, "memory/", "memory/x",
		"", ".", "..", "~/outside.md", "memory/a.md/", "memory/a.md/..", "memory/a.md\x00", "MEMORY.md\n", "\xff.md",
		strings.Repeat("a", 300) + ".md", strings.Repeat("d/", 3000) + "a.md", "memory/" + strings.Repeat("../", 50) + "etc/passwd",
		"memory/x.txt", ".env", ".git/config", "memory/.hidden.md", "index.db", "memory/main.sqlite", "SOUL.md.bak",
		"file:///etc/passwd", "memory/missing.md", "node_modules/x.md", "memory/node_modules/x.md",
	}
}

// Hazard C01 and C04: no path leads out of the memory or to a file of another kind, and what lies outside looks like
// what is missing.
func TestGetRefusesHostilePaths(t *testing.T) {
	parent := t.TempDir()
	ws := filepath.Join(parent, "ws")
	for name, text := range map[string]string{
		"outside.md": "secret", "ws/MEMORY.md": "x", "ws/memory/a.md": "x", "ws/memory/x.txt": "secret", "ws/.env": "secret",
		"ws/.git/config": "secret", "ws/memory/.hidden.md": "secret", "ws/index.db": "secret",
		"ws/node_modules/x.md": "secret", "ws/memory/node_modules/x.md": "secret",
	} {
		testkit.WriteFile(t, parent, name, text)
	}
	m := openMemory(t, Options{Workspace: ws})
	for _, path := range hostile(filepath.Join(parent, "outside.md")) {
		ex, err := m.Get(t.Context(), memory.GetRequest{Path: path})
		var input *memory.InputError
		if !errors.As(err, &input) && !errors.Is(err, memory.ErrNotFound) || ex.Text != "" {
			t.Errorf("%.40q: %q, %v", path, ex.Text, err)
		}
	}
	_, outside := m.Get(t.Context(), memory.GetRequest{Path: "../outside.md"})
	_, missing := m.Get(t.Context(), memory.GetRequest{Path: "memory/missing.md"})
	if a, b := strings.ReplaceAll(outside.Error(), "../outside.md", "P"), strings.ReplaceAll(missing.Error(), "memory/missing.md", "P"); a != b {
		t.Errorf("outside and missing differ: %q, %q", a, b)
	}
}

// Hazard K06: what names lines in any form is read, and a file with the very name goes before that. The lines of the request go before
// those of the citation.
func TestGetReadsCitations(t *testing.T) {
	ws := workspace(t, map[string]string{"memory/a.md": "1\n2\n3\n4\n", "memory/x:1.md": "colon\n", "memory/x": "", "memory/50%25.md": "percent\n", "memory/50%.md": "50\n"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(ws, link); err != nil {
		t.Fatal(err)
	}
	m := synced(t, Options{Workspace: link})
	for _, c := range []struct {
		req  memory.GetRequest
		want string
	}{
		{memory.GetRequest{Path: "memory/a.md:2-3"}, "2\n3\n"}, {memory.GetRequest{Path: "memory/a.md#L2"}, "2\n3\n4\n"}, {memory.GetRequest{Path: "memory/a.md:2:1"}, "2\n"},
		{memory.GetRequest{Path: "memory/a.md:2-3", From: 4}, "4\n"}, {memory.GetRequest{Path: "memory/a.md:2-3", Lines: 1}, "2\n"},
		{memory.GetRequest{Path: ws + "/memory/a.md:4"}, "4\n"}, {memory.GetRequest{Path: "file://" + link + "/memory/a.md#L4"}, "4\n"},
		{memory.GetRequest{Path: `.\memory\a.md`, From: 4}, "4\n"}, {memory.GetRequest{Path: "[[a]]", From: 4}, "4\n"}, {memory.GetRequest{Path: "a", From: 4}, "4\n"},
		{memory.GetRequest{Path: "memory/x:1.md"}, "colon\n"}, {memory.GetRequest{Path: "memory/x:1.md:1-1"}, "colon\n"},
		{memory.GetRequest{Path: "memory/50%25.md"}, "percent\n"}, {memory.GetRequest{Path: "memory/50%25.md:1"}, "percent\n"}, {memory.GetRequest{Path: "memory/50%.md:1"}, "50\n"},
	} {
		if got, err := m.Get(t.Context(), c.req); err != nil || got.Text != c.want {
			t.Errorf("%+v: %q, %v; want %q", c.req, got.Text, err, c.want)
		}
	}
	for _, cited := range []string{"memory/a.md#L3", "[[a]]:3", "a:3"} {
		links, err := m.Links(t.Context(), cited)
		chunks, errChunks := m.Chunks(t.Context(), cited)
		ex, errExplain := m.Explain(t.Context(), memory.Query{Text: "3"}, cited, 0)
		if err := errors.Join(err, errChunks, errExplain); err != nil || links.Path != "memory/a.md" || chunks.Path != links.Path || ex.Outcome == memory.NotIndexed {
			t.Errorf("%s: %+v, %+v, %+v, %v", cited, links, chunks, ex, err)
		}
	}
	var input *memory.InputError
	if _, err := m.Get(t.Context(), memory.GetRequest{Path: "memory/a.md:x"}); !errors.As(err, &input) {
		t.Errorf("got %v", err)
	}
}

// Hazard C01: the same for whatever else anybody thinks of.
func FuzzGet(f *testing.F) {
	parent := f.TempDir()
	ws := filepath.Join(parent, "ws")
	for name, text := range map[string]string{"outside.md": "secret", "ws/MEMORY.md": "open", "ws/memory/x.txt": "secret"} {
		path := filepath.Join(parent, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	m, err := Open(f.Context(), Options{Workspace: ws, StateDir: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { m.Close() })
	for _, p := range hostile(filepath.Join(parent, "outside.md")) {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, path string) {
		ex, err := m.Get(t.Context(), memory.GetRequest{Path: path})
		if err == nil && ex.Text != "open" && ex.Text != "" {
			t.Errorf("%q gives %q", path, ex.Text)
		}
	})
}

// Hazard C02: symbolic links lead nowhere, whether they are files, folders, chains or loops.
func TestGetFollowsNoSymbolicLink(t *testing.T) {
	parent := t.TempDir()
	ws := filepath.Join(parent, "ws")
	testkit.WriteFile(t, parent, "outside/secret.md", "secret")
	testkit.WriteFile(t, ws, "memory/real.md", "open")
	for link, target := range map[string]string{
		"memory/file.md": filepath.Join(parent, "outside/secret.md"), "memory/dir": filepath.Join(parent, "outside"),
		"memory/chain.md": "file.md", "memory/loop.md": "loop.md", "memory/up": "../..", "memory/inside.md": "real.md",
	} {
		if err := os.Symlink(target, filepath.Join(ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	m := synced(t, Options{Workspace: ws})
	for _, p := range []string{"memory/file.md", "memory/dir/secret.md", "memory/chain.md", "memory/loop.md", "memory/up/outside/secret.md", "memory/inside.md"} {
		if ex, err := m.Get(t.Context(), memory.GetRequest{Path: p}); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("%s: %q, %v", p, ex.Text, err)
		}
	}
	if got := find(t, m, "secret"); len(got) != 0 {
		t.Errorf("a link was indexed: %v", got)
	}
	st, err := m.Status(t.Context())
	if err != nil || len(st.Skipped) == 0 {
		t.Errorf("status names no skipped link: %+v, %v", st.Skipped, err)
	}
}

// Hazard C02: a folder that is swapped for a link while it is read never lets the reader out.
func TestGetResistsSwappedLinks(t *testing.T) {
	parent := t.TempDir()
	ws := filepath.Join(parent, "ws")
	testkit.WriteFile(t, parent, "outside/a.md", "secret")
	testkit.WriteFile(t, ws, "memory/d/a.md", "open")
	m := openMemory(t, Options{Workspace: ws})
	stop := make(chan struct{})
	swapped := make(chan int)
	go func() {
		n, dir := 0, filepath.Join(ws, "memory", "d")
		for ; ; n++ {
			select {
			case <-stop:
				swapped <- n
				return
			default:
			}
			os.Rename(dir, dir+".real")
			os.Symlink(filepath.Join(parent, "outside"), dir)
			os.Remove(dir)
			os.Rename(dir+".real", dir)
		}
	}()
	for until := time.Now().Add(time.Second); time.Now().Before(until); {
		if ex, err := m.Get(t.Context(), memory.GetRequest{Path: "memory/d/a.md"}); err == nil && ex.Text != "open" && ex.Text != "" {
			t.Errorf("got %q", ex.Text)
			break
		}
	}
	close(stop)
	if n := <-swapped; n == 0 {
		t.Error("nothing was swapped")
	}
}

// Hazard C03: a file with a second name somewhere else may be a way out, and is refused.
func TestGetRefusesHardLinks(t *testing.T) {
	parent := t.TempDir()
	testkit.WriteFile(t, parent, "outside.md", "secret")
	testkit.WriteFile(t, parent, "ws/MEMORY.md", "open")
	if err := os.Link(filepath.Join(parent, "outside.md"), filepath.Join(parent, "ws", "USER.md")); err != nil {
		t.Fatal(err)
	}
	m := synced(t, Options{Workspace: filepath.Join(parent, "ws")})
	if ex, err := m.Get(t.Context(), memory.GetRequest{Path: "USER.md"}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("%q, %v", ex.Text, err)
	}
	if got := find(t, m, "secret"); len(got) != 0 {
		t.Errorf("it was indexed: %v", got)
	}
}

func TestGetReadsExtraPathsByHitPath(t *testing.T) {
	extra := workspace(t, map[string]string{"team/plan.md": "The windmill was painted green.", "team/plan.txt": "secret"})
	ws := workspace(t, map[string]string{"MEMORY.md": "x"})
	m := synced(t, Options{Workspace: ws, Index: IndexOptions{ExtraPaths: []string{extra}}})
	paths := find(t, m, "windmill")
	if len(paths) != 1 {
		t.Fatalf("found %v", paths)
	}
	if ex, err := m.Get(t.Context(), memory.GetRequest{Path: paths[0]}); err != nil || !strings.Contains(ex.Text, "windmill") {
		t.Errorf("%s: %q, %v", paths[0], ex.Text, err)
	}
	if _, err := m.Get(t.Context(), memory.GetRequest{Path: strings.TrimSuffix(paths[0], "md") + "txt"}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a text file is read: %v", err)
	}
}

// Source marks cost no tokens in prompts: what a model reads of a note has none, and lines keep their numbers.
func TestGetLeavesMarkersOut(t *testing.T) {
	ws := workspace(t, map[string]string{"MEMORY.md": "# M\n\n"})
	m := appendTo(t, ws)
	long := strings.Repeat("It is long, and all of it counts. ", 20)
	addNote(t, m, memory.Note{Text: long, Target: memory.TargetLongTerm, Source: memory.NoteFromFlush})
	a := addNote(t, m, memory.Note{Text: "Ines prefers tea.", Target: memory.TargetLongTerm, Source: memory.NoteFromAgent, Key: "k"})
	got, err := m.Get(t.Context(), memory.GetRequest{Path: "MEMORY.md"})
	if err != nil || strings.Contains(got.Text, "kioku") {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = m.Get(t.Context(), memory.GetRequest{Path: "MEMORY.md", From: a.StartLine})
	if err != nil || got.Text != "- Ines prefers tea.\n" {
		t.Errorf("%+v, %v", got, err)
	}
}
