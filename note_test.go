package kioku

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/indexer"
	"kioku/memory"
)

// clock returns a clock that stands still.
func clock(value string) func() time.Time {
	t, err := time.Parse(time.RFC3339, value)
	if err != nil {
		panic(err)
	}
	return func() time.Time { return t }
}

// appendTo opens a memory whose clock stands at the evening of 2026-01-05 in Tokyo.
func appendTo(t *testing.T, ws string) *Memory {
	t.Helper()
	return openMemory(t, Options{Workspace: ws, Now: clock("2026-01-05T12:40:00Z"), Location: time.FixedZone("JST", 9*3600)})
}

// note appends or fails the test.
func addNote(t *testing.T, m *Memory, n memory.Note) memory.Appended {
	t.Helper()
	a, err := m.Append(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// read returns a file of the workspace.
func read(t *testing.T, ws, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(ws, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAppendMakesNoteSearchable(t *testing.T) {
	m := appendTo(t, t.TempDir())
	events := m.Subscribe(t.Context())
	addNote(t, m, memory.Note{Text: "The windmill was painted green."})
	waitFor(t, events, indexer.SyncDone, "")
	if got := find(t, m, "windmill"); len(got) == 0 || got[0] != "memory/2026-01-05.md" {
		t.Errorf("found %v", got)
	}
}

func TestOpenRefusesMalformedExtraPath(t *testing.T) {
	_, err := Open(t.Context(), Options{Workspace: t.TempDir(), StateDir: t.TempDir(), Index: IndexOptions{ExtraPaths: []string{"["}}})
	if err == nil || !strings.Contains(err.Error(), "[") {
		t.Errorf("got %v", err)
	}
}

func TestMarkerIsNeitherFoundNorShown(t *testing.T) {
	ws := t.TempDir()
	m := appendTo(t, ws)
	events := m.Subscribe(t.Context())
	addNote(t, m, memory.Note{Text: "The windmill was painted green.", Source: memory.NoteFromTool, Key: "k"})
	waitFor(t, events, indexer.SyncDone, "")
	got, err := m.Search(t.Context(), memory.Query{Text: "windmill"})
	if err != nil || len(got.Hits) != 1 {
		t.Fatalf("got %+v, %v", got.Hits, err)
	}
	if h := got.Hits[0]; strings.Contains(h.Snippet, "kioku") || h.SnippetEnd != 5 {
		t.Errorf("shown to line %d: %q", h.SnippetEnd, h.Snippet)
	}
	for _, word := range []string{"kioku", "from=tool", "8254c329a92850f6"} {
		if hits := find(t, m, word); len(hits) > 0 {
			t.Errorf("%s is found in %v", word, hits)
		}
	}
}

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
		a := addNote(t, m, n)
		written[a.Path]++
		if again := addNote(t, m, n); !again.Deduplicated || again.Path != a.Path || again.StartLine != a.StartLine {
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

// Hazard D10: a note that its own sync could not index is told as missing until the next full sync, also one of a watch.
func TestStaleEndsWithTheSyncOfAWatch(t *testing.T) {
	m := openMemory(t, Options{Workspace: workspace(t, map[string]string{"MEMORY.md": "The lighthouse opens at nine."})})
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	m.work.written++ // and the sync after it has failed
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
	if a := addNote(t, m, memory.Note{Text: "Buy pears."}); a.Path != "memory/2026-01-05-2.md" {
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

// update updates or fails the test.
func update(t *testing.T, m *Memory, u memory.Update) memory.Updated {
	t.Helper()
	done, err := m.Update(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// An updated line is found by a search, and the old text is not.
func TestUpdateIsFound(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "- The boiler code is 4711.\n"})
	m := appendTo(t, ws)
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	update(t, m, memory.Update{OldText: "4711", NewText: "0815"})
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	answer, err := m.Search(t.Context(), memory.Query{Text: "boiler code"})
	if err != nil || len(answer.Hits) != 1 || !strings.Contains(answer.Hits[0].Snippet, "0815") {
		t.Errorf("%+v, %v", answer.Hits, err)
	}
}
