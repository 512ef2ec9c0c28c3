package indexer_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"kioku/indexer"
)

func TestOwnsReturnsRootAndPath(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	f := setup(t, func(o *indexer.Options) {
		o.ExtraPaths = []string{"notes", ".dotted", filepath.Join(out, "docs"), filepath.Join(out, "one.md"), filepath.Join(out, "p-*")}
	})
	type place struct{ root, rel string }
	for p, want := range map[string]place{
		"MEMORY.md":                     {f.dir, "MEMORY.md"},
		"memory/deep/a.md":              {f.dir, "memory/deep/a.md"},
		"memory/daily/2026-01-01.jsonl": {f.dir, "memory/daily/2026-01-01.jsonl"},
		"notes/n.md":                    {f.dir, "notes/n.md"},
		".dotted/n.md":                  {f.dir, ".dotted/n.md"},
		out + "/docs/d/e.md":            {out + "/docs", "d/e.md"},
		out + "/one.md":                 {out, "one.md"},
		out + "/p-1/x.md":               {out, "p-1/x.md"},
	} {
		if root, rel, ok := f.x.Owns(p); !ok || root != want.root || rel != want.rel {
			t.Errorf("Owns(%q) = %q, %q, %v; want %q", p, root, rel, ok, want)
		}
	}
}

// Hazard C02: no name leads to a file that the index cannot contain.
func TestOwnsRefusesOtherPaths(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	f := setup(t, func(o *indexer.Options) { o.ExtraPaths = []string{"notes", filepath.Join(out, "p-*")} })
	f.write("MEMORY.md", "x")
	for _, p := range []string{
		"", ".", "..", "/", "README.md", "memory", "memory/", "memory/a.txt", "memory/x.jsonl", "memory/daily/d/x.jsonl", "notes/daily/x.jsonl",
		"../ws/MEMORY.md", "memory/../MEMORY.md", "./MEMORY.md", "memory//a.md", "memory/a.md/", "memory/./a.md", f.dir + "/MEMORY.md",
		"memory/.git/a.md", "memory/.a.md", "memory/node_modules/a.md", "memory/a\x00.md", "memory/a\n.md", "memory/\xff.md", "memory\\a.md",
		"/etc/passwd", "/etc/a.md", out + "/a.md", out + "/q-1/a.md", "MEMORY.md/a.md", "memory.md", "%2e%2e/a.md",
	} {
		if root, rel, ok := f.x.Owns(p); ok {
			t.Errorf("Owns(%q) = %q, %q", p, root, rel)
		}
	}
}

func TestOwnsAcceptsEveryIndexedPath(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	f := setup(t, func(o *indexer.Options) { o.ExtraPaths = []string{".", filepath.Dir(out)} })
	for _, p := range []string{"MEMORY.md", "memory/a.md", "memory/daily/x.jsonl", "deep/c.md", ".hidden/d.md", "x/.e.md"} {
		f.write(p, "x")
	}
	f.sync()
	paths, _ := f.index.list()
	if len(paths) != 4 {
		t.Errorf("indexed: %q", paths)
	}
	for _, p := range paths {
		if _, _, ok := f.x.Owns(p); !ok {
			t.Errorf("Owns(%q) is false", p)
		}
	}
}

func FuzzOwns(f *testing.F) {
	for _, s := range []string{"MEMORY.md", "memory/a.md", "../x.md", "memory/../../etc/x.md", "/ws/memory/a.md", "memory/\x00.md", "notes/日記.md", "memory/%2e%2e/a.md"} {
		f.Add(s)
	}
	x := indexer.New(&paragraphs{}, newMemIndex(), indexer.Options{Workspace: "/no/such/ws", Settings: indexer.Settings{ExtraPaths: []string{"notes", "/no/such/out"}}})
	f.Fuzz(func(t *testing.T, p string) {
		root, rel, ok := x.Owns(p)
		if !ok {
			return
		}
		if path.Clean(rel) != rel || strings.HasPrefix(rel, "..") || path.IsAbs(rel) || strings.Contains(rel, "/.") || strings.HasPrefix(rel, ".") {
			t.Errorf("Owns(%q) = %q, %q", p, root, rel)
		}
		if want := path.Join(root, rel); want != p && want != "/no/such/ws/"+p {
			t.Errorf("Owns(%q) leads to %q", p, want)
		}
	})
}

// Hazard K14: a day in the name of a file or its folders dates it; a version, a telephone number or an id is no day.
func TestDateOf(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]string{
		"memory/2026-01-20.md": "2026-01-20", "memory/x/2024-02-29-leap.md": "2024-02-29", "2026-01-20": "2026-01-20", "2026-01-20日記.md": "2026-01-20",
		"memory/2026-02-30.md": "", "memory/2025-02-29.md": "", "memory/2026-1-2.md": "2026-01-02", "2026-01-20/notes.md": "2026-01-20", "memory/2026-01-201.md": "", "": "",
		"a/Minutes 20260120.md": "2026-01-20", "x-2026-01-20-y.md": "2026-01-20", "120260120.md": "", "2026_01_20.md": "2026-01-20", "x.md": "",
		"202602031030 heron.md": "2026-02-03", "20260203103059.md": "2026-02-03", "12345678901234.md": "", "202602032530.md": "",
		"2026/02/04.md": "2026-02-04", "j/2026/02/4.md": "2026-02-04", "2026/02-February/04.md": "2026-02-04", "2026/02 February/04 Wednesday.md": "2026-02-04",
		"2026/February/04.md": "2026-02-04", "2026-02/04.md": "2026-02-04", "2026/2026-02/2026-02-04.md": "2026-02-04", "2026/2026-02/04.md": "2026-02-04",
		"2026/02/04/heron.md": "2026-02-04", "2026/02/30.md": "", "2026/13/04.md": "", "2026/13/04/x.md": "", "x/02/04.md": "", "02/04.md": "", "2026/02/x.md": "",
		"2026/02/4 herons.md": "", "2026/02/104.md": "", "2026-01-20 move/notes.md": "", "2026-01-20/a/notes.md": "", "1999/12/31/x.md": "1999-12-31",
		"05.02.2026.md": "2026-02-05", "05.02.2026 lock.md": "2026-02-05", "February 8th, 2026.md": "2026-02-08", "8 February 2026.md": "2026-02-08",
		"2026年2月9日.md": "2026-02-09", "2026_2_9.md": "2026-02-09", "app v2026.02.09.md": "", "release 1.2.2026.md": "", "1.2.3.2026.md": "",
		"+49 171 2026 0203.md": "", "0171-20260203.md": "2026-02-03", "25-06-2026.md": "2026-06-25", "05-06-2026.md": "",
	} {
		if got := indexer.DateOf(p); got != want {
			t.Errorf("DateOf(%q) = %q, want %q", p, got, want)
		}
	}
}
