package note

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
)

// update updates or fails the test.
func update(t *testing.T, m *Folder, u memory.Update) memory.Updated {
	t.Helper()
	done, err := m.Update(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// An update corrects a line of MEMORY.md instead of contradicting it, and an undo restores each byte of the file.
func TestUpdateReplacesATextAndUndoRestoresTheFile(t *testing.T) {
	t.Parallel()
	const mark = " <!-- kioku from=agent -->"
	for name, c := range map[string]struct {
		have, old, new, want string
		line                 int
	}{
		"a bullet":             {"# M\n\n- Ines likes tea.\n- b\n", "- Ines likes tea.", "- Ines likes coffee.", "# M\n\n- Ines likes coffee." + mark + "\n- b\n", 3},
		"a part of a line":     {"- Ines likes tea a lot.\n", "tea", "coffee", "- Ines likes coffee a lot." + mark + "\n", 1},
		"Japanese":             {"- 猫の名前はモカです。\n", "モカ", "ミルク", "- 猫の名前はミルクです。" + mark + "\n", 1},
		"Chinese":              {"## 偏好\n\n- 喜欢喝茶\n", "喜欢喝茶", "喜欢喝咖啡", "## 偏好\n\n- 喜欢喝咖啡" + mark + "\n", 3},
		"white space":          {"- Ines likes\n  green\ttea.\n", "Ines likes green tea.", "Ines likes coffee.", "- Ines likes coffee." + mark + "\n", 1},
		"a marked note":        {"- a <!-- kioku:0123456789abcdef text=0123456789abcdef from=user -->\n- b\n", "a", "A", "- A <!-- kioku:0123456789abcdef text=0123456789abcdef from=agent -->\n- b\n", 1},
		"over a marker":        {"- a <!-- kioku from=user -->\n- b <!-- kioku from=user -->\n", "- a\n- b", "- ab", "- ab" + mark + "\n", 1},
		"a marker below":       {"- one\n  two <!-- kioku from=user -->\n", "one", "One", "- One\n  two" + mark + "\n", 1},
		"a channel":            {"- a <!-- kioku from=flush channel=discord:general author=u1/Ana -->\n", "a", "b", "- b <!-- kioku from=agent channel=discord:general author=u1/Ana -->\n", 1},
		"an author":            {"- a <!-- kioku text=0123456789abcdef from=flush author=u1/Ana -->\n", "a", "b", "- b <!-- kioku text=0123456789abcdef from=agent author=u1/Ana -->\n", 1},
		"Windows":              {"\ufeff- a\r\n- b\r\n", "a", "x\ny", "\ufeff- x\r\ny" + mark + "\r\n- b\r\n", 1},
		"no final line break":  {"- a\n- b", "b", "c", "- a\n- c" + mark, 2},
		"in a fence":           {"```\nport 80\n```\n", "port 80", "port 81", "```\nport 81\n```\n", 2},
		"remove a bullet":      {"# M\n\n- a\n- b <!-- kioku from=flush -->\n- c\n", "b", "", "# M\n\n- a\n- c\n", 4},
		"remove a task":        {"- [ ] a\n- b\n", "a", "", "- b\n", 1},
		"remove a part":        {"- a and b\n", "and b", "", "- a \n", 1},
		"remove a long note":   {"- a\n<!-- kioku begins=0123456789abcdef -->\n- b\n  ```\n  x\n  ```\n  <!-- kioku text=0123456789abcdef -->\n- c\n", "- b\n```\nx\n```", "", "- a\n- c\n", 2},
		"remove the last line": {"- a\n- b", "- b", "", "- a\n", 2},
		"remove all":           {"- a\n", "- a", "", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ws := workspace(t, map[string]string{"MEMORY.md": c.have})
			m := appendTo(t, ws)
			done := update(t, m, memory.Update{OldText: c.old, NewText: c.new, Reason: "it changed", Source: memory.NoteFromAgent})
			if diff := cmp.Diff(c.want, read(t, ws, "MEMORY.md")); diff != "" || done.Path != "MEMORY.md" {
				t.Errorf("%+v %s", done, diff)
			}
			if _, err := m.Undo(t.Context(), done.Revision); err != nil {
				t.Fatal(err)
			}
			if got := read(t, ws, "MEMORY.md"); got != c.have {
				t.Errorf("undone: %q", got)
			}
		})
	}
}

// Hazard K08: a text is found however its characters are composed, with any form of quotes, dashes and spaces, and whatever nobody sees.
// What is exactly there goes before that, what is there twice is refused, and no byte outside of the text changes.
func TestUpdateForgivesCompositionAndTypography(t *testing.T) {
	t.Parallel()
	const nfc, nfd = "Jos\u00e9 M\u00fcsli", "Jose\u0301 Mu\u0308sli"
	for name, c := range map[string]struct{ have, old, want string }{
		"decomposed file":        {"- " + nfd + " \u2013 Cafe\u0301\n", nfc, "- X \u2013 Cafe\u0301\n"},
		"decomposed request":     {"- " + nfc + " Caf\u00e9\n", nfd, "- X Caf\u00e9\n"},
		"Hangul":                 {"- \u1112\u1161\u11ab\u1100\u1173\u11af!\n", "\ud55c\uae00", "- X!\n"},
		"voiced kana":            {"- か\u3099き\n", "がき", "- X\n"},
		"quotes":                 {"- “It’s” ‘a’ «b»\n", `"It's" 'a' "b"`, "- X\n"},
		"quotes the other way":   {"- It's \"a\".\n", "It’s „a“", "- X.\n"},
		"dashes and dots":        {"- 3–5 — so… yes\n", "3-5 - so... yes", "- X\n"},
		"spaces":                 {"- 10\u00a0km\u202f/\u2009h\u3000x\n", "10 km / h x", "- X\n"},
		"unseen":                 {"- ab\u00adcd\u200b\ufeff e\n", "abcd e", "- X\n"},
		"exact goes before":      {"- 3–5\n- 3-5\n", "3-5", "- 3–5\n- X\n"},
		"no half of a character": {"- Cafe\u0301 and Cafe\n", "Cafe and Cafe", ""},
		"no half of an accent":   {"- The cafe\u0301 is closed\n", "cafe", ""},
		"the whole one":          {"- The cafe\u0301\n- no cafe here\n", "cafe", "- The cafe\u0301\n- no X here\n"},
		"twice":                  {"- Jose\u0301’s\n- Jos\u00e9's \n", "Jos\u00e9’s", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ws := workspace(t, map[string]string{"MEMORY.md": c.have})
			_, err := appendTo(t, ws).Update(t.Context(), memory.Update{OldText: c.old, NewText: "X", Source: memory.NoteFromUser})
			if got := read(t, ws, "MEMORY.md"); c.want != "" && (got != c.want || err != nil) {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			} else if input := (*memory.InputError)(nil); c.want == "" && (got != c.have || !errors.As(err, &input)) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	ws := workspace(t, map[string]string{"MEMORY.md": "- The he\u200dron nests.\n- H\u2082O is wet.\n"})
	for old, want := range map[string]string{"The heron nests": `1: - The he` + "\u200d" + `ron nests. (it only looks the same: "- The he\u200dron nests.")`, "H2O is wet": `"- H\u2082O is wet."`} {
		if _, err := appendTo(t, ws).Update(t.Context(), memory.Update{OldText: old, NewText: "X"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", old, err)
		}
	}
}

// What cannot be updated is refused with what to do instead, and nothing changes.
func TestUpdateRefuses(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"MEMORY.md": "- Ines likes green tea.\n- Tea is hot. <!-- kioku from=agent -->\n- Tea is hot.\n", "memory/2026-01-05.md": "- a\n", "other.md": "- a\n",
		"memory/groups/x/2026-01-05.md": "- a\n",
	}
	ws := workspace(t, files)
	m := appendTo(t, ws)
	for name, c := range map[string]struct {
		u    memory.Update
		want []string
	}{
		"twice":         {memory.Update{OldText: "Tea is hot.", NewText: "x"}, []string{"old_text", "lines 2, 3"}},
		"not there":     {memory.Update{OldText: "Ines likes black tea.", NewText: "x"}, []string{"old_text", "does not occur", "1: - Ines likes green tea."}},
		"in a marker":   {memory.Update{OldText: "agent", NewText: "user"}, []string{"old_text", "does not occur"}},
		"blank":         {memory.Update{OldText: " ", NewText: "x"}, []string{"old_text"}},
		"the same":      {memory.Update{OldText: "Ines", NewText: "Ines"}, []string{"new_text"}},
		"source":        {memory.Update{OldText: "Ines", NewText: "Mia", Source: "me"}, []string{"source"}},
		"record":        {memory.Update{Path: "memory/2026-01-05.md", OldText: "a", NewText: "b"}, []string{"record of a day", "append"}},
		"group record":  {memory.Update{Path: "memory/groups/x/2026-01-05.md", OldText: "a", NewText: "b"}, []string{"record of a day"}},
		"other":         {memory.Update{Path: "other.md", OldText: "a", NewText: "b"}, []string{"only MEMORY.md"}},
		"outside":       {memory.Update{Path: "memory/../../x.md", OldText: "a", NewText: "b"}, nil},
		"missing":       {memory.Update{Path: "memory/none.md", OldText: "a", NewText: "b"}, []string{"no such memory file"}},
		"long reason":   {memory.Update{OldText: "Ines", NewText: "Mia", Reason: strings.Repeat("x", 1001)}, []string{"reason"}},
		"only recalled": {memory.Update{OldText: "Ines", NewText: `{"source":"a.md#L1","agent":"main","score":0.5,"text":"x"}`}, []string{"new_text"}},
	} {
		_, err := m.Update(t.Context(), c.u)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q lacks %q", name, err, want)
			}
		}
	}
	for name, text := range files {
		if got := read(t, ws, name); got != text {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := os.Stat(filepath.Join(ws, "memory/none.md")); err == nil {
		t.Error("a missing file was made")
	}
	if _, err := m.Undo(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "no update") {
		t.Errorf("undo: %v", err)
	}
	if _, err := m.Undo(t.Context(), "../x"); !errors.As(err, new(*memory.InputError)) {
		t.Errorf("undo: %v", err)
	}
}

// Undo takes back only its own lines if the file was changed since, and the revisions tell what was done and why.
func TestUndoKeepsLaterChanges(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "# M\n\n- tea\n- b\n- cheese\n"})
	m := appendTo(t, ws)
	first := update(t, m, memory.Update{OldText: "tea", NewText: "coffee", Reason: "she said\nso"})
	second := update(t, m, memory.Update{OldText: "- cheese", NewText: ""})
	addNote(t, m, memory.Note{Text: "new", Target: memory.TargetLongTerm, Category: "fact"})
	if _, err := m.Undo(t.Context(), first.Revision); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, ws, "MEMORY.md"), "# M\n\n- tea\n- b\n\n## Fact\n\n- new\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	all, err := m.Revisions(t.Context())
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	undone := map[string]bool{}
	for _, r := range all {
		undone[r.ID] = r.Undone
		if r.ID == first.Revision && (r.OldText != "tea" || r.NewText != "coffee" || r.Reason != "she said so" || r.Line != 3 || r.Path != "MEMORY.md") {
			t.Errorf("%+v", r)
		}
	}
	if !undone[first.Revision] || undone[second.Revision] {
		t.Errorf("%v", undone)
	}
	if done, err := m.Undo(t.Context(), ""); err != nil || done.Revision != second.Revision {
		t.Errorf("the latest: %+v, %v", done, err)
	}
	third := update(t, m, memory.Update{OldText: "tea", NewText: "juice"})
	if err := os.WriteFile(filepath.Join(ws, "MEMORY.md"), []byte("- all new\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Undo(t.Context(), third.Revision); err == nil || !strings.Contains(err.Error(), "the text before was:\ntea") {
		t.Errorf("the text before is not told: %v", err)
	}
}

// An update is taken back once; undoing the undo makes it again, and then it can be taken back again.
func TestUndoTakesAnUpdateBackOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ have, old, new string }{
		"a removed line": {"- a\n- b\n", "b", ""},
		"a longer text":  {"- tea\n", "tea", "tea with milk"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ws := workspace(t, map[string]string{"MEMORY.md": c.have})
			m := appendTo(t, ws)
			done := update(t, m, memory.Update{OldText: c.old, NewText: c.new})
			updated := read(t, ws, "MEMORY.md")
			for range 2 {
				if _, err := m.Undo(t.Context(), done.Revision); err != nil || read(t, ws, "MEMORY.md") != c.have {
					t.Fatalf("%v, %q", err, read(t, ws, "MEMORY.md"))
				}
				for _, id := range []string{done.Revision, ""} {
					if _, err := m.Undo(t.Context(), id); !errors.As(err, new(*memory.InputError)) || read(t, ws, "MEMORY.md") != c.have {
						t.Errorf("a second time, %q: %v, %q", id, err, read(t, ws, "MEMORY.md"))
					}
				}
				all, err := m.Revisions(t.Context())
				if err != nil || !all[len(all)-1].Undone || all[0].Undone {
					t.Errorf("%+v, %v", all, err)
				}
				if _, err := m.Undo(t.Context(), all[0].ID); err != nil || read(t, ws, "MEMORY.md") != updated {
					t.Fatalf("undo of the undo: %v, %q", err, read(t, ws, "MEMORY.md"))
				}
			}
		})
	}
}

