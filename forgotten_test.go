package kioku

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
)

// A correction by a model is marked as its own, in one line, and has no secrets; one that stands nowhere is an error.
func TestCorrectionsOfModelsAreMarked(t *testing.T) {
	t.Parallel()
	ws, _ := gate(t)
	m := openMemory(t, Options{Workspace: ws})
	syncWhole(t, m)
	forget(t, m, memory.Forget{Text: "The gate code is 4711.", Source: memory.NoteFromTool,
		NewText: "The gate has a card reader\nwith the key sk-" + "proj-Ab3dE6gH9jK2mN5pQ8sT1vX4z9f2a."})
	all := read(t, ws, "MEMORY.md") + read(t, ws, "memory/2026-01-05.md")
	if strings.Contains(all, "Ab3dE6") || !strings.Contains(all, "- The gate has a card reader with the key") || !strings.Contains(all, "from="+memory.NoteFromTool) {
		t.Errorf("%s", all)
	}
}

// What was forgotten is not in headings, nor in what explains a hit.
func TestForgottenIsInNoHeading(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"memory/plans.md": "# The gate code is 4711\n\nAsk Dario, who lives beside it, before noon.\n"})
	m := openMemory(t, Options{Workspace: ws})
	syncWhole(t, m)
	old := read(t, ws, "memory/plans.md")
	forget(t, m, memory.Forget{Text: "The gate code is 4711"})
	writeFile(t, filepath.Join(ws, "memory/plans.md"), old)
	syncWhole(t, m)
	ex, err := m.Explain(t.Context(), memory.Query{Text: "whom to ask before noon?"}, "memory/plans.md", 3)
	if err != nil || ex.Passage == nil {
		t.Fatalf("%+v, %v", ex, err)
	}
	for _, h := range append(ex.Answer.Hits, *ex.Passage) {
		if strings.Contains(h.Headings+h.Snippet, "4711") {
			t.Errorf("%+v", h)
		}
	}
}

// A sentence is forgotten whole wherever its lines end, and what stood behind it stays where it was.
func TestForgetTakesWrappedSentences(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{
		"MEMORY.md":     "# Memory\r\n\r\n- Anna likes tea.\r\n- The gate code is 4711.\r\n  It is below the bell.\r\n",
		"memory/old.md": "The password of the guest wifi in the office is\nKranich-Sommer since last week. Ask Dario.\n\n```\nThe gate code is 4711.\nls\n```\n",
	})
	m := openMemory(t, Options{Workspace: ws})
	forget(t, m, memory.Forget{Text: "The gate code is 4711."})
	forget(t, m, memory.Forget{Text: "the password of the guest wifi"})
	if diff := cmp.Diff("# Memory\r\n\r\n- Anna likes tea.\r\n- It is below the bell.\r\n", read(t, ws, "MEMORY.md")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("Ask Dario.\n\n```\nls\n```\n", read(t, ws, "memory/old.md")); diff != "" {
		t.Error(diff)
	}
}

// What a person writes holds again, by a correction back, an update or a note; only that, and not what else was forgotten with it.
func TestWhatPeopleWriteHoldsAgain(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "# Memory\n\n- Our releases are on Tuesdays.\n- The office is in Porto.\n- The cellar code is 1234.\n"})
	m := openMemory(t, Options{Workspace: ws})
	syncWhole(t, m)
	correct := func(old, to string) {
		t.Helper()
		forget(t, m, memory.Forget{Text: old, NewText: to, Source: memory.NoteFromUser})
	}
	correct("Our releases are on Tuesdays.", "Our releases are on Thursdays.")
	correct("Our releases are on Thursdays.", "Our releases are on Tuesdays.")
	found, err := m.Forget(t.Context(), memory.Forget{Text: "The office is in Porto."})
	if err != nil {
		t.Fatal(err)
	}
	cellar, err := m.Forget(t.Context(), memory.Forget{Text: "The cellar code is 1234."})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Forget(t.Context(), memory.Forget{Places: []string{found.Places[0].Place, cellar.Places[0].Place}}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Update(t.Context(), memory.Update{OldText: "Our releases are on Tuesdays.", NewText: "Our releases are on Tuesdays. The office is in Porto.", Source: memory.NoteFromUser}); err != nil {
		t.Fatal(err)
	}
	syncWhole(t, m)
	for query, want := range map[string]string{"when are our releases?": "Tuesdays", "where is the office?": "Porto"} {
		if a := answer(t, m, query); !hasSnippet(a, want) {
			t.Errorf("%s: %+v", query, a.Hits)
		}
	}
	if a, err := m.Append(t.Context(), memory.Note{Text: "The cellar code is 1234.", Source: memory.NoteFromAgent}); err != nil || a.Forgotten == "" {
		t.Errorf("what was forgotten with it holds again: %+v, %v", a, err)
	}
}

// Titles, links, headings, differences, and the lists of updates have nothing of what was forgotten, and an undo does not bring it back.
func TestForgottenIsNowhereShown(t *testing.T) {
	t.Parallel()
	const code = "The gate code is 4711"
	ws := workspace(t, map[string]string{
		"MEMORY.md":       "# Memory\n\n- Ines drinks tea.\n",
		"memory/plans.md": "# " + code + "\n\nAsk Dario. See [" + code + "](../notes.md).\n",
	})
	m := openMemory(t, Options{Workspace: ws, History: HistoryOptions{Journal: true}})
	syncWhole(t, m)
	revision, err := m.Update(t.Context(), memory.Update{OldText: "Ines drinks tea.", NewText: code, Source: memory.NoteFromUser})
	if err != nil {
		t.Fatal(err)
	}
	second, err := m.Update(t.Context(), memory.Update{OldText: code, NewText: "Ines drinks milk.", Source: memory.NoteFromUser})
	if err != nil {
		t.Fatal(err)
	}
	syncWhole(t, m)
	old := read(t, ws, "memory/plans.md")
	forget(t, m, memory.Forget{Text: code})
	writeFile(t, filepath.Join(ws, "memory/plans.md"), old)
	syncWhole(t, m)
	var shown []any
	add := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
		shown = append(shown, v)
	}
	list, err := m.Files(t.Context(), memory.FileQuery{})
	add(list, err)
	links, err := m.Links(t.Context(), "memory/plans.md")
	add(links, err)
	chunks, err := m.Chunks(t.Context(), "memory/plans.md")
	add(chunks, err)
	revisions, err := m.Revisions(t.Context())
	add(revisions, err)
	tidied, err := m.Tidy(t.Context(), nil)
	add(tidied, err)
	if all, err := json.Marshal(shown); err != nil || strings.Contains(string(all), "4711") || len(list.Files) != 2 || len(links.Out) != 1 {
		t.Errorf("%s, %v", all, err)
	}
	if _, err := m.Undo(t.Context(), second.Revision); err == nil {
		t.Errorf("%s brings it back: %s", revision.Revision, read(t, ws, "MEMORY.md"))
	}
}
