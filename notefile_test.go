package kioku

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
func smallFiles(t *testing.T, ws string) *Memory {
	t.Helper()
	return openMemory(t, Options{Workspace: ws, Now: clock("2026-01-05T21:40:00Z"), Location: time.UTC, Index: IndexOptions{MaxFileBytes: 600}})
}

// Hazards B12, F06: a day that does not fit in one file goes on in the next one, and every note of it is found.
func TestAppendGoesOnInAnotherFileOfTheDay(t *testing.T) {
	ws := t.TempDir()
	m := smallFiles(t, ws)
	written := map[string]int{}
	for i := range 12 {
		n := memory.Note{Text: fmt.Sprintf("Barrel number %d holds %s.", i, strings.Repeat("salt ", 20)), Key: fmt.Sprint(i)}
		a := note(t, m, n)
		written[a.Path]++
		if again := note(t, m, n); !again.Deduplicated || again.Path != a.Path || again.StartLine != a.StartLine {
			t.Errorf("note %d: first %+v, again %+v", i, a, again)
		}
		if lines := strings.Split(read(t, ws, a.Path), "\n"); lines[a.StartLine-1] != "## 21:40 - note" {
			t.Errorf("note %d: line %d is %q", i, a.StartLine, lines[a.StartLine-1])
		}
	}
	for _, name := range []string{"memory/2026-01-05.md", "memory/2026-01-05-2.md", "memory/2026-01-05-3.md"} {
		text := read(t, ws, name)
		if written[name] == 0 || len(text) > 600 || !strings.HasPrefix(text, "# 2026-01-05\n\n## ") {
			t.Errorf("%s has %d notes in %q", name, written[name], text)
		}
	}
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		got, err := m.Search(t.Context(), memory.Query{Text: fmt.Sprintf("barrel %d", i), MaxResults: 20, Filter: memory.Filter{Since: "2026-01-05", Until: "2026-01-05"}})
		if err != nil || !hasSnippet(got, fmt.Sprintf("Barrel number %d ", i)) {
			t.Errorf("barrel %d is not found on its day: %v", i, err)
		}
	}
}

// hasSnippet reports whether a hit shows a text.
func hasSnippet(a memory.Answer, text string) bool {
	for _, h := range a.Hits {
		if strings.Contains(h.Snippet, text) {
			return true
		}
	}
	return false
}