// A revision that a crash left without its edit is none, and one whose edit was made before the crash can be taken back.
func TestUndoAfterACrash(t *testing.T) {
	t.Parallel()
	for name, edited := range map[string]bool{"before the edit": false, "after the edit": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const have, want = "- tea\n- b\n", "- tea with milk\n- b\n"
			ws := workspace(t, map[string]string{"MEMORY.md": have})
			m := appendTo(t, ws)
			earlier := update(t, m, memory.Update{OldText: "b", NewText: "c"})
			update(t, m, memory.Update{OldText: "c", NewText: "b"})
			const id = "20260105T124000Z-00000001"
			err := m.changes.add(t.Context(), change{ID: id, Time: time.Now(), Path: "MEMORY.md", Line: 1, Lead: "- ", Before: "tea", After: "tea with milk", Tail: "\n- b\n"})
			if err == nil && edited {
				err = os.WriteFile(filepath.Join(ws, "MEMORY.md"), []byte(want), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			all, err := m.Revisions(t.Context())
			if err != nil || (all[0].ID == id) != edited {
				t.Fatalf("%+v, %v", all, err)
			}
			latest, err := m.Undo(t.Context(), "")
			if err != nil || (latest.Revision == id) != edited || latest.Revision == earlier.Revision {
				t.Errorf("%+v, %v", latest, err)
			}
			if edited && read(t, ws, "MEMORY.md") != have {
				t.Errorf("%q", read(t, ws, "MEMORY.md"))
			}
		})
	}
}

