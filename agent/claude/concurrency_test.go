package claude_test

import (
	"context"
	"encoding/json"
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

	"kioku"
	"kioku/agent/claude"
	"kioku/memory"
)

// Hazard F06: notes that MemoryAppend adds to the file of a day while a model edits it are all there in the end, and so is
// what the model wrote.
func TestInsertLosesNoNoteThatIsAppendedMeanwhile(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	n := openIn(t, filepath.Join(base, "memory"), filepath.Join(base, "kept"), map[string]string{"2026-01-20.md": "# 2026-01-20\n\nround 0\n"})
	m, err := kioku.Open(t.Context(), kioku.Options{
		Workspace: base, StateDir: filepath.Join(base, "state"), Now: func() time.Time { return noon }, Location: time.UTC,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	const rounds = 40
	var both errgroup.Group
	both.Go(func() error {
		for i := range rounds {
			if _, err := m.Append(t.Context(), memory.Note{Text: fmt.Sprintf("appended %d.", i)}); err != nil {
				return err
			}
		}
		return nil
	})
	both.Go(func() error {
		for i := range rounds {
			if err := n.addLine("2026-01-20.md", fmt.Sprintf("round %d", i+1)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := both.Wait(); err != nil {
		t.Fatal(err)
	}
	text := tree(t, n.folder)["2026-01-20.md"]
	for i := range rounds {
		if strings.Count(text, fmt.Sprintf("\nappended %d.\n", i)) != 1 {
			t.Errorf("note %d is not there once", i)
		}
	}
	for i := range rounds {
		if strings.Count(text, fmt.Sprintf("\nround %d\n", i+1)) != 1 {
			t.Errorf("line %d of the model is not there once:\n%s", i+1, text)
		}
	}
}

// addLine inserts a line at the end of a file, and again if others have added to it since its lines were counted.
func (n *notes) addLine(name, line string) error {
	for {
		text, err := os.ReadFile(filepath.Join(n.folder, name))
		if err != nil {
			return err
		}
		_, err = n.call(insert("/memories/"+name, strings.Count(string(text), "\n"), line))
		if err == nil || !strings.Contains(err.Error(), "text is only added") {
			return err
		}
	}
}

// renew puts a new file with the same text in place of one, and holds the lock of the old one meanwhile.
func renew(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	if err == nil {
		err = os.WriteFile(path+".tmp", text, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	return err
}

// Hazard F06: an edit of a file that is replaced while it waits for its lock is refused, or is there.
func TestInsertIntoAFileThatIsReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	const rounds = 60
	n := open(t, map[string]string{"2026-01-20.md": "begin\n"})
	path := filepath.Join(n.folder, "2026-01-20.md")
	var renewing errgroup.Group
	stop := make(chan struct{})
	renewing.Go(func() error {
		for {
			select {
			case <-stop:
				return nil
			default:
				if err := renew(path); err != nil {
					return err
				}
			}
		}
	})
	var want []string
	for i := range rounds {
		line := fmt.Sprintf("edit %d", i)
		if err := n.addLine("2026-01-20.md", line); err == nil {
			want = append(want, line)
		} else if !strings.Contains(err.Error(), "changed by somebody else") {
			t.Error(err)
		}
	}
	close(stop)
	if err := renewing.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := n.addLine("2026-01-20.md", "afterwards"); err != nil {
		t.Error(err)
	}
	text := tree(t, n.folder)["2026-01-20.md"]
	for _, line := range append(want, "afterwards") {
		if strings.Count(text, line+"\n") != 1 {
			t.Errorf("%q is not there once", line)
		}
	}
}

func TestCallWaitsForOtherToolsOnTheFolder(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{"list.md": ""})
	other := openIn(t, n.folder, n.kept, nil)
	const rounds = 30
	var both errgroup.Group
	for who, tool := range []*notes{n, other} {
		both.Go(func() error {
			for i := range rounds {
				if _, err := tool.call(insert("/memories/list.md", 0, fmt.Sprintf("%d of %d", i, who))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := both.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(tree(t, n.folder)["list.md"], "\n"); got != 2*rounds {
		t.Errorf("%d lines, want %d", got, 2*rounds)
	}
	if got := len(tree(t, n.kept)); got != 2*rounds {
		t.Errorf("%d copies, want %d", got, 2*rounds)
	}
}

// Hazard F06: a command that waits for a lock of another process gives up at the deadline, and has changed nothing.
func TestCallWaitsForALockUntilTheDeadline(t *testing.T) {
	t.Parallel()
	for _, held := range []string{".", "2026-01-20.md"} {
		n := open(t, map[string]string{"2026-01-20.md": "tea\n"})
		lock, err := os.Open(filepath.Join(n.folder, held))
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		_, err = n.tool.Call(ctx, claude.Name, json.RawMessage(`{"command":"insert","path":"/memories/2026-01-20.md","insert_line":1,"insert_text":"x"}`))
		if text := tree(t, n.folder)["2026-01-20.md"]; !errors.Is(err, context.DeadlineExceeded) || text != "tea\n" {
			t.Errorf("%s is locked: %v, %q", held, err, text)
		}
	}
}
