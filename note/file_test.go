package note

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kioku/internal/testkit"
	"kioku/memory"
)

// smallFiles opens a memory whose files may have 600 bytes, at the evening of 2026-01-05 in UTC.
func smallFiles(t *testing.T, ws string) *Folder {
	t.Helper()
	return openFolder(t, Options{Path: ws, Now: clock("2026-01-05T21:40:00Z"), Location: time.UTC, MaxFileBytes: 600})
}

func TestAppendKnowsTheKeysOfAllFilesOfYesterday(t *testing.T) {
	ws := t.TempDir()
	m := smallFiles(t, ws)
	var last memory.Appended
	for i := range 6 {
		last = addNote(t, m, memory.Note{Text: strings.Repeat("salt ", 20) + fmt.Sprint(i), Key: fmt.Sprint(i)})
	}
	later := openFolder(t, Options{Path: ws, Now: clock("2026-01-06T09:00:00Z"), Location: time.UTC, MaxFileBytes: 600})
	for i := range 6 {
		if a := addNote(t, later, memory.Note{Text: strings.Repeat("salt ", 20) + fmt.Sprint(i), Key: fmt.Sprint(i)}); !a.Deduplicated {
			t.Errorf("note %d is written again: %+v", i, a)
		}
	}
	if last.Path == "memory/2026-01-05.md" {
		t.Error("all notes are in one file")
	}
}

// A folder of notes that is a link inside of the workspace takes notes, with keys too.
func TestAppendWithAKeyIntoALinkedFolder(t *testing.T) {
	ws := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(ws, "notes"), 0o755), os.Symlink("notes", filepath.Join(ws, "memory"))); err != nil {
		t.Fatal(err)
	}
	m := appendTo(t, ws)
	addNote(t, m, memory.Note{Text: "one", Key: "k"})
	if a := addNote(t, m, memory.Note{Text: "one", Key: "k"}); !a.Deduplicated {
		t.Errorf("written again: %+v", a)
	}
}

// A file that is too large already, by the hand of somebody else, takes no more notes.
func TestAppendLeavesAFileThatIsTooLarge(t *testing.T) {
	ws := t.TempDir()
	testkit.WriteFile(t, ws, "memory/2026-01-05.md", strings.Repeat("x", 700))
	if a := addNote(t, smallFiles(t, ws), memory.Note{Text: "one"}); a.Path != "memory/2026-01-05-2.md" || a.StartLine != 3 {
		t.Errorf("got %+v", a)
	}
}

func TestAppendRefusesWhatNoFileMayHold(t *testing.T) {
	ws := t.TempDir()
	testkit.WriteFile(t, ws, "MEMORY.md", strings.Repeat("- tea\n", 90))
	m := smallFiles(t, ws)
	for field, n := range map[string]memory.Note{
		"target": {Text: strings.Repeat("x", 100), Target: memory.TargetLongTerm},
		"text":   {Text: strings.Repeat("x", 600)},
	} {
		var input *memory.InputError
		if _, err := m.Append(t.Context(), n); !errors.As(err, &input) || input.Field != field || !strings.Contains(err.Error(), "larger than 600 bytes") {
			t.Errorf("%s: %v", field, err)
		}
		if files, err := filepath.Glob(filepath.Join(ws, "memory", "*-*-*-2.md")); len(files) > 0 || err != nil {
			t.Errorf("%s: left %v, %v", field, files, err)
		}
	}
	if got := read(t, ws, "MEMORY.md"); got != strings.Repeat("- tea\n", 90) {
		t.Errorf("MEMORY.md is %q", got)
	}
	if a := addNote(t, m, memory.Note{Text: "Prefers tea.", Target: memory.TargetLongTerm}); a.StartLine != 91 {
		t.Errorf("a note that fits: %+v", a)
	}
}

// Hazard F06: who waits for another writer until its deadline has written nothing, then or later.
func TestAppendWritesNothingAfterItsDeadline(t *testing.T) {
	for _, target := range []string{memory.TargetDaily, memory.TargetLongTerm} {
		ws := t.TempDir()
		m := appendTo(t, ws)
		a := addNote(t, m, memory.Note{Text: "one", Target: target})
		before := read(t, ws, a.Path)
		held, err := os.Open(filepath.Join(ws, a.Path))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		const waiting = 8
		for i := range waiting {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				_, err := m.Append(ctx, memory.Note{Text: fmt.Sprint("late ", i), Target: target})
				ended <- err
			}()
		}
		for range waiting {
			if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", target, err)
			}
		}
		other := map[string]string{memory.TargetDaily: memory.TargetLongTerm, memory.TargetLongTerm: memory.TargetDaily}[target]
		addNote(t, m, memory.Note{Text: "another file", Target: other}) // is not held up
		held.Close()
		addNote(t, m, memory.Note{Text: "two", Target: target})
		if after := read(t, ws, a.Path); strings.Contains(after, "late") || !strings.HasPrefix(after, before) {
			t.Errorf("%s: %q", target, after)
		}
	}
}

func TestAppendOfAnEndedCallWritesNothing(t *testing.T) {
	ws := t.TempDir()
	m := appendTo(t, ws)
	root, err := os.OpenRoot(ws)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	file, err := openNotes(t.Context(), root, "MEMORY.md", 1000)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := file.write(ctx, root, []byte("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	closeNotes([]*noteFile{file})
	if _, err := m.Append(ctx, memory.Note{Text: "late"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := read(t, ws, "MEMORY.md"); got != "" {
		t.Errorf("MEMORY.md is %q", got)
	}
}
