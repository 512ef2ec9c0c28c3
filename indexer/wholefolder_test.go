package indexer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/indexer"
)

// writeAll writes files with their path as text.
func (f *fixture) writeAll(paths ...string) {
	f.Helper()
	for _, p := range paths {
		f.write(p, "text of "+p)
	}
}

// Hazard B23: in a whole folder .gitignore is honoured: nested, with negation, from the repository around the folder, and
// from .git/info/exclude.
func TestScanHonoursGitignoreInAWholeFolder(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	f := setup(t, func(o *indexer.Options) {
		o.Workspace = filepath.Join(repo, "docs")
	})
	f.dir = filepath.Join(repo, "docs")
	f.must(os.MkdirAll(filepath.Join(repo, ".git", "info"), 0o755))
	f.write("../.gitignore", "/docs/build/\n*.gen.md\n")
	f.write("../.git/info/exclude", "scratch.md\n")
	f.write(".gitignore", "*.draft.md\n!kept.draft.md\n/top.md\nvendor/\nprivate/\n")
	f.write("sub/.gitignore", "*.md\n!keep.md\n")
	f.writeAll("a.md", "build/x.md", "x.gen.md", "deep/scratch.md", "a.draft.md", "kept.draft.md", "top.md", "sub/top.md", "deep/top.md",
		"vendor/v.md", "back.md", "private/p.md", "sub/keep.md")
	f.sync()
	f.holds("a.md", "kept.draft.md", "deep/top.md", "back.md", "sub/keep.md")
	for _, p := range []string{"build/x.md", "x.gen.md", "deep/scratch.md", "vendor/v.md", "private/p.md"} {
		if _, _, ok := f.x.Owns(p); ok {
			t.Errorf("Owns(%q)", p)
		}
	}
}

// A folder that its repository ignores, and that somebody names as a workspace, is indexed.
func TestScanTakesAFolderThatItsRepositoryIgnores(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	f := setup(t, func(o *indexer.Options) { o.Workspace = filepath.Join(repo, "notes") })
	f.dir = filepath.Join(repo, "notes")
	f.must(os.Mkdir(filepath.Join(repo, ".git"), 0o755))
	f.write("../.gitignore", "notes/\n")
	f.writeAll("a.md")
	f.sync()
	f.holds("a.md")
}

// Include adds to MEMORY.md, USER.md and memory/, and Exclude wins over everything.
func TestScanIncludesAndExcludes(t *testing.T) {
	t.Parallel()
	all := []string{"MEMORY.md", "USER.md", "memory/a.md", "memory/old/b.md", "README.md", "docs/c.md", "docs/de/d.md", "docs/de/draft.md", "x/docs/e.md"}
	for name, c := range map[string]struct{ include, exclude, extra, want []string }{
		"a folder":         {include: []string{"docs"}, want: []string{"docs/c.md", "docs/de/d.md", "docs/de/draft.md"}},
		"one level":        {include: []string{"*.md", "docs/*.md"}, want: []string{"README.md", "docs/c.md"}},
		"any level":        {include: []string{"**/docs/*.md"}, want: []string{"docs/c.md", "x/docs/e.md"}},
		"braces":           {include: []string{"{x,y}/**"}, want: []string{"x/docs/e.md"}},
		"the whole folder": {include: indexer.WholeFolder, want: all[4:]},
		"exclude a folder": {include: indexer.WholeFolder, exclude: []string{"docs", "**/README.md"}, want: []string{"x/docs/e.md"}},
		"exclude files":    {include: []string{"docs"}, exclude: []string{"**/draft.md"}, want: []string{"docs/c.md", "docs/de/d.md"}},
		"exclude extra":    {extra: []string{"docs"}, exclude: []string{"docs/de"}, want: []string{"docs/c.md"}},
		"extra with **":    {extra: []string{"docs/**/d*.md"}, want: []string{"docs/de/d.md", "docs/de/draft.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, func(o *indexer.Options) {
				o.Include, o.Exclude, o.ExtraPaths = c.include, append(c.exclude, "memory/old"), c.extra
			})
			f.writeAll(all...)
			f.sync()
			f.holds(append([]string{"MEMORY.md", "USER.md", "memory/a.md"}, c.want...)...)
			owned := map[string]bool{}
			paths, _ := f.index.list()
			for _, p := range paths {
				owned[p] = true
			}
			for _, p := range all {
				if _, _, ok := f.x.Owns(p); ok != owned[p] {
					t.Errorf("Owns(%q) = %v", p, ok)
				}
				rep, err := f.x.SyncPaths(t.Context(), f.path(p))
				f.must(err)
				if rep.Files+rep.Removed > 0 {
					t.Errorf("a sync of only %s: %+v", p, rep)
				}
			}
		})
	}
}

