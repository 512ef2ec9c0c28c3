package kioku

import (
	"path/filepath"
	"strings"
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
	got, err := m.ForgetPast(t.Context(), []string{"memory/new.md", "MEMORY.md", "MEMORY.md"}, nil)
	want := []string{
		"MEMORY.md in the journal of old notes, until: kioku history purge MEMORY.md", "MEMORY.md in the history of git, which Kioku does not change: git filter-repo can",
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
	if got, err := m.ForgetPast(t.Context(), []string{"MEMORY.md"}, nil); len(got) > 0 || err != nil {
		t.Errorf("ForgetPast = %q, %v", got, err)
	}
}

// What an earlier version has kept may have the text: whoever forgets learns of it, and how it is removed.
func TestForgetPastNamesWhatEarlierVersionsKept(t *testing.T) {
	t.Parallel()
	m := openMemory(t, Options{Workspace: workspace(t, map[string]string{"MEMORY.md": "- Ines lives in Porto.\n"})})
	syncWhole(t, m)
	writeFile(t, filepath.Join(m.stateOf("journal"), "log"), "Porto\n")
	writeFile(t, m.stateOf("writes.jsonl"), "Porto\n")
	got, err := m.ForgetPast(t.Context(), []string{"MEMORY.md"}, []string{"Porto"})
	want := []string{"perhaps in journal, writes.jsonl of an earlier version of kioku in the folder of the agent's state, until: kioku history purge MEMORY.md"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("still kept (-want +got):\n%s%v", diff, err)
	}
	if _, err := m.PurgeHistory(t.Context(), "MEMORY.md"); err != nil {
		t.Fatal(err)
	}
	if got, err = m.ForgetPast(t.Context(), []string{"MEMORY.md"}, []string{"Porto"}); len(got) > 0 || err != nil {
		t.Errorf("after the purge: %q, %v", got, err)
	}
}

// The changes that undo knows have the text too: they go, and whoever forgets learns of the copies of other tools.
func TestForgetPastRemovesChanges(t *testing.T) {
	t.Parallel()
	m := openMemory(t, Options{Workspace: workspace(t, map[string]string{"MEMORY.md": "- Ines lives in Porto.\n", "USER.md": "- Ines lives in Porto.\n"})})
	syncWhole(t, m)
	for _, u := range []memory.Update{
		{Path: "MEMORY.md", OldText: "Porto", NewText: "Lisbon"}, {Path: "MEMORY.md", OldText: "Lisbon", NewText: "Faro"},
		{Path: "USER.md", OldText: "Porto", NewText: "Braga"},
	} {
		if _, err := m.Update(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(m.stateOf("kept"), "20260105T124000-000000000Z-restore", "MEMORY.md"), "- Ines lives in Porto.\n")
	remaining := func(path, said string) string {
		t.Helper()
		got, err := m.ForgetPast(t.Context(), []string{path}, []string{said})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(got, "\n")
	}
	if p, err := m.PurgeHistory(t.Context(), "USER.md"); p.Copies != 1 || err != nil {
		t.Errorf("PurgeHistory = %+v, %v", p, err)
	}
	if got := remaining("MEMORY.md", "lives in Faro"); got != "" {
		t.Errorf("Faro: %s", got)
	}
	if got := remaining("MEMORY.md", "lives in Porto"); !strings.Contains(got, "-restore in the folder") {
		t.Errorf("Porto: %s", got)
	}
	if log := read(t, m.stateOf("note"), "changes.jsonl"); strings.Contains(log, "Porto") || strings.Contains(log, "Faro") || strings.Contains(log, "Braga") {
		t.Errorf("the changes still say: %s", log)
	}
	if revisions, err := m.Revisions(t.Context()); err != nil || len(revisions) > 0 {
		t.Errorf("revisions: %+v, %v", revisions, err)
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
