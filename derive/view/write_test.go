package view_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/view"
	"kioku/memory"
)

// workspace is a folder with views in derived/.
type workspace struct {
	t    *testing.T
	dir  string
	root *os.Root
}

func newWorkspace(t *testing.T) workspace {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return workspace{t, dir, root}
}

// write writes the views of units and returns what has changed.
func (w workspace) write(in view.Input) view.Result {
	w.t.Helper()
	result, err := view.Write(w.root, "derived", view.Render(in))
	if err != nil {
		w.t.Fatal(err)
	}
	return result
}

func (w workspace) path(rel string) string {
	return filepath.Join(w.dir, "derived", filepath.FromSlash(rel))
}

func (w workspace) read(rel string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(rel))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func (w workspace) put(rel, content string) {
	w.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(w.path(rel)), 0o755), os.WriteFile(w.path(rel), []byte(content), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

// files returns all files and folders below derived/.
func (w workspace) files() []string {
	w.t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(w.path("")), ".", func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return names
}

func TestWriteBringsTheFolderInStep(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	first := w.write(month())
	all := []string{"conflicts.md", "facts.md", "loops.md", "people/Dario.md", "people/佐藤 はるか.md", "topics/Acme - Beta.md", "topics/x - -script-alert(1)--script.md", "week/2026-W47.md"}
	if diff := cmp.Diff(view.Result{Written: all}, first); diff != "" {
		t.Fatal(diff)
	}
	if again := w.write(month()); !cmp.Equal(again, view.Result{}) {
		t.Errorf("the same views again: %+v", again)
	}
	in := month()
	in.Units = slices.DeleteFunc(in.Units, func(u memory.Unit) bool {
		return u.Summary != nil || u.Fact != nil && u.Fact.Subject.Name == "佐藤 はるか"
	})
	want := view.Result{Written: []string{"conflicts.md", "facts.md", "people/Dario.md"}, Removed: []string{"people/佐藤 はるか.md", "topics/Acme - Beta.md", "week/2026-W47.md"}}
	if diff := cmp.Diff(want, w.write(in)); diff != "" {
		t.Error(diff)
	}
	left := []string{".", "conflicts.md", "facts.md", "loops.md", "people", "people/Dario.md", "topics", "topics/x - -script-alert(1)--script.md"}
	if diff := cmp.Diff(left, w.files()); diff != "" {
		t.Error(diff)
	}
}

func TestWriteLeavesEditedViewsAlone(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.write(month())
	for _, rel := range []string{"facts.md", "week/2026-W47.md"} {
		w.put(rel, w.read(rel)+"mine\n")
	}
	in := month()
	in.Units = in.Units[:1]
	result := w.write(in)
	if diff := cmp.Diff([]string{"facts.md", "week/2026-W47.md"}, result.Edited); diff != "" {
		t.Error(diff)
	}
	for _, rel := range result.Edited {
		if !strings.HasSuffix(w.read(rel), "mine\n") {
			t.Errorf("%s was replaced", rel)
		}
	}
	if err := os.Remove(w.path("facts.md")); err != nil {
		t.Fatal(err)
	}
	if result := w.write(in); !slices.Contains(result.Written, "facts.md") {
		t.Errorf("a view that was deleted is not written again: %+v", result)
	}
}

func TestWriteNeverTouchesFilesOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.write(month())
	own := map[string]string{"decisions.md": "---\nkioku: derived\n---\n# Decisions\n", "mine.md": "# Mine\n", "people/mine.md": "mine", "other/facts.md": "mine",
		"people/copy of Dario.md": w.read("people/Dario.md"), "week/notes.txt": "mine"}
	for rel, content := range own {
		w.put(rel, content)
	}
	result := w.write(view.Input{})
	if len(result.Removed) != 5 {
		t.Errorf("removed %q", result.Removed)
	}
	for rel, content := range own {
		if got := w.read(rel); got != content {
			t.Errorf("%s is %q", rel, got)
		}
	}
}

func TestWriteFollowsNoLinks(t *testing.T) {
	t.Parallel()
	w, outside := newWorkspace(t), t.TempDir()
	w.put("topics", "a file where a folder is needed")
	target := filepath.Join(outside, "facts.md")
	if err := errors.Join(os.WriteFile(target, []byte("outside"), 0o644), os.Symlink(target, w.path("facts.md")), os.Symlink(outside, w.path("people"))); err != nil {
		t.Fatal(err)
	}
	result := w.write(month())
	want := []string{"facts.md", "people/Dario.md", "people/佐藤 はるか.md", "topics/Acme - Beta.md", "topics/x - -script-alert(1)--script.md"}
	if diff := cmp.Diff(want, result.Edited); diff != "" {
		t.Error(diff)
	}
	entries, err := os.ReadDir(outside)
	data, readErr := os.ReadFile(target)
	if err != nil || readErr != nil || len(entries) != 1 || string(data) != "outside" {
		t.Errorf("outside: %v %q, %v %v", entries, data, err, readErr)
	}
	if err := os.Symlink(outside, filepath.Join(w.dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if _, err := view.Write(w.root, "elsewhere", view.Render(month())); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("into a link to a folder: %v", err)
	}
}
