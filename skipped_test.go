package kioku

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
	"kioku/memory"
)

// Hazards B12, D10: an answer says that curated and daily files are not indexed, until they are.
func TestSearchSaysWhichNotesAreSkipped(t *testing.T) {
	ws := workspace(t, map[string]string{"MEMORY.md": strings.Repeat("- tea\n", 200), "memory/2026-01-05.md": "The lighthouse opens at nine.", "memory/large.md": strings.Repeat("x", 2000)})
	m := synced(t, Options{Workspace: ws, Index: IndexOptions{MaxFileBytes: 1000}})
	ask := func() (found, status []memory.Degradation) {
		a, err := m.Search(t.Context(), memory.Query{Text: "lighthouse"})
		if err != nil {
			t.Fatal(err)
		}
		st, err := m.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return a.Degraded, st.Degraded
	}
	want := []memory.Degradation{{Code: memory.FilesSkipped, Text: "a file of notes is not indexed: MEMORY.md (larger than 1000 bytes)"}}
	found, status := ask()
	if diff := cmp.Diff([][]memory.Degradation{want, want}, [][]memory.Degradation{found, status}); diff != "" {
		t.Error(diff)
	}
	// An empty answer counts all files that could not be indexed.
	two := memory.Degradation{Code: memory.FilesBeside, Text: "2 files are not indexed (kioku status says why)."}
	if a, err := m.Search(t.Context(), memory.Query{Text: "zeppelin"}); err != nil || !slices.Contains(a.Degraded, two) {
		t.Errorf("%+v, %v", a.Degraded, err)
	}
	for i := range 4 {
		testkit.WriteFile(t, ws, fmt.Sprintf("memory/2026-02-0%d.md", i+1), strings.Repeat("x", 2000))
	}
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if found, _ := ask(); len(found) != 1 || !strings.HasPrefix(found[0].Text, "5 files of notes") || !strings.HasSuffix(found[0].Text, ", and 2 more") {
		t.Errorf("five files: %+v", found)
	}
	for i := range 4 {
		if err := os.Remove(filepath.Join(ws, fmt.Sprintf("memory/2026-02-0%d.md", i+1))); err != nil {
			t.Fatal(err)
		}
	}
	testkit.WriteFile(t, ws, "MEMORY.md", "- tea\n")
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if found, status := ask(); len(found)+len(status) > 0 {
		t.Errorf("nothing is skipped: %+v, %+v", found, status)
	}
}
