package indexer_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kioku/indexer"
)

// reopen makes another indexer of the same folder and index, with other options.
func (f *fixture) reopen(change func(*indexer.Options)) {
	opt := indexer.Options{Workspace: f.dir, Now: f.now, Notify: f.note}
	change(&opt)
	f.x = indexer.New(f.split, f.index, opt)
}

// outOfScope fails the test unless exactly these files are marked.
func (f *fixture) outOfScope(want ...string) {
	f.Helper()
	marked := map[string]bool{}
	for p, file := range f.index.files {
		if file.OutOfScope {
			marked[p] = true
		}
	}
	for _, p := range want {
		if !marked[p] {
			f.Errorf("%s is in scope", p)
		}
		delete(marked, p)
	}
	if len(marked) > 0 {
		f.Errorf("out of scope too: %v", marked)
	}
}

// Hazard B24: a sync with other options never empties an index: files that these do not include are marked, and come back without being
// read when the options return.
func TestSyncWithOtherOptionsKeepsFiles(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "x.md"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	talk := t.TempDir()
	if err := os.WriteFile(filepath.Join(talk, "s.jsonl"), []byte("said"), 0o644); err != nil {
		t.Fatal(err)
	}
	with := func(o *indexer.Options) {
		o.Include, o.ExtraPaths = []string{"docs"}, []string{out, "more"}
		o.Sessions = indexer.Sessions{Folder: talk, Spoken: func(line []byte) (string, string) { return string(line), "" }}
	}
	f := setup(t, with)
	f.writeAll("MEMORY.md", "docs/a.md", "docs/b.md", "more/c.md")
	f.sync()
	all := []string{out + "/x.md", "MEMORY.md", "docs/a.md", "docs/b.md", "more/c.md", "sessions/s.jsonl"}
	f.holds(all...)

	f.reopen(func(o *indexer.Options) {})
	if rep := f.sync(); rep.Removed > 0 {
		t.Errorf("report %+v", rep)
	}
	f.holds(all...)
	f.outOfScope(slices.DeleteFunc(slices.Clone(all), func(p string) bool { return p == "MEMORY.md" })...)
	commits := len(f.index.commits)
	f.sync()
	if len(f.index.commits) != commits {
		t.Errorf("a second sync wrote %v", f.index.commits[commits:])
	}

	f.reopen(with)
	if rep := f.sync(); rep.Files > 0 || rep.Read > 0 {
		t.Errorf("the files were read and written again: %+v", rep)
	}
	f.outOfScope()

	f.reopen(func(o *indexer.Options) { o.Exclude = []string{"MEMORY.md"} })
	f.sync()
	f.outOfScope(all...)
	f.syncWith(indexer.SyncOptions{RemoveOutOfScope: true})
	f.holds()
}

// What was deleted, or what an ignore file newly excludes, is removed at once, also if it is out of scope.
func TestSyncRemovesDeletedAndIgnoredFilesOutOfScope(t *testing.T) {
	t.Parallel()
	with := func(o *indexer.Options) { o.Include, o.ExtraPaths = indexer.WholeFolder, []string{"more"} }
	f := setup(t, with)
	f.writeAll("MEMORY.md", "docs/a.md", "docs/b.md", "docs/c.md", "docs/d.md", "more/e.md")
	f.sync()
	f.must(os.Remove(f.path("docs/a.md")))
	f.reopen(func(o *indexer.Options) {})
	f.sync()
	f.outOfScope("docs/b.md", "docs/c.md", "docs/d.md", "more/e.md")
	f.must(os.Remove(f.path("docs/b.md")))
	f.write(".gitignore", "c.md\nd.md\nmore\n") // does not apply to extra paths
	f.sync()
	f.holds("MEMORY.md", "more/e.md")
	f.reopen(with)
	f.write(".gitignore", "docs\n")
	f.sync()
	f.holds("MEMORY.md", "more/e.md")
}

// A file that changes while it is out of scope is indexed again when it comes back.
func TestSyncReadsWhatChangedOutOfScope(t *testing.T) {
	t.Parallel()
	with := func(o *indexer.Options) { o.Include = indexer.WholeFolder }
	f := setup(t, with)
	f.writeAll("MEMORY.md", "a.md", "b.md")
	f.sync()
	f.reopen(func(o *indexer.Options) {})
	f.sync()
	f.outOfScope("a.md", "b.md")
	f.write("a.md", "new")
	f.must(os.Chtimes(f.path("b.md"), f.now(), f.now().Add(-3600e9)))
	f.reopen(with)
	if rep := f.sync(); rep.Files != 1 || rep.Read != 2 {
		t.Errorf("report %+v", rep)
	}
	f.outOfScope()
	f.has("a.md", "new")
}

// A rebuild that nobody asked for keeps what is out of scope, and one that a person asked for does not.
func TestRebuildKeepsWhatIsOutOfScope(t *testing.T) {
	t.Parallel()
	f := setup(t, func(o *indexer.Options) { o.Include = indexer.WholeFolder })
	f.writeAll("MEMORY.md", "a.md", "d/b.md")
	f.sync()
	f.reopen(func(o *indexer.Options) {})
	f.index.stale = "chunking changed"
	f.sync()
	f.holds("MEMORY.md", "a.md", "d/b.md")
	f.outOfScope("a.md", "d/b.md")
	if _, err := f.x.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	f.holds("MEMORY.md")
}