func TestAppendKnowsTheKeysOfAllFilesOfYesterday(t *testing.T) {
	ws := t.TempDir()
	m := smallFiles(t, ws)
	var last memory.Appended
	for i := range 6 {
		last = note(t, m, memory.Note{Text: strings.Repeat("salt ", 20) + fmt.Sprint(i), Key: fmt.Sprint(i)})
	}
	later := openMemory(t, Options{Workspace: ws, Now: clock("2026-01-06T09:00:00Z"), Location: time.UTC, Index: IndexOptions{MaxFileBytes: 600}})
	for i := range 6 {
		if a := note(t, later, memory.Note{Text: strings.Repeat("salt ", 20) + fmt.Sprint(i), Key: fmt.Sprint(i)}); !a.Deduplicated {
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
	note(t, m, memory.Note{Text: "one", Key: "k"})
	if a := note(t, m, memory.Note{Text: "one", Key: "k"}); !a.Deduplicated {
		t.Errorf("written again: %+v", a)
	}
}

// A file that is too large already, by the hand of somebody else, takes no more notes.
func TestAppendLeavesAFileThatIsTooLarge(t *testing.T) {
	ws := t.TempDir()
	testkit.WriteFile(t, ws, "memory/2026-01-05.md", strings.Repeat("x", 700))
	if a := note(t, smallFiles(t, ws), memory.Note{Text: "one"}); a.Path != "memory/2026-01-05-2.md" || a.StartLine != 3 {
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
	if a := note(t, m, memory.Note{Text: "Prefers tea.", Target: memory.TargetLongTerm}); a.StartLine != 91 {
		t.Errorf("a note that fits: %+v", a)
	}
}

// Hazard F06: who waits for another writer until its deadline has written nothing, then or later.
func TestAppendWritesNothingAfterItsDeadline(t *testing.T) {
	for _, target := range []string{memory.TargetDaily, memory.TargetLongTerm} {
		ws := t.TempDir()
		m := appendTo(t, ws)
		a := note(t, m, memory.Note{Text: "one", Target: target})
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
		note(t, m, memory.Note{Text: "another file", Target: other}) // is not held up
		held.Close()
		note(t, m, memory.Note{Text: "two", Target: target})
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

// Hazard D10: a note that its own sync could not index is told as missing until the next full sync, also one of a watch.
func TestStaleEndsWithTheSyncOfAWatch(t *testing.T) {
	m := openMemory(t, Options{Workspace: workspace(t, map[string]string{"MEMORY.md": "The lighthouse opens at nine."})})
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	m.notesWritten.Add(1) // and the sync after it has failed
	if got := m.stale(m.indexer.SyncState()); !strings.Contains(got, "newest notes (1)") {
		t.Fatalf("stale: %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan error, 1)
	go func() { watched <- m.Watch(ctx) }()
	askUntil(t, m, "lighthouse", func(a memory.Answer) bool { return len(a.Degraded) == 0 })
	cancel()
	<-watched
}

// Hazard K01: a file in another encoding is found and shown, and nothing in UTF-8 is written into it.
func TestNotesOfAnotherEncodingAreReadAndNotWritten(t *testing.T) {
	latin1 := "# Rezept\n\n- Die K\xfcche braucht s\xfc\xdfe \xc4pfel.\n"
	ws := workspace(t, map[string]string{"MEMORY.md": latin1, "memory/2026-01-05.md": latin1, "memory/mac.md": "# Otters\r\r## Food\r\rThey eat clams.\r"})
	m := synced(t, Options{Workspace: ws, Now: clock("2026-01-05T21:40:00Z"), Location: time.UTC})
	found, err := m.Search(t.Context(), memory.Query{Text: "süße Äpfel"})
	if err != nil || !hasSnippet(found, "süße Äpfel") {
		t.Errorf("%+v, %v", found.Hits, err)
	}
	shown, err := m.Get(t.Context(), memory.GetRequest{Path: "MEMORY.md"})
	if err != nil || !strings.Contains(shown.Text, "Die Küche") {
		t.Errorf("%+v, %v", shown, err)
	}
	clams, err := m.Search(t.Context(), memory.Query{Text: "clams"})
	if err != nil || len(clams.Hits) == 0 || clams.Hits[0].Headings != "# Otters > ## Food" || clams.Hits[0].StartLine > 5 || clams.Hits[0].EndLine < 5 {
		t.Errorf("%+v, %v", clams.Hits, err)
	}
	if a := note(t, m, memory.Note{Text: "Buy pears."}); a.Path != "memory/2026-01-05-2.md" {
		t.Errorf("the note went to %s", a.Path)
	}
	_, err = m.Append(t.Context(), memory.Note{Text: "Pears.", Target: memory.TargetLongTerm})
	wantProblem(t, err, "windows-1252; save it as UTF-8 first")
	_, err = m.Update(t.Context(), memory.Update{Path: "MEMORY.md", OldText: "braucht", NewText: "mag"})
	wantProblem(t, err, "windows-1252; save it as UTF-8 first")
	_, err = m.Update(t.Context(), memory.Update{Path: "memory/mac.md", OldText: "clams", NewText: "fish"})
	wantProblem(t, err, "lines end with CR")
	for _, name := range []string{"MEMORY.md", "memory/2026-01-05.md"} {
		if read(t, ws, name) != latin1 {
			t.Errorf("%s was changed", name)
		}
	}
}

// wantProblem fails unless an error says what is wrong with the input.
func wantProblem(t *testing.T, err error, text string) {
	t.Helper()
	if input, ok := errors.AsType[*memory.InputError](err); !ok || !strings.Contains(input.Problem, text) {
		t.Errorf("%v, want %q", err, text)
	}
}
