package note

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku/internal/testkit"
	"kioku/memory"
)

// Long-term notes go under the heading of their category, whatever the style of the file, and nothing else of it changes.
func TestAppendWritesUnderTheHeadingOfTheCategory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		have, category, want string
		line                 int
	}{
		"new file":              {"", "decision", "## Decision\n\n- N\n", 3},
		"new section":           {"# Memory\n\n- old", "decision", "# Memory\n\n- old\n\n## Decision\n\n- N\n", 7},
		"last section":          {"## Facts\n\n- a\n\n## Decisions\n\n- b\n", "decision", "## Facts\n\n- a\n\n## Decisions\n\n- b\n- N\n", 8},
		"in the middle":         {"## Decisions\n\n- a\n\n## Facts\n\n- b\n", "decision", "## Decisions\n\n- a\n- N\n\n## Facts\n\n- b\n", 4},
		"no blank line":         {"## Decisions\n- a\n## Facts\n- b\n", "decision", "## Decisions\n- a\n- N\n\n## Facts\n- b\n", 3},
		"empty section":         {"## Decisions\n\n## Facts\n", "Decision", "## Decisions\n\n- N\n\n## Facts\n", 3},
		"prose":                 {"## Decisions\n\nWhat we want.\n\n## Facts\n", "decision", "## Decisions\n\nWhat we want.\n\n- N\n\n## Facts\n", 5},
		"subsections":           {"# Decisions\n\n- a\n\n## 2025\n\n- b\n", "decision", "# Decisions\n\n- a\n- N\n\n## 2025\n\n- b\n", 4},
		"case and marks":        {"## **PREFERENCES:** ##\n\n- a\n\n## B\n", "preference", "## **PREFERENCES:** ##\n\n- a\n- N\n\n## B\n", 4},
		"plural with y":         {"## Categories\n\n- a\n\n## B\n", "category", "## Categories\n\n- a\n- N\n\n## B\n", 4},
		"heading in a fence":    {"```\n## Decision\n```\n\n## Facts\n- a\n", "decision", "```\n## Decision\n```\n\n## Facts\n- a\n\n## Decision\n\n- N\n", 10},
		"heading in a bullet":   {"## Facts\n\n- a\n  \n  ## Part\n  \n  b\n\n## B\n", "fact", "## Facts\n\n- a\n  \n  ## Part\n  \n  b\n- N\n\n## B\n", 8},
		"heading in a comment":  {"<!--\n## Decision\n-->\n\n- a\n", "decision", "<!--\n## Decision\n-->\n\n- a\n\n## Decision\n\n- N\n", 9},
		"front matter":          {"---\ndecision: x\n---\n\n# Memory\n", "decision: x", "---\ndecision: x\n---\n\n# Memory\n\n## Decision: x\n\n- N\n", 9},
		"underlined":            {"Decisions\n---------\n\n- a\n\nFacts\n-----\n\n- b\n", "decision", "Decisions\n---------\n\n- a\n- N\n\nFacts\n-----\n\n- b\n", 5},
		"underlined at once":    {"Decisions\n---\n- a\n\nFacts\n---\n", "decision", "Decisions\n---\n- a\n- N\n\nFacts\n---\n", 4},
		"Windows":               {"\ufeff## Decisions\r\n\r\n- a\r\n\r\n## Facts\r\n", "decision", "\ufeff## Decisions\r\n\r\n- a\r\n- N\r\n\r\n## Facts\r\n", 4},
		"Japanese":              {"## 重要な決定\n\n- a\n\n## 好み\n\n- b\n", "重要な決定", "## 重要な決定\n\n- a\n- N\n\n## 好み\n\n- b\n", 4},
		"Chinese, new":          {"## 偏好\n\n- a\n", "决定", "## 偏好\n\n- a\n\n## 决定\n\n- N\n", 7},
		"repeated heading":      {"## Fact\n\n- a\n\n## B\n\n## Fact\n\n- b\n\n## C\n", "fact", "## Fact\n\n- a\n\n## B\n\n## Fact\n\n- b\n- N\n\n## C\n", 10},
		"no category":           {"# Memory\n\n- a\n", "", "# Memory\n\n- a\n- N\n", 4},
		"no category, sections": {"# Memory\n\n## Facts\n\n- a\n", "", "# Memory\n\n## Facts\n\n- a\n\n## Notes\n\n- N\n", 9},
		"no final line break":   {"## Facts\n\n- a", "fact", "## Facts\n\n- a\n- N\n", 4},
		"bad bytes":             {"## Facts\n\n- é ü \xff\n\n## B\n", "fact", "## Facts\n\n- é ü \xff\n- N\n\n## B\n", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ws := workspace(t, map[string]string{"MEMORY.md": c.have})
			m := appendTo(t, ws)
			n := memory.Note{Text: "N", Target: memory.TargetLongTerm, Category: c.category}
			a := addNote(t, m, n)
			if got := read(t, ws, "MEMORY.md"); got != c.want || a.StartLine != c.line {
				t.Errorf("line %d, %q; want line %d, %q", a.StartLine, got, c.line, c.want)
			}
			if again := addNote(t, m, n); !again.Deduplicated || again.StartLine != c.line {
				t.Errorf("written again: %+v", again)
			}
			if entries, err := os.ReadDir(ws); err != nil || len(entries) != 1 {
				t.Errorf("%v, %v", entries, err)
			}
		})
	}
}

