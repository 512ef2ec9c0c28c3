package note

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kioku/memory"
)

// The change log is bounded: a full one is begun anew, and the one before is kept.
func TestChangesAreBounded(t *testing.T) {
	t.Parallel()
	ws, state := workspace(t, map[string]string{"MEMORY.md": "- a\n"}), t.TempDir()
	m := openFolder(t, Options{Path: ws, State: state})
	first := update(t, m, memory.Update{OldText: "a", NewText: "b"})
	fill := func() {
		f, err := os.OpenFile(filepath.Join(state, changesFile), os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = f.WriteString(strings.Repeat(" ", maxChangesBytes) + "\n")
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	second := update(t, m, memory.Update{OldText: "b", NewText: "c"})
	if all, err := m.Revisions(t.Context()); err != nil || len(all) != 2 || all[0].ID != second.Revision || all[1].ID != first.Revision {
		t.Errorf("%+v, %v", all, err)
	}
	fill()
	update(t, m, memory.Update{OldText: "c", NewText: "d"})
	if all, err := m.Revisions(t.Context()); err != nil || len(all) != 2 || all[1].ID != second.Revision {
		t.Errorf("the oldest: %+v, %v", all, err)
	}
}

// Several processes add changes and purge them at the same time, and none of the others is lost.
func TestChangesOfManyWritersAreAllThere(t *testing.T) {
	t.Parallel()
	l := changeLog{dir: filepath.Join(t.TempDir(), "note")}
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 20 {
				c := change{ID: fmt.Sprint(w, "-", i), Path: fmt.Sprint(w, ".md"), After: "x"}
				if err := l.add(t.Context(), c); err != nil {
					t.Error(err)
				}
				if _, err := l.purge(t.Context(), func(c change) bool { return w == 0 && c.Path == "0.md" }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if all, err := l.read(); err != nil || len(all) != 60 {
		t.Errorf("%d changes, %v", len(all), err)
	}
}

// An update that failed is no revision.
func TestUpdateThatFailedIsNoRevision(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "- a\n"})
	if err := os.Link(filepath.Join(ws, "MEMORY.md"), filepath.Join(ws, "second.md")); err != nil {
		t.Fatal(err)
	}
	m := openFolder(t, Options{Path: ws})
	if _, err := m.Update(t.Context(), memory.Update{OldText: "a", NewText: "b"}); !errors.Is(err, memory.ErrNotWritable) && !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("a file with two names: %v", err)
	}
	if all, err := m.Revisions(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