// Hazard B22: transcripts and the folder of the index are never included by a glob.
func TestScanOfAWholeFolderLeavesPrivateFolders(t *testing.T) {
	t.Parallel()
	f := setup(t, func(o *indexer.Options) {
		o.StateDir = filepath.Join(o.Workspace, "state")
		o.Sessions = indexer.Sessions{Folder: filepath.Join(o.Workspace, "talk"), Spoken: func(line []byte) (string, string) { return string(line), "" }}
	})
	f.writeAll("a.md", "state/memory/x.md", "talk/x.md", "talk/s.jsonl")
	f.sync()
	f.holds("a.md", "sessions/s.jsonl")
	for _, p := range []string{"state/memory/x.md", "talk/x.md"} {
		if _, _, ok := f.x.Owns(p); ok {
			t.Errorf("Owns(%q)", p)
		}
	}
}

func TestParseInclude(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "[]", "exclude: [a]": "[]", "include:": "[]", "include: docs": "[docs]", "include: [a, b]": "[a b]", "include: ['']": "error",
		"include: ['[']": "error", "include: {a: b}": "error", ": [": "error", "[a]": "error", "include: [a]\nchunking: {tokens: 3}": "[a]",
	} {
		globs, err := indexer.ParseInclude([]byte(text))
		got := fmt.Sprint(globs)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("ParseInclude(%q) = %v, %v; want %s", text, globs, err, want)
		}
	}
}

// A workspace that loses MEMORY.md for a moment, as editors do, does not become a whole folder.
func TestScanOfACuratedFolderStaysCurated(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.writeAll("MEMORY.md", "README.md")
	f.sync()
	f.must(os.Remove(f.path("MEMORY.md")))
	f.sync()
	f.holds()
}

// Hazard B22: a folder of strangers may have loops of links, a .git file, folders that may not be read, names with line breaks, deep nesting.
func TestScanOfAWholeFolderSurvivesItsHazards(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.writeAll("a.md", "sub/b.md", "new\nline/c.md", "new\nline.md")
	f.write(".git", "gitdir: /nowhere/.git/worktrees/x\n")
	f.must(os.Symlink("..", f.path("sub/loop")))
	f.must(os.Symlink("a.md", f.path("sub/link.md")))
	f.must(os.Symlink("/etc/passwd", f.path("sub/.gitignore"))) // git does not read it either
	f.must(os.Mkdir(f.path("sub/dir.md"), 0o755))
	f.writeAll("sub/dir.md/x.md")
	deep := strings.Repeat("d/", 99)
	f.writeAll(deep+"in.md", deep+"d/d/out.md")
	rep := f.sync()
	f.holds("a.md", "sub/b.md", deep+"in.md")
	f.skips("sub/loop", "symbolic link")
	f.skips("sub/link.md", "symbolic link")
	f.skips(`new\x0aline.md`, "control character in the name")
	if rep.Skipped != 6 {
		_, skipped := f.index.list()
		t.Errorf("%d skipped: %q", rep.Skipped, skipped)
	}
}

// Hazard B26: on a disk that does not tell "memory.md" from "MEMORY.md", a file is indexed once. Here both names lead to one file.
func TestScanOfAWholeFolderIndexesAFileOnce(t *testing.T) {
	t.Parallel()
	f := setup(t, func(o *indexer.Options) { o.Include = indexer.WholeFolder })
	f.writeAll("MEMORY.md", "a.md")
	f.must(os.Link(f.path("MEMORY.md"), f.path("memory.md")))
	f.sync()
	if _, skipped := f.index.list(); len(skipped) != 1 || skipped["MEMORY.md"] == "" {
		t.Errorf("skipped: %q", skipped)
	}
	f.must(os.Remove(f.path("memory.md")))
	f.write("memory.md", "another file")
	f.sync()
	f.holds("MEMORY.md", "a.md", "memory.md")
}

// In a whole folder the watch sees new folders, renames and edits of ignore files.
func TestWatchOfAWholeFolder(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.writeAll("a.md", "sub/b.md")
	f.watching()
	f.writeAll("new/deep/c.md")
	f.shows("new/deep/c.md", "text of new/deep/c.md")
	f.must(os.Rename(f.path("new"), f.path("moved")))
	f.shows("moved/deep/c.md", "text of new/deep/c.md")
	f.gone("new/deep/c.md")
	f.write("sub/.gitignore", "b.md\n")
	f.gone("sub/b.md")
	f.write(".gitignore", "moved/\n")
	f.gone("moved/deep/c.md")
	f.must(os.Remove(f.path(".gitignore")))
	f.shows("moved/deep/c.md", "text of new/deep/c.md")
	f.writeAll("node_modules/x.md", ".obsidian/y.md", "moved/z.md")
	f.shows("moved/z.md", "text of moved/z.md")
	f.holds("a.md", "moved/deep/c.md", "moved/z.md")
}

