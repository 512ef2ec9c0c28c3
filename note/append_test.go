package note

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku/internal/testkit"
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
func appendTo(t *testing.T, ws string) *Folder {
	t.Helper()
	return openFolder(t, Options{Path: ws, Now: clock("2026-01-05T12:40:00Z"), Location: time.FixedZone("JST", 9*3600)})
}

// note appends or fails the test.
func addNote(t *testing.T, m *Folder, n memory.Note) memory.Appended {
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

func TestAppendWritesSectionsAndBullets(t *testing.T) {
	ws := workspace(t, map[string]string{"MEMORY.md": "# Memory\n\n- old"})
	m := appendTo(t, ws)
	for _, c := range []struct {
		n    memory.Note
		path string
		line int
	}{
		{memory.Note{Text: "The ferry was late.\r\nAgain.", Category: "travel"}, "memory/2026-01-05.md", 3},
		{memory.Note{Text: " 港で会った \n"}, "memory/2026-01-05.md", 8},
		{memory.Note{Text: "Prefers tea.\nGreen, that is.", Target: memory.TargetLongTerm}, "MEMORY.md", 4},
	} {
		if got := addNote(t, m, c.n); got.Path != c.path || got.StartLine != c.line || got.Deduplicated {
			t.Errorf("%+v: got %+v", c.n, got)
		}
	}
	want := "# 2026-01-05\n\n## 21:40 - travel\n\nThe ferry was late.\nAgain.\n\n## 21:40 - note\n\n港で会った\n"
	if got := read(t, ws, "memory/2026-01-05.md"); got != want {
		t.Errorf("daily file: %q", got)
	}
	if got, want := read(t, ws, "MEMORY.md"), "# Memory\n\n- old\n- Prefers tea.\n  Green, that is.\n"; got != want {
		t.Errorf("MEMORY.md: %q", got)
	}
}

func TestAppendWritesATextOnce(t *testing.T) {
	for _, target := range []string{memory.TargetDaily, memory.TargetLongTerm} {
		ws := t.TempDir()
		m := appendTo(t, ws)
		first := addNote(t, m, memory.Note{Text: "one\ntwo", Target: target})
		addNote(t, m, memory.Note{Text: "something else", Target: target})
		again := addNote(t, m, memory.Note{Text: "one\ntwo", Target: target})
		if !again.Deduplicated || again.Path != first.Path || again.StartLine != first.StartLine {
			t.Errorf("%s: first %+v, again %+v", target, first, again)
		}
		for _, part := range []string{"one", "one\ntwo\nthree", "two"} {
			if a := addNote(t, m, memory.Note{Text: part, Target: target}); a.Deduplicated {
				t.Errorf("%s: %q is taken for a note that only contains it", target, part)
			}
		}
		if n := strings.Count(read(t, ws, first.Path), "one\n"); n != 3 {
			t.Errorf("%s: \"one\" stands there %d times, want 3", target, n)
		}
	}
}

func TestAppendWritesAKeyOnceAcrossMidnightWithoutIndex(t *testing.T) {
	ws := t.TempDir()
	m := appendTo(t, ws)
	first := addNote(t, m, memory.Note{Text: "one", Key: "k --> 1"})
	if strings.Contains(read(t, ws, first.Path), "k --> 1") {
		t.Error("the key itself stands in the file")
	}
	later := openFolder(t, Options{Path: ws, Now: clock("2026-01-06T09:00:00Z"), Location: time.UTC})
	again := addNote(t, later, memory.Note{Text: "one", Key: "k --> 1"})
	if !again.Deduplicated || again.Path != first.Path || again.StartLine != first.StartLine {
		t.Errorf("first %+v, again %+v", first, again)
	}
	if a := addNote(t, later, memory.Note{Text: "one", Key: "k2"}); a.Deduplicated || a.Path != "memory/2026-01-06.md" {
		t.Errorf("the same text on another day with another key: %+v", a)
	}
	for range 2 {
		addNote(t, m, memory.Note{Text: "keep", Target: memory.TargetLongTerm, Key: "k3"})
	}
	if n := strings.Count(read(t, ws, "MEMORY.md"), "keep"); n != 1 {
		t.Errorf("MEMORY.md holds it %d times", n)
	}
}

func TestAppendRefusesInvalidNotes(t *testing.T) {
	ws := t.TempDir()
	m := appendTo(t, ws)
	for field, n := range map[string]memory.Note{
		"text":            {Text: " \n "},
		"target":          {Text: "x", Target: "weekly"},
		"category":        {Text: "x", Category: strings.Repeat("c", 65)},
		"idempotency_key": {Text: "x", Key: strings.Repeat("k", 257)},
	} {
		var input *memory.InputError
		if _, err := m.Append(t.Context(), n); !errors.As(err, &input) || input.Field != field {
			t.Errorf("%s: got %v", field, err)
		}
	}
	for _, text := range []string{"\xff", "a\x00b", strings.Repeat("x", maxNoteBytes+1)} {
		if _, err := m.Append(t.Context(), memory.Note{Text: text}); err == nil {
			t.Errorf("%.10q was taken", text)
		}
	}
	if entries, err := os.ReadDir(ws); err != nil || len(entries) != 0 {
		t.Errorf("something was written: %v, %v", entries, err)
	}
}

func TestAppendStaysInWorkspace(t *testing.T) {
	parent := t.TempDir()
	testkit.WriteFile(t, parent, "outside/keep.md", "x")
	ws := filepath.Join(parent, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"memory": "../outside", "MEMORY.md": "../outside/keep.md"} {
		if err := os.Symlink(target, filepath.Join(ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	m := appendTo(t, ws)
	for _, target := range []string{memory.TargetDaily, memory.TargetLongTerm} {
		if a, err := m.Append(t.Context(), memory.Note{Text: "note", Target: target}); err == nil {
			t.Errorf("%s: written to %+v", target, a)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(parent, "outside")); err != nil || len(entries) != 1 || read(t, parent, "outside/keep.md") != "x" {
		t.Errorf("something outside changed: %v, %v", entries, err)
	}
}

// Hazard F06: two agents append to the same day file at once; every note is whole and none is lost.
func TestAppendFromTwoMemoriesToOneFile(t *testing.T) {
	ws := t.TempDir()
	var g errgroup.Group
	for agent := range 2 {
		m := openFolder(t, Options{Path: ws, Now: clock("2026-01-05T12:00:00Z"), Location: time.UTC})
		g.Go(func() error {
			for i := range 25 {
				if _, err := m.Append(t.Context(), memory.Note{Text: fmt.Sprintf("agent %d note %d\nits second line", agent, i)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	text := read(t, ws, "memory/2026-01-05.md")
	for agent := range 2 {
		for i := range 25 {
			if want := fmt.Sprintf("## 12:00 - note\n\nagent %d note %d\nits second line\n", agent, i); !strings.Contains(text, want) {
				t.Errorf("lost or torn: %q", want)
			}
		}
	}
	if strings.Count(text, "# 2026-01-05\n") != 1 {
		t.Error("the title stands there more than once")
	}
}

// renew puts a new file with the same text in the place of one, as editors do, and holds the lock of the
// old one meanwhile.
func renew(dir, name string) error {
	path := filepath.Join(dir, name)
	f, err := openLocked(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err == nil {
		err = os.WriteFile(path+".tmp", text, 0o644)
	}
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	return err
}

// openLocked opens and locks the file that has a name once it is locked: while others hold the lock they may put a new one there.
func openLocked(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		locked, statErr := f.Stat()
		named, nameErr := os.Stat(path)
		switch err := errors.Join(err, statErr, nameErr); {
		case err == nil && os.SameFile(locked, named):
			return f, nil
		case err != nil:
			f.Close()
			return nil, err
		}
		f.Close()
	}
}

// Hazard F06: an editor that replaces the file of a day again and again, while notes wait for its lock, swallows none.
func TestAppendToReplacedFileLosesNoNote(t *testing.T) {
	ws := t.TempDir()
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			if err := renew(ws, "memory/2026-01-05.md"); err != nil {
				stopped <- err
				return
			}
		}
	}()
	var g errgroup.Group
	for agent := range 2 {
		m := appendTo(t, ws)
		g.Go(func() error {
			for i := range 50 {
				if _, err := m.Append(t.Context(), memory.Note{Text: fmt.Sprintf("agent %d note %d.", agent, i)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := g.Wait()
	close(stop)
	if err := errors.Join(err, <-stopped); err != nil {
		t.Fatal(err)
	}
	text := read(t, ws, "memory/2026-01-05.md")
	for agent := range 2 {
		for i := range 50 {
			if n := strings.Count(text, fmt.Sprintf("agent %d note %d.\n", agent, i)); n != 1 {
				t.Errorf("note %d of agent %d is %d times in the file", i, agent, n)
			}
		}
	}
}

// Hazard B17: a named pipe in the place of a day file keeps no note from being written, nor does it hang.
func TestAppendDoesNotWaitForANamedPipe(t *testing.T) {
	ws := t.TempDir()
	if err := os.Mkdir(filepath.Join(ws, "memory"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(ws, "memory", "2026-01-04.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := appendTo(t, ws)
	addNote(t, m, memory.Note{Text: "one", Key: "k"})
	if err := syscall.Mkfifo(filepath.Join(ws, "MEMORY.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	if a, err := m.Append(t.Context(), memory.Note{Text: "two", Target: memory.TargetLongTerm}); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("a pipe in the way: %+v, %v", a, err)
	}
}

func TestAppendReportsMissingWorkspace(t *testing.T) {
	ws := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	m := appendTo(t, ws)
	if err := os.Remove(ws); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Append(t.Context(), memory.Note{Text: "one"}); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestAppendStripsRecalledMemories(t *testing.T) {
	ws := t.TempDir()
	m := openFolder(t, Options{Path: ws})
	tag := memory.RecalledTag + ` id="0123456789abcdef">`
	frame := "<" + tag + "\n" + `{"source":"MEMORY.md#L1","agent":"main","score":0.50,"text":"She drinks green tea."}` + "\n</" + tag
	if _, err := m.Append(t.Context(), memory.Note{Text: frame + "\n\nShe has moved to Kyoto.", Target: memory.TargetLongTerm}); err != nil {
		t.Fatal(err)
	}
	var input *memory.InputError
	if _, err := m.Append(t.Context(), memory.Note{Text: frame}); !errors.As(err, &input) || input.Field != "text" {
		t.Errorf("a note of recalled text only: %v", err)
	}
	got, err := os.ReadFile(filepath.Join(ws, "MEMORY.md"))
	if want := "- She has moved to Kyoto.\n"; err != nil || string(got) != want {
		t.Errorf("MEMORY.md is %q, %v; want %q", got, err, want)
	}
}

// The same text in another category is another note: a decision is not lost because it was first a note.
func TestAppendWritesATextOnceInEachCategory(t *testing.T) {
	ws := t.TempDir()
	m := appendTo(t, ws)
	for _, text := range []string{"The invoice number is 4711.", strings.Repeat("long ", 200) + "end"} {
		for _, category := range []string{"", "decision"} {
			for again := range 2 {
				n := memory.Note{Text: text, Category: category, Source: memory.NoteFromUser}
				if a := addNote(t, m, n); a.Deduplicated != (again == 1) {
					t.Errorf("%.10s, category %q, time %d: %+v", text, category, again, a)
				}
			}
		}
	}
}

// A note gets the line ends of its file, also at the end of it.
func TestAppendKeepsTheLineEndsOfAFile(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{"MEMORY.md": "\ufeff# M\r\n\r\n- a\r\n", "memory/2026-01-05.md": "# 2026-01-05\r\n\r\n## 21:00 - note\r\n\r\na\r\n\r\n"})
	m := appendTo(t, ws)
	long := strings.Repeat("A long note.\n", 60) + "Its end."
	for _, n := range []memory.Note{
		{Text: "b\nc", Target: memory.TargetLongTerm, Category: "fact"}, {Text: "d", Target: memory.TargetLongTerm, Category: "fact"},
		{Text: long, Target: memory.TargetLongTerm, Category: "fact"}, {Text: "b\nc"}, {Text: long},
	} {
		a := addNote(t, m, n)
		text := read(t, ws, a.Path)
		if strings.Count(text, "\n") != strings.Count(text, "\r\n") || strings.Contains(text, "\r\n\r\n\r\n") {
			t.Errorf("%.20q: %q", n.Text, text)
		}
		if again := addNote(t, m, n); !again.Deduplicated || again.StartLine != a.StartLine {
			t.Errorf("%.20q: %+v, and again %+v", n.Text, a, again)
		}
	}
}
