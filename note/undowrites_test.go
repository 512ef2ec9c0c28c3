package note

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
)

// undoWrites takes writes back or fails the test, and returns them in short.
func undoWrites(t *testing.T, m *Folder, u memory.UndoWrites) []string {
	t.Helper()
	done, err := m.UndoWrites(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, w := range done.Writes {
		lines = append(lines, fmt.Sprintf("%s %s %s:%d %s", w.Outcome, w.Source, w.Path, w.Line, w.Text))
	}
	return lines
}

// long is a long note.
var long = "# A list\n\n" + strings.Repeat("- Dario has a boat in the harbour of 長崎.\n", 20)

// (H04)
func TestUndoWritesTakesBackAConversation(t *testing.T) {
	t.Parallel()
	for name, have := range map[string]string{"new files": "", "with notes": "# Notes\n\n- Ines likes tea.\n\n## Later\n\n- nothing\n", "with CRLF": "# Notes\r\n\r\n- Ines likes tea.\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ws := workspace(t, map[string]string{"MEMORY.md": have, "memory/2026-01-05.md": have})
			m := appendTo(t, ws)
			addNote(t, m, memory.Note{Text: "Ines plays the cello.", Source: memory.NoteFromUser})
			want := read(t, ws, "memory/2026-01-05.md")
			for i, text := range []string{"Ines lives in Porto.", "Two\n\n## paragraphs\n\n```\ncode\n```", long} {
				addNote(t, m, memory.Note{Text: text, Source: memory.NoteFromFlush, Session: "s1", Key: fmt.Sprint("k", i)})
				addNote(t, m, memory.Note{Text: text, Source: memory.NoteFromAgent, Session: "s1", Target: memory.TargetLongTerm})
			}
			other := addNote(t, m, memory.Note{Text: "Ines has a cat.", Source: memory.NoteFromFlush, Session: "s2"})
			before := read(t, ws, "memory/2026-01-05.md") + read(t, ws, "MEMORY.md")

			dry := undoWrites(t, m, memory.UndoWrites{Session: "s1", DryRun: true})
			if after := read(t, ws, "memory/2026-01-05.md") + read(t, ws, "MEMORY.md"); after != before {
				t.Error("a dry run has changed the notes")
			}
			got := undoWrites(t, m, memory.UndoWrites{Session: "s1"})
			if diff := cmp.Diff(dry, got); diff != "" || len(got) != 6 || !strings.HasPrefix(got[0], "undone ") {
				t.Errorf("taken back: %q\n%s", got, diff)
			}
			daily := read(t, ws, other.Path)
			if !strings.HasPrefix(daily, want) || strings.Contains(daily, "Porto") || !strings.Contains(daily, "has a cat") || strings.Contains(daily, "\n\n\n") {
				t.Errorf("the day is now:\n%s", daily)
			}
			// The heading that the first bullet of a new file has brought stays.
			if now := strings.TrimSpace(read(t, ws, "MEMORY.md")); now != strings.TrimSpace(have) && have+now != "## Notes" {
				t.Errorf("MEMORY.md is now %q", read(t, ws, "MEMORY.md"))
			}
			again := undoWrites(t, m, memory.UndoWrites{Session: "s1"})
			for _, line := range again {
				if !strings.HasPrefix(line, memory.WriteGone+" ") {
					t.Errorf("again: %s", line)
				}
			}
			if now := read(t, ws, other.Path); now != daily {
				t.Errorf("the second call has changed the day:\n%s", now)
			}
		})
	}
}

func TestUndoWritesOfATimeAndSource(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "- Ines likes green tea.\n"})
	var hours atomic.Int64
	now := func() time.Time { return october(5).Add(time.Duration(hours.Load()) * time.Hour) }
	m := openFolder(t, Options{Path: ws, Now: now})
	for hour, source := range []string{memory.NoteFromTool, memory.NoteFromUser, memory.NoteFromFlush, memory.NoteFromTool, ""} {
		hours.Store(int64(hour))
		addNote(t, m, memory.Note{Text: fmt.Sprintf("Note %d.", hour), Source: source})
	}
	if _, err := m.Update(t.Context(), memory.Update{OldText: "green tea", NewText: "coffee", Source: memory.NoteFromTool}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		u    memory.UndoWrites
		want []string
	}{
		{"tool since", memory.UndoWrites{Since: october(5).Add(time.Hour), Sources: []string{memory.NoteFromTool}, DryRun: true},
			[]string{"undone tool MEMORY.md:1 coffee.", "undone tool memory/2026-10-05.md:15 Note 3."}},
		{"flush", memory.UndoWrites{Since: october(5), Sources: []string{memory.NoteFromFlush}, DryRun: true}, []string{"undone flush memory/2026-10-05.md:11 Note 2."}},
		{"until", memory.UndoWrites{Since: october(5), Until: october(5), DryRun: true}, []string{"undone tool memory/2026-10-05.md:3 Note 0."}},
		{"nobody's are a person's", memory.UndoWrites{Since: october(5)},
			[]string{"undone tool MEMORY.md:1 coffee.", "undone tool memory/2026-10-05.md:15 Note 3.", "undone flush memory/2026-10-05.md:11 Note 2.", "undone tool memory/2026-10-05.md:3 Note 0."}},
	} {
		if diff := cmp.Diff(c.want, undoWrites(t, m, c.u)); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
	if got := read(t, ws, "memory/2026-10-05.md"); got != "# 2026-10-05\n\n## 13:00 - note\n\nNote 1. <!-- kioku from=user -->\n\n## 16:00 - note\n\nNote 4.\n" {
		t.Errorf("the day is now:\n%s", got)
	}
	if got := read(t, ws, "MEMORY.md"); got != "- Ines likes green tea.\n" {
		t.Errorf("MEMORY.md is now %q", got)
	}
}