// A revision that cannot be read does not hide the others.
func TestUndoPassesOverWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	ws, state := workspace(t, map[string]string{"MEMORY.md": "- a\n- x\n- y\n- b\n"}), t.TempDir()
	m := openFolder(t, Options{Path: ws, State: state})
	first := update(t, m, memory.Update{OldText: "a", NewText: "c"})
	second := update(t, m, memory.Update{OldText: "b", NewText: "d"})
	file := filepath.Join(state, changesFile)
	text := strings.TrimSuffix(read(t, state, changesFile), "\n")
	if err := os.WriteFile(file, []byte(text[:len(text)-20]), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := m.Revisions(t.Context()); err != nil || len(all) != 1 || all[0].ID != first.Revision {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := m.Undo(t.Context(), second.Revision); err == nil || !strings.Contains(err.Error(), second.Revision) {
		t.Errorf("no name: %v", err)
	}
	if done, err := m.Undo(t.Context(), ""); err != nil || done.Revision != first.Revision {
		t.Errorf("%+v, %v", done, err)
	}
	if all, err := m.Revisions(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("behind a line that was cut off: %+v, %v", all, err)
	}
}

// Undo takes nothing back in the middle of lines that others have written since.
func TestUndoLeavesPartsOfOtherLines(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"tea", "cof", "we like coffee"}, {"tea\nz\n", "coffee", "black coffee\nz\n"}} {
		ws := workspace(t, map[string]string{"MEMORY.md": c[0]})
		m := appendTo(t, ws)
		update(t, m, memory.Update{OldText: "tea", NewText: c[1]})
		if err := os.WriteFile(filepath.Join(ws, "MEMORY.md"), []byte(c[2]), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Undo(t.Context(), ""); !errors.As(err, new(*memory.InputError)) || read(t, ws, "MEMORY.md") != c[2] {
			t.Errorf("%v, %q", err, read(t, ws, "MEMORY.md"))
		}
	}
}
