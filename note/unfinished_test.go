package note

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kioku/internal/files"
	"kioku/internal/testkit"
	"kioku/memory"
)

// longText returns a text of several paragraphs.
func longText(i int) string {
	return fmt.Sprintf("Barrel %d.\n", i) + strings.Repeat("It holds salt, and the salt is white.\nNobody knows who brought it.\n\n", 12) + "That is all."
}

// Hazard F06: wherever a kill has cut a long note off, the same note written again is there whole and once, behind what is left, and what
// others have written since stays.
func TestAppendWritesANoteThatWasCutOffWhole(t *testing.T) {
	for _, target := range []string{memory.TargetDaily, memory.TargetLongTerm} {
		for _, key := range []string{"k", ""} {
			for _, theirs := range []string{"", "their line\n", "\n\n## 22:00 - note\n\ntheir note <!-- kioku from=user -->\n", "\n- their bullet"} {
				n := memory.Note{Text: longText(1), Key: key, Target: target}
				ws := t.TempDir()
				m := appendTo(t, ws)
				a := addNote(t, m, n)
				whole := read(t, ws, a.Path)
				note := strings.TrimSuffix(whole[strings.Index(whole, longText(1)[:6]):], "\n")
				for end := 0; end < len(whole)-len(markerOf(n))-2; end += testkit.Rounds(7, 97) {
					left := whole[:end] + theirs
					if err := os.WriteFile(filepath.Join(ws, a.Path), []byte(left), 0o644); err != nil {
						t.Fatal(err)
					}
					again := addNote(t, m, n)
					if got := read(t, ws, a.Path); !strings.HasPrefix(got, left) || strings.Count(got, note) != 1 || again.Deduplicated {
						t.Fatalf("%s, cut off after %d of %d bytes: %+v, and the end is %q", target, end, len(whole), again, got[max(0, len(got)-20):])
					}
					if once := addNote(t, m, n); !once.Deduplicated || once.StartLine != again.StartLine {
						t.Fatalf("%s, cut off after %d of %d bytes, written again: %+v, not %+v", target, end, len(whole), once, again)
					}
				}
			}
		}
	}
}

// A note that only begins like another one is no part of it.
func TestAppendDoesNotFinishAnotherNote(t *testing.T) {
	for _, target := range []string{memory.TargetDaily, memory.TargetLongTerm} {
		ws := t.TempDir()
		m := appendTo(t, ws)
		short, long := longText(1), longText(1)+"\nNot quite."
		addNote(t, m, memory.Note{Text: short, Target: target})
		if a := addNote(t, m, memory.Note{Text: long, Target: target}); a.Deduplicated || a.StartLine < 10 {
			t.Errorf("%s: %+v", target, a)
		}
		if a := addNote(t, m, memory.Note{Text: short, Target: target}); !a.Deduplicated {
			t.Errorf("%s: the shorter note is written again: %+v", target, a)
		}
	}
}

// appendChildEnv makes a copy of the test binary append notes, see appendChild.
const appendChildEnv = "KIOKU_TEST_APPEND_CHILD"

// childNote is note i of appendChild.
func childNote(i int) memory.Note {
	return memory.Note{Text: longText(i) + strings.Repeat(" x", 10_000), Key: fmt.Sprint(i)}
}

// TestAppendChild is no test: it appends notes for other tests, from the number in the environment on, and writes the number
// of each one that was acknowledged to standard output.
func TestAppendChild(t *testing.T) {
	var workspace string
	var first, limit int
	if _, err := fmt.Sscanf(os.Getenv(appendChildEnv), "%d %d %s", &first, &limit, &workspace); err != nil {
		t.Skip("runs as a child only")
	}
	m := appendTo(t, workspace)
	if limit > 0 {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(limit), Max: uint64(limit)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := first; ; i++ {
		if _, err := m.Append(t.Context(), childNote(i)); err != nil {
			fmt.Println("failed", errors.Is(err, memory.ErrNoSpace), errors.Is(err, syscall.EFBIG), errors.Is(err, files.ErrTorn))
			return
		}
		fmt.Println("acknowledged", i)
	}
}

// startAppendChild starts appendChild for a workspace. A limit above 0 is the maximum size of its files.
func startAppendChild(t *testing.T, workspace string, first, limit int) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAppendChild$")
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), fmt.Sprintf("%s=%d %d %s", appendChildEnv, first, limit, workspace))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// Hazard F06: whenever a writer of large notes is killed, no acknowledged note is lost, and each that comes again is whole and
// there once.
func TestAppendOfKilledWritersIsThereOnce(t *testing.T) {
	ws := t.TempDir()
	next, random := 0, rand.New(rand.NewPCG(testkit.Seed(), 0))
	for range testkit.Rounds(200, 5) {
		cmd, out := startAppendChild(t, ws, next, 0)
		wait := time.Duration(random.IntN(60)) * time.Millisecond
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, err := fmt.Sscanf(lines.Text(), "acknowledged %d", &next); err != nil {
				continue
			}
			if next++; wait >= 0 {
				time.AfterFunc(wait, func() { _ = cmd.Process.Kill() })
				wait = -1
			}
		}
		_ = cmd.Wait() // it was killed
	}
	m := appendTo(t, ws)
	addNote(t, m, childNote(next)) // was perhaps cut off
	var all strings.Builder
	for part := 1; part <= 1+next*25_000/(10<<20)+1; part++ {
		text, _ := os.ReadFile(filepath.Join(ws, dayFile(notesFolder, m.opt.Now().In(m.opt.Location), part)))
		all.Write(text)
	}
	got := all.String()
	for i := range next + 1 {
		n := childNote(i)
		if count := strings.Count(got, "\n\n"+withMarker(n.Text, "", n)+"\n"); count != 1 {
			t.Errorf("note %d of %d is there %d times", i, next, count)
		}
	}
	t.Logf("%d notes", next+1)
}

// Hazard A13: a note that does not fit on the disk is not there if nobody else has the file open. If somebody has, its
// beginning may stay, and the note that comes again is there once.
func TestAppendBeyondALimitIsTakenBack(t *testing.T) {
	for _, open := range []bool{false, true} {
		t.Run(fmt.Sprint("open ", open), func(t *testing.T) {
			ws := t.TempDir()
			a := addNote(t, appendTo(t, ws), memory.Note{Text: "before"})
			before := read(t, ws, a.Path)
			if open {
				f, err := os.Open(filepath.Join(ws, a.Path))
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
			}
			cmd, out := startAppendChild(t, ws, 0, 1<<17)
			said, err := io.ReadAll(out)
			if err := errors.Join(err, cmd.Wait()); err != nil {
				t.Fatal(err)
			}
			next := strings.Count(string(said), "acknowledged ")
			if want := fmt.Sprintf("failed true true %v\n", open); !strings.Contains(string(said), want) || next == 0 {
				t.Errorf("the child says %q, want %q", said, want)
			}
			n := childNote(next)
			if got := read(t, ws, a.Path); strings.Contains(got, n.Text[:10]) != open || !strings.HasPrefix(got, before) {
				t.Errorf("a beginning is left: %v", !open)
			}
			addNote(t, appendTo(t, ws), n)
			if got := read(t, ws, a.Path); strings.Count(got, withMarker(n.Text, "", n)) != 1 {
				t.Error("the note is not there once")
			}
		})
	}
}
