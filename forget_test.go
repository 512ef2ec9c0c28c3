package kioku

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
	"kioku/note/forgotten"
)

// gate is a folder in which four sentences say the code of a gate, one of them in a file that Kioku does not change.
func gate(t *testing.T) (ws, outside string) {
	t.Helper()
	outside = t.TempDir()
	writeFile(t, filepath.Join(outside, "handbook.md"), "# Handbook\n\nAsk at the desk. The gate code is 4711.\n")
	return workspace(t, map[string]string{
		"MEMORY.md":            "# Memory\n\n- The gate code is 4711.\n- Ines prefers tea.\n",
		"memory/2026-01-05.md": "# 2026-01-05\n\n## 09:30 - fact\n\nDario called. The code of the gate is 4711, he says. Buy milk.\n\n## 10:00 - fact\n\nThe gate code is 4711.\n",
	}), outside
}

// forget forgets what a text certainly finds.
func forget(t *testing.T, m *Memory, r memory.Forget) memory.Forgotten {
	t.Helper()
	found, err := m.Forget(t.Context(), memory.Forget{Text: r.Text})
	if err != nil || len(found.Places) == 0 || found.ID != "" {
		t.Fatalf("%+v, %v", found, err)
	}
	r.Text = ""
	for _, p := range found.Places {
		if !p.Weak && p.Place != "" {
			r.Places = append(r.Places, p.Place)
		}
	}
	done, err := m.Forget(t.Context(), r)
	if err != nil || done.ID == "" {
		t.Fatalf("%+v, %v", done, err)
	}
	return done
}