// While another program has MEMORY.md open, what it may write there is not put at risk: the note goes to the end of the file, below
// the heading of its category once more.
func TestAppendRepeatsTheHeadingWhileTheFileIsInUse(t *testing.T) {
	const text = "## Decisions\n\n- a\n\n## Facts\n\n- b\n"
	ws := workspace(t, map[string]string{"MEMORY.md": text})
	m := appendTo(t, ws)
	other, err := os.OpenFile(filepath.Join(ws, "MEMORY.md"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	a := addNote(t, m, memory.Note{Text: "N", Target: memory.TargetLongTerm, Category: "decision", Key: "k"})
	if _, err := other.WriteString("- from elsewhere\n"); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	got := read(t, ws, "MEMORY.md")
	if !strings.HasPrefix(got, text+"\n## Decision\n\n- N <!--") || !strings.HasSuffix(got, " -->\n- from elsewhere\n") || a.StartLine != 11 {
		t.Errorf("line %d, %q", a.StartLine, got)
	}
	addNote(t, m, memory.Note{Text: "O", Target: memory.TargetLongTerm, Category: "decisions"})
	if got := read(t, ws, "MEMORY.md"); strings.Count(got, "Decision") != 2 || !strings.HasSuffix(got, "- from elsewhere\n- O\n") {
		t.Errorf("the last heading of the category is not used: %q", got)
	}
}

// A file that cannot be replaced, because it has a second name or its folder takes no new file, gets the note at its end.
func TestAppendGoesToTheEndOfAFileThatCannotBeReplaced(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root may write into any folder; only the second name is tested")
	}
	for name, prepare := range map[string]func(file string) error{
		"second name":      func(file string) error { return os.Link(file, file+".link") },
		"read-only folder": func(file string) error { return os.Chmod(filepath.Dir(file), 0o555) },
	} {
		t.Run(name, func(t *testing.T) {
			ws := workspace(t, map[string]string{"MEMORY.md": "## Decisions\n\n- a\n\n## Facts\n\n- b\n"})
			m := appendTo(t, ws)
			if err := prepare(filepath.Join(ws, "MEMORY.md")); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(ws, 0o755) })
			if name == "read-only folder" && os.Geteuid() == 0 {
				t.Skip("root may write into any folder")
			}
			addNote(t, m, memory.Note{Text: "N", Target: memory.TargetLongTerm, Category: "decision"})
			if got := read(t, ws, "MEMORY.md"); !strings.HasSuffix(got, "- b\n\n## Decision\n\n- N\n") {
				t.Errorf("%q", got)
			}
		})
	}
}

// Hazard A12: whatever others append to MEMORY.md while notes go under the headings of their categories, no line of theirs and
// no note is lost.
func TestAppendUnderAHeadingLosesNoLineOfOthers(t *testing.T) {
	ws := workspace(t, map[string]string{"MEMORY.md": "## Decisions\n\n- a\n\n## Facts\n\n- b\n"})
	m := appendTo(t, ws)
	var ended atomic.Bool
	var others errgroup.Group
	lines := 0
	others.Go(func() (err error) {
		lines, err = appendFrom(filepath.Join(ws, "MEMORY.md"), &ended)
		return err
	})
	notes := testkit.Rounds(500, 30)
	for i := range notes {
		addNote(t, m, memory.Note{Text: "note " + numbered(i), Target: memory.TargetLongTerm, Category: "decision"})
	}
	ended.Store(true)
	if err := others.Wait(); err != nil {
		t.Fatal(err)
	}
	got := read(t, ws, "MEMORY.md")
	for what, n := range map[string]int{"line": lines, "note": notes} {
		for i := range n {
			if n := strings.Count(got, "\n- "+what+" "+numbered(i)+"\n"); n != 1 {
				t.Errorf("%s %d is there %d times", what, i, n)
			}
		}
	}
	t.Logf("%d notes, %d lines of others, %d headings", notes, lines, strings.Count(got, "## Decision"))
}

// numbered returns six digits.
func numbered(i int) string { return fmt.Sprintf("%06d", i) }

// appendFrom appends numbered lines, as a script does that opens the file for each, and returns how many.
func appendFrom(file string, ended *atomic.Bool) (lines int, err error) {
	for ; !ended.Load(); lines++ {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return lines, err
		}
		_, err = f.WriteString("- line " + numbered(lines) + "\n")
		if err := errors.Join(err, f.Close()); err != nil {
			return lines, err
		}
		time.Sleep(200 * time.Microsecond)
	}
	return lines, nil
}
