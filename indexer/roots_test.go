package indexer_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kioku/indexer"
)

// Hazard B06: a workspace that is gone keeps its rows, is listed, and causes one event.
func TestSyncKeepsFilesOfMissingWorkspace(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "a")
	f.sync()
	f.must(os.Rename(f.dir, f.dir+".away"))
	for range 5 {
		rep := f.sync()
		if !slices.Equal(rep.Unavailable, []string{f.dir}) || !slices.Equal(f.x.SyncState().Unavailable, []string{f.dir}) {
			t.Fatalf("unavailable: %q", rep.Unavailable)
		}
	}
	f.holds("memory/a.md")
	f.must(os.Rename(f.dir+".away", f.dir))
	if rep := f.sync(); len(rep.Unavailable) != 0 || rep.Read != 0 {
		t.Errorf("report %+v", rep)
	}
	if f.count(indexer.RootUnavailable, f.dir) != 1 || f.count(indexer.RootAvailable, f.dir) != 1 {
		t.Errorf("events: %+v", f.events)
	}
}

// Hazard B06: an emptied workspace may be a disk that is not mounted; it is believed when it stays so.
func TestSyncConfirmsEmptiedWorkspaceAfterThreeScans(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "a")
	f.sync()
	empty := func() {
		f.must(os.RemoveAll(f.dir))
		f.must(os.Mkdir(f.dir, 0o755))
	}
	empty()
	f.sync()
	f.sync()
	f.holds("memory/a.md")
	f.write("memory/a.md", "a")
	f.sync()
	empty()
	for i, want := range []int{1, 1, 0, 0} {
		rep := f.sync()
		if paths, _ := f.index.list(); len(paths) != want || len(rep.Unavailable) != want {
			t.Errorf("scan %d: %q indexed, %q unavailable", i+1, paths, rep.Unavailable)
		}
	}
}

func TestSyncPruneRemovesUnavailableFiles(t *testing.T) {
	t.Parallel()
	for name, vanish := range map[string]func(f *fixture) error{
		"gone":    func(f *fixture) error { return os.RemoveAll(f.dir) },
		"emptied": func(f *fixture) error { return os.RemoveAll(f.path("memory")) },
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t, nil)
			f.write("memory/a.md", "a")
			f.sync()
			f.must(vanish(f))
			f.sync()
			f.holds("memory/a.md")
			f.syncWith(indexer.SyncOptions{Prune: true})
			f.holds()
		})
	}
}

func TestSyncConfirmsEmptiedMemoryFolderBesideOtherFiles(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "a")
	f.write("README.md", "x")
	f.sync()
	f.must(os.RemoveAll(f.path("memory")))
	f.sync()
	f.holds()
}

func TestSyncReportsMissingExtraPaths(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	one, docs, glob := filepath.Join(out, "one.md"), filepath.Join(out, "docs"), filepath.Join(out, "far", "*.md")
	f := setup(t, func(o *indexer.Options) { o.ExtraPaths = []string{one, docs, "notes", glob, "bad[*"} })
	f.write("memory/a.md", "a")
	f.write("notes/n.md", "n")
	f.must(os.WriteFile(one, []byte("1"), 0o644))
	f.must(os.Mkdir(docs, 0o755))
	f.must(os.WriteFile(filepath.Join(docs, "d.md"), []byte("d"), 0o644))
	if rep := f.sync(); len(rep.Unavailable) != 2 {
		t.Errorf("unavailable: %q", rep.Unavailable)
	}
	f.must(os.Remove(one))
	f.must(os.RemoveAll(docs))
	f.must(os.RemoveAll(f.path("notes")))
	rep := f.sync()
	for _, want := range []string{one, docs, "notes"} {
		if !slices.Contains(rep.Unavailable, want) {
			t.Errorf("unavailable: %q, without %s", rep.Unavailable, want)
		}
	}
	f.holds("memory/a.md", "notes/n.md", one, docs+"/d.md")
	// A single file that is missing beside others was deleted; a missing folder never is.
	f.must(os.WriteFile(filepath.Join(out, "other"), nil, 0o644))
	for range 3 {
		f.holds("memory/a.md", "notes/n.md", one, docs+"/d.md")
		f.sync()
	}
	f.holds("memory/a.md", "notes/n.md", docs+"/d.md")
}
