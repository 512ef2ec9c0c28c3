package kioku

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
)

// Hazard I03: what is forgotten is in no index of the past, and whoever forgets learns where old versions of the notes are kept.
func TestForgetPastNamesWhatIsKept(t *testing.T) {
	t.Parallel()
	m := openMemory(t, Options{Workspace: inPorto(t), History: HistoryOptions{Journal: true}})
	syncWhole(t, m)
	if _, err := m.SearchPast(t.Context(), memory.Query{Text: "where does Ines live"}, memory.Moment{Time: october(2)}); err != nil {
		t.Fatal(err)
	}
	if kept := filesIn(t, m.stateOf("past")); len(kept) == 0 {
		t.Fatal("no index of the past was made")
	}
	got, err := m.ForgetPast(t.Context(), []string{"memory/new.md", "MEMORY.md", "MEMORY.md"})
	want := []string{
		"MEMORY.md in the journal of old notes, until: kioku history purge MEMORY.md", "MEMORY.md in the history of git, which Kioku does not change",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("still kept (-want +got):\n%s%v", diff, err)
	}
	if kept := filesIn(t, m.stateOf("past")); len(kept) > 0 {
		t.Errorf("indexes of the past stay: %q", kept)
	}
}

func TestForgetPastOfAFolderWithoutAHistory(t *testing.T) {
	t.Parallel()
	m := openMemory(t, Options{Workspace: workspace(t, map[string]string{"MEMORY.md": "- Ines lives in Porto.\n"})})
	syncWhole(t, m)
	if got, err := m.ForgetPast(t.Context(), []string{"MEMORY.md"}); len(got) > 0 || err != nil {
		t.Errorf("ForgetPast = %q, %v", got, err)
	}
}

// filesIn returns the names in a folder, none if there is no such folder.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