// What a person has edited since stays. (H04)
func TestUndoWritesLeavesWhatWasEdited(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "# Memory\n"})
	m := appendTo(t, ws)
	for i, text := range []string{"Ines lives in Porto.", "Dario sings.", "Mia swims.", "Leo reads."} {
		addNote(t, m, memory.Note{Text: text, Source: memory.NoteFromFlush, Session: "s1", Category: fmt.Sprint("c", i), Key: fmt.Sprint(i)})
	}
	const day = "memory/2026-01-05.md"
	edited := strings.NewReplacer("Ines lives in Porto.", "Ines lives in Lisbon.", " - c1", " - music").Replace(read(t, ws, day))
	edited = edited[:strings.Index(edited, "## 21:40 - c3")] + "mine\n"
	writeFile(t, filepath.Join(ws, day), edited)
	got := undoWrites(t, m, memory.UndoWrites{Session: "s1"})
	want := []string{"edited flush memory/2026-01-05.md:3 Ines lives in Lisbon.", "edited flush memory/2026-01-05.md:7 Dario sings.", "undone flush memory/2026-01-05.md:11 Mia swims.", "gone flush memory/2026-01-05.md:0 "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if now := read(t, ws, day); !strings.Contains(now, "Lisbon") || !strings.Contains(now, "Dario") || strings.Contains(now, "Mia") || !strings.HasSuffix(now, "\n\nmine\n") {
		t.Errorf("the day is now:\n%s", now)
	}
}

// What was taken back can be brought back, and taken back once more. (H04)
func TestUndoWritesCanBeUndone(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "# Memory\n"})
	m := appendTo(t, ws)
	addNote(t, m, memory.Note{Text: "Ines lives in Porto.", Source: memory.NoteFromFlush, Session: "s1"})
	addNote(t, m, memory.Note{Text: "Ines plays the cello.", Source: memory.NoteFromUser})
	addNote(t, m, memory.Note{Text: "Ines swims.", Source: memory.NoteFromFlush, Session: "s1"})
	const day = "memory/2026-01-05.md"
	have := read(t, ws, day)
	done, err := m.UndoWrites(t.Context(), memory.UndoWrites{Session: "s1"})
	if err != nil || len(done.Revisions) != 1 {
		t.Fatalf("UndoWrites: %+v, %v", done, err)
	}
	if _, err := m.Undo(t.Context(), done.Revisions[0]); err != nil || read(t, ws, day) != have {
		t.Errorf("brought back: %v\n%s", err, read(t, ws, day))
	}
	if got := undoWrites(t, m, memory.UndoWrites{Session: "s1"}); len(got) != 2 || !strings.HasPrefix(got[0], "undone") {
		t.Errorf("taken back again: %q", got)
	}
}

func TestUndoWritesRefuses(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "# Memory\n"})
	m := appendTo(t, ws)
	for name, u := range map[string]memory.UndoWrites{"everything": {}, "source": {Session: "s", Sources: []string{"me"}}, "empty source": {Session: "s", Sources: []string{""}}} {
		if _, err := m.UndoWrites(t.Context(), u); !errors.As(err, new(*memory.InputError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := m.Append(t.Context(), memory.Note{Text: "x", Session: "a\nb"}); !errors.As(err, new(*memory.InputError)) {
		t.Errorf("a session of two lines: %v", err)
	}
}

// A note that was corrected since is taken back with its correction, in one change of the file. (H04)
func TestUndoWritesTakesBackANoteAndItsUpdate(t *testing.T) {
	t.Parallel()
	const have = "# Memory\n\n- Mia swims.\n"
	ws := workspace(t, map[string]string{"MEMORY.md": have})
	m := appendTo(t, ws)
	since := m.opt.Now()
	addNote(t, m, memory.Note{Text: "Ines likes tea.", Target: memory.TargetLongTerm, Source: memory.NoteFromAgent})
	update(t, m, memory.Update{OldText: "likes tea", NewText: "likes coffee", Source: memory.NoteFromAgent})
	update(t, m, memory.Update{OldText: "Mia swims", NewText: "Mia runs", Source: memory.NoteFromAgent})
	changed := read(t, ws, "MEMORY.md")
	done, err := m.UndoWrites(t.Context(), memory.UndoWrites{Since: since})
	if err != nil || len(done.Revisions) != 1 || len(done.Writes) != 3 || read(t, ws, "MEMORY.md") != have {
		t.Errorf("%+v, %v, %q", done, err, read(t, ws, "MEMORY.md"))
	}
	if again, err := m.UndoWrites(t.Context(), memory.UndoWrites{Since: since}); err != nil || len(again.Revisions) > 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	if _, err := m.Undo(t.Context(), ""); err != nil || read(t, ws, "MEMORY.md") != changed {
		t.Errorf("brought back: %v, %q", err, read(t, ws, "MEMORY.md"))
	}
}