// While a whole folder is watched, somebody may make memory/ in it, or record that the rest stays indexed.
func TestWatchFollowsTheLayout(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.writeAll("a.md", "sub/b.md")
	f.watching()
	indexed := func(n int) func() bool {
		return func() bool {
			f.index.mu.Lock()
			defer f.index.mu.Unlock()
			return len(f.index.files) == n
		}
	}
	f.writeAll("memory/2026-01-01.md")
	f.until("the rest is gone", indexed(1))
	f.shows("memory/2026-01-01.md", "text of memory/2026-01-01.md")
	f.write(indexer.SettingsFile, "include: ['**/*.md']\n")
	f.until("the rest is back", indexed(3))
	f.write(indexer.SettingsFile, "include: ['**/*.md']\nexclude: ['sub/**']\n")
	f.until("what is excluded now is gone", indexed(2))
	f.write(indexer.SettingsFile, "include: ['**/*.md']\n")
	f.until("what was excluded is back", indexed(3))
}

// Beside counts what the options leave out: no ignored or excluded files, and no more than 10,000.
func TestBesideCountsMarkdownThatIsNotIndexed(t *testing.T) {
	t.Parallel()
	f := setup(t, func(o *indexer.Options) { o.ExtraPaths, o.Exclude = []string{"docs"}, []string{"old"} })
	f.writeAll("MEMORY.md", "memory/a.md", "docs/b.md", "README.md", "x/c.md", "old/d.md", "node_modules/e.md", "gen/f.md", "y/g.txt", "y/h.md")
	f.write(".gitignore", "gen/\n")
	count := func() indexer.Beside {
		b, err := f.x.Beside(t.Context(), time.Minute)
		f.must(err)
		return b
	}
	if got := count(); got != (indexer.Beside{Files: 3}) {
		t.Errorf("counted %+v", got)
	}
	f.writeAll("z.md")
	if got := count(); got.Files != 3 {
		t.Errorf("counted again without a sync: %+v", got)
	}
	f.sync()
	if got := count(); got.Files != 4 {
		t.Errorf("after a sync: %+v", got)
	}
	f.reopen(func(o *indexer.Options) { o.Include = indexer.WholeFolder })
	if got := count(); got != (indexer.Beside{}) {
		t.Errorf("with everything included: %+v", got)
	}
	canceled, err := f.x.Beside(t.Context(), 0)
	if err != nil || canceled != (indexer.Beside{}) {
		t.Errorf("from the last count: %+v, %v", canceled, err)
	}
	f.reopen(func(o *indexer.Options) {})
	if got, err := f.x.Beside(t.Context(), 0); err != nil || !got.More {
		t.Errorf("without time: %+v, %v", got, err)
	}
	for b, want := range map[indexer.Beside]string{{Files: 12}: "12", {Files: 10_000, More: true}: "more than 10,000", {Files: 1_234_567}: "1,234,567"} {
		if b.String() != want {
			t.Errorf("%+v is %q", b, b)
		}
	}
}

// HidesFiles says whether making memory/ would take files out of the index.
func TestHidesFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files   []string
		include []string
		want    bool
	}{
		"whole":         {files: []string{"docs/a.md"}, want: true},
		"empty":         {},
		"nothing else":  {files: []string{"USER.md", "extra/b.md", "a.txt"}},
		"curated":       {files: []string{"MEMORY.md", "docs/a.md"}},
		"with settings": {files: []string{"docs/a.md"}, include: indexer.WholeFolder},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, func(o *indexer.Options) { o.Include, o.ExtraPaths = c.include, []string{"extra"} })
			f.writeAll(c.files...)
			if got, err := f.x.HidesFiles(t.Context()); got != c.want || err != nil {
				t.Errorf("HidesFiles() = %v, %v", got, err)
			}
		})
	}
}

// Hazard K03: a copy is left out while the note is there, and is a note if it is all that is left.
func TestScanLeavesOutCopiesOfConflicts(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	const conflict = "memory/router.sync-conflict-20260120-101010-ABCDEFG.md"
	f.writeAll("memory/router.md", conflict, "memory/alone (conflicted copy 2026-01-22).md", "memory/logseq/bak/pages/a.md", "memory/logseq/notes.md")
	f.sync()
	f.holds("memory/router.md", "memory/alone (conflicted copy 2026-01-22).md", "memory/logseq/notes.md")
	f.skips(conflict, "a copy of router.md that was made in a conflict; put what it has into that file and delete it")
	f.skips("memory/logseq/bak", "a folder of copies that Logseq keeps")
	f.write("memory/logseq/bak/pages/b.md", "text")
	if _, err := f.x.SyncPaths(t.Context(), f.path("memory/logseq/bak/pages/b.md"), f.path(conflict)); err != nil {
		t.Fatal(err)
	}
	f.holds("memory/router.md", "memory/alone (conflicted copy 2026-01-22).md", "memory/logseq/notes.md")
	f.must(os.Remove(f.path("memory/router.md")))
	f.sync()
	f.holds(conflict, "memory/alone (conflicted copy 2026-01-22).md", "memory/logseq/notes.md")
}