// says returns where the code can still be read.
func says(t *testing.T, m *Memory) (where []string) {
	t.Helper()
	for _, query := range []string{"what is the code of the gate?", "4711", "gate"} {
		a, err := m.Search(t.Context(), memory.Query{Text: query, MaxResults: 20, Granularity: memory.GranularityChunk})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range a.Hits {
			if strings.Contains(h.Snippet, "4711") {
				where = append(where, "search "+query+": "+h.Path)
			}
		}
	}
	files, err := m.Files(t.Context(), memory.FileQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files.Files {
		got, err := m.Get(t.Context(), memory.GetRequest{Path: f.Path})
		if err != nil || strings.Contains(got.Text, "4711") {
			where = append(where, "get "+f.Path)
		}
		source, err := m.ReadSource(t.Context(), f.Path)
		if err != nil && !errors.Is(err, memory.ErrConflict) || strings.Contains(string(source.Data), "4711") {
			where = append(where, "source "+f.Path)
		}
	}
	return where
}

// answer searches for a text.
func answer(t *testing.T, m *Memory, text string) memory.Answer {
	t.Helper()
	a, err := m.Search(t.Context(), memory.Query{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// What is forgotten goes from all notes that say it, in other words too, and from nothing else; what stands in a file of others is not shown.
func TestForgetRemovesWhatIsSaid(t *testing.T) {
	t.Parallel()
	ws, outside := gate(t)
	m := openMemory(t, Options{Workspace: ws, Index: IndexOptions{ExtraPaths: []string{outside}}, Now: clock("2026-01-06T12:00:00Z")})
	syncWhole(t, m)
	done := forget(t, m, memory.Forget{Text: "what is the gate code?"})
	if n := len(done.Places); n != 4 || done.Until.IsZero() {
		t.Errorf("%d places: %+v", n, done)
	}
	if diff := cmp.Diff("# Memory\n\n- Ines prefers tea.\n", read(t, ws, "MEMORY.md")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("# 2026-01-05\n\n## 09:30 - fact\n\nDario called. Buy milk.\n", read(t, ws, "memory/2026-01-05.md")); diff != "" {
		t.Error(diff)
	}
	if text := read(t, outside, "handbook.md"); !strings.Contains(text, "4711") {
		t.Errorf("a file of others was changed: %s", text)
	}
	if where := says(t, m); len(where) > 0 {
		t.Errorf("at once it is still in %q", where)
	}
	if stones := read(t, ws, forgotten.File); strings.Contains(stones, "4711") || strings.Contains(stones, "gate") {
		t.Errorf("the tombstone has the text: %s", stones)
	}
	syncWhole(t, m)
	if a := answer(t, m, "who called?"); !hasSnippet(a, "Dario called. Buy milk.") {
		t.Errorf("the rest is lost: %+v", a.Hits)
	}
}

// Nothing that happens afterwards brings back what was forgotten: syncs, rebuilds, restarts, notes that models write, old files that come
// back. What a person writes holds again.
func TestForgottenDoesNotComeBack(t *testing.T) {
	t.Parallel()
	ws, outside := gate(t)
	state := t.TempDir()
	opt := Options{Workspace: ws, StateDir: state, Index: IndexOptions{ExtraPaths: []string{outside}}, Now: clock("2026-01-06T12:00:00Z"), History: HistoryOptions{Journal: true}}
	m := openMemory(t, opt)
	syncWhole(t, m)
	old := map[string]string{"MEMORY.md": read(t, ws, "MEMORY.md"), "memory/2026-01-05.md": read(t, ws, "memory/2026-01-05.md")}
	forget(t, m, memory.Forget{Text: "what is the gate code?"})
	added := func(source string) memory.Appended {
		a, err := m.Append(t.Context(), memory.Note{Text: "Ines is away. The code of the gate is 4711.", Source: source})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"sync", func() { syncWhole(t, m) }},
		{"rebuild", func() {
			if _, err := m.Rebuild(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}},
		{"flush", func() {
			if a := added(memory.NoteFromFlush); a.Forgotten == "" {
				t.Errorf("%+v", a)
			}
		}},
		{"agent", func() {
			if a := added(memory.NoteFromAgent); a.Forgotten == "" {
				t.Errorf("%+v", a)
			}
		}},
		{"tool", func() { added(memory.NoteFromTool) }},
		{"program", func() { added("") }},
		{"update", func() {
			_, err := m.Update(t.Context(), memory.Update{OldText: "Ines prefers tea.", NewText: "Ines prefers tea. The gate code is 4711.", Source: memory.NoteFromAgent})
			if _, ok := errors.AsType[*memory.InputError](err); !ok {
				t.Errorf("an update brings it back: %v", err)
			}
		}},
		{"other words of a model", func() {
			for _, said := range []string{"4711 opens the gate.", "Use 4711 for the gate.", "The code of the\ngate is 4711.", "The user said that the gate code is 4711, and that it opens the side door of the garage too."} {
				if a, err := m.Append(t.Context(), memory.Note{Text: said, Source: memory.NoteFromAgent}); err != nil || a.Forgotten == "" || a.Path != "" {
					t.Errorf("%q: %+v, %v", said, a, err)
				}
			}
		}},
		{"the past", func() {
			a, err := m.SearchPast(t.Context(), memory.Query{Text: "gate code"}, memory.Moment{Time: time.Now()})
			if err == nil && slices.ContainsFunc(a.Hits, func(h memory.Hit) bool { return strings.Contains(h.Snippet, "4711") }) {
				t.Errorf("the past has it: %+v", a.Hits)
			}
		}},
		{"an old copy", func() {
			for name, text := range old {
				writeFile(t, filepath.Join(ws, name), text)
			}
			syncWhole(t, m)
		}},
		{"another file", func() {
			writeFile(t, filepath.Join(ws, "memory/imported.md"), "# Imported\n\n> The **gate code** is\n> 4711. Ask Dario.\n")
			syncWhole(t, m)
		}},
		{"restart", func() {
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			m = openMemory(t, opt)
			syncWhole(t, m)
		}},
		{"a new index", func() {
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			opt.StateDir = t.TempDir()
			m = openMemory(t, opt)
			syncWhole(t, m)
		}},
	} {
		step.do()
		if where := says(t, m); len(where) > 0 {
			t.Errorf("after %s it is in %q", step.name, where)
		}
	}
	if a := added(memory.NoteFromUser); a.Forgotten != "" {
		t.Errorf("a person may not say it again: %+v", a)
	}
	syncWhole(t, m)
	if !slices.ContainsFunc(says(t, m), func(w string) bool { return strings.HasPrefix(w, "search") }) {
		t.Error("what a person has said again is not found")
	}
}

// A correction takes the place of what was said, once, and the new text is found.
func TestForgetCorrects(t *testing.T) {
	t.Parallel()
	ws, outside := gate(t)
	m := openMemory(t, Options{Workspace: ws, Index: IndexOptions{ExtraPaths: []string{outside}}})
	syncWhole(t, m)
	forget(t, m, memory.Forget{Text: "what is the gate code?", NewText: "The gate code is 5822.", Reason: "it was changed"})
	syncWhole(t, m)
	all := read(t, ws, "MEMORY.md") + read(t, ws, "memory/2026-01-05.md")
	if strings.Count(all, "5822") != 1 || strings.Contains(all, "4711") {
		t.Errorf("%s", all)
	}
	if a := answer(t, m, "what is the gate code?"); !hasSnippet(a, "5822") {
		t.Errorf("%+v", a.Hits)
	}
	if where := says(t, m); len(where) > 0 {
		t.Errorf("the old one is in %q", where)
	}
}

// What was forgotten can be taken back for 30 days. After that its text is nowhere.
func TestForgetIsTakenBack(t *testing.T) {
	t.Parallel()
	ws, outside := gate(t)
	now, state := time.Date(2026, 1, 6, 12, 0, 0, 0, time.UTC), t.TempDir()
	m := openMemory(t, Options{Workspace: ws, StateDir: state, Index: IndexOptions{ExtraPaths: []string{outside}}, Now: func() time.Time { return now }})
	syncWhole(t, m)
	before := read(t, ws, "MEMORY.md") + read(t, ws, "memory/2026-01-05.md")
	done := forget(t, m, memory.Forget{Text: "what is the gate code?"})
	if list, err := m.Revisions(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("the list of updates has it: %+v, %v", list, err)
	}
	if _, err := m.Forget(t.Context(), memory.Forget{Undo: done.ID}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, read(t, ws, "MEMORY.md")+read(t, ws, "memory/2026-01-05.md")); diff != "" {
		t.Error(diff)
	}
	syncWhole(t, m)
	if a := answer(t, m, "what is the gate code?"); !hasSnippet(a, "4711") {
		t.Errorf("it is not found again: %+v", a.Hits)
	}
	if _, err := m.Forget(t.Context(), memory.Forget{Undo: done.ID}); err == nil {
		t.Error("it is taken back twice")
	}
	done = forget(t, m, memory.Forget{Text: "what is the gate code?"})
	now = now.Add(31 * 24 * time.Hour)
	syncWhole(t, m)
	_ = filepath.WalkDir(state, func(name string, d os.DirEntry, err error) error {
		if text, _ := os.ReadFile(name); strings.HasSuffix(name, ".jsonl") && strings.Contains(string(text), "4711") {
			t.Errorf("%s has the text after 31 days", name)
		}
		return err
	})
	if _, err := m.Forget(t.Context(), memory.Forget{Undo: done.ID}); err == nil {
		t.Error("it is taken back after 31 days")
	}
}

// The sentence that is asked for is certain wherever it stands, also where a search leaves it out because others say the same; another one with
// its words is not.
func TestForgetFindsAllThatSayIt(t *testing.T) {
	t.Parallel()
	ws, _ := gate(t)
	m := openMemory(t, Options{Workspace: ws})
	syncWhole(t, m)
	found, err := m.Forget(t.Context(), memory.Forget{Text: "The gate code is 4711."})
	if err != nil {
		t.Fatal(err)
	}
	certain := 0
	for _, p := range found.Places {
		if !p.Weak && strings.Contains(p.Text, "4711") {
			certain++
		}
	}
	if certain != 2 {
		t.Errorf("%d are certain: %+v", certain, found.Places)
	}
}

// Bad requests change nothing.
func TestForgetRefuses(t *testing.T) {
	t.Parallel()
	ws, _ := gate(t)
	m := openMemory(t, Options{Workspace: ws})
	syncWhole(t, m)
	found, err := m.Forget(t.Context(), memory.Forget{Text: "what is the gate code?"})
	if err != nil {
		t.Fatal(err)
	}
	place := found.Places[0].Place
	for name, r := range map[string]memory.Forget{
		"nothing":              {},
		"no place":             {Places: []string{"MEMORY.md"}},
		"outside":              {Places: []string{"../x.md#L1:00000000"}},
		"another text":         {Places: []string{"MEMORY.md#L3:00000000"}},
		"the same in new_text": {Places: []string{place}, NewText: "the gate code is 4711"},
		"unknown undo":         {Undo: "20260101T000000Z-00000000"},
	} {
		if _, err := m.Forget(t.Context(), r); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if text := read(t, ws, "MEMORY.md"); !strings.Contains(text, "4711") {
		t.Errorf("something was changed: %s", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Forget(ctx, memory.Forget{Places: []string{place}}); err == nil {
		t.Error("a call that was given up has forgotten something")
	}
}

// What is said twice is proposed, and only what is accepted goes; that can be undone.
func TestTidyRemovesWhatIsAccepted(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "# Memory\n\n- Our releases are on Tuesdays.\n- Ines prefers tea.\n- Our releases are on Thursdays.\n- Ines prefers tea.\n"})
	m := openMemory(t, Options{Workspace: ws})
	found, err := m.Tidy(t.Context(), nil)
	if err != nil || len(found.Entries) != 2 || found.Entries[0].Kind != memory.UntidyContradiction {
		t.Fatalf("%+v, %v", found, err)
	}
	if text := read(t, ws, "MEMORY.md"); strings.Count(text, "tea") != 2 {
		t.Errorf("a question has changed it: %s", text)
	}
	done, err := m.Tidy(t.Context(), []string{found.Entries[0].ID})
	if err != nil || len(done.Entries) != 1 || len(done.Revisions) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	if diff := cmp.Diff("# Memory\n\n- Ines prefers tea.\n- Our releases are on Thursdays.\n- Ines prefers tea.\n", read(t, ws, "MEMORY.md")); diff != "" {
		t.Error(diff)
	}
	if _, err := m.Tidy(t.Context(), []string{found.Entries[0].ID}); err == nil {
		t.Error("an entry that is gone is removed")
	}
	if _, err := m.Undo(t.Context(), done.Revisions[0]); err != nil || !strings.Contains(read(t, ws, "MEMORY.md"), "Tuesdays") {
		t.Errorf("it is not brought back: %v", err)
	}
}

// What is forgotten hides only the sentences that say it, not longer ones with the same words, and one question for several things is not
// certain of any of them.
func TestForgetHidesNothingElse(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "# Memory\n\n- Ines drinks tea.\n- Ines does not drink tea.\n- Tea drinks Ines.\n- Ines drinks coffee in the office on days with a long meeting.\n- Ines drinks tea and pays for the whole round on Friday evenings.\n- The code of the gate is 4711.\n- The code of the cellar is 1234.\n"})
	m := openMemory(t, Options{Workspace: ws})
	syncWhole(t, m)
	found, err := m.Forget(t.Context(), memory.Forget{Text: "the code"})
	if err != nil || len(found.Places) < 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, p := range found.Places {
		if !p.Weak {
			t.Errorf("%q is certain, and there are two codes", p.Text)
		}
	}
	forget(t, m, memory.Forget{Text: "Ines drinks tea."})
	syncWhole(t, m)
	if diff := cmp.Diff("# Memory\n\n- Ines does not drink tea.\n- Tea drinks Ines.\n- Ines drinks coffee in the office on days with a long meeting.\n- Ines drinks tea and pays for the whole round on Friday evenings.\n- The code of the gate is 4711.\n- The code of the cellar is 1234.\n", read(t, ws, "MEMORY.md")); diff != "" {
		t.Error(diff)
	}
	if a := answer(t, m, "who pays for the round?"); !hasSnippet(a, "pays for the whole round") {
		t.Errorf("another sentence with its words is hidden: %+v", a.Hits)
	}
}
