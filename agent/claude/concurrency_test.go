package claude_test

import (
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
	"kioku/memory"
)

// Hazard F06: notes that MemoryAppend adds to the file of a day while a model edits it are all there in the end, and so is
// what the model wrote.
func TestNotesThatAreAppendedDuringEditsAreNotLost(t *testing.T) {
	base := t.TempDir()
	n := openIn(t, filepath.Join(base, "memory"), filepath.Join(base, "kept"), map[string]string{"2026-01-20.md": "# 2026-01-20\n\nround 0\n"})
	m, err := kioku.Open(t.Context(), kioku.Options{
		Workspace: base, State: filepath.Join(base, "state"), Now: func() time.Time { return noon }, Location: time.UTC,
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
			if _, err := n.call(replace("/memories/2026-01-20.md", fmt.Sprintf("round %d\n", i), fmt.Sprintf("round %d\n", i+1))); err != nil {
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
	if !strings.Contains(text, fmt.Sprintf("\nround %d\n", rounds)) {
		t.Errorf("the last edit is missing:\n%s", text)
	}
}

// renew puts a new file with the same text in the place of one, and holds the lock of the old one meanwhile.
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
func TestAnEditOfAFileThatIsReplacedMeanwhileIsToldOrThere(t *testing.T) {
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
		if _, err := n.call(replace("/memories/2026-01-20.md", "begin\n", "begin\n"+line+"\n")); err == nil {
			want = append(want, line)
		} else if !strings.Contains(err.Error(), "changed by somebody else") {
			t.Error(err)
		}
	}
	close(stop)
	if err := renewing.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.call(replace("/memories/2026-01-20.md", "begin\n", "begin\nafterwards\n")); err != nil {
		t.Error(err)
	}
	text := tree(t, n.folder)["2026-01-20.md"]
	for _, line := range append(want, "afterwards") {
		if strings.Count(text, line+"\n") != 1 {
			t.Errorf("%q is not there once", line)
		}
	}
}

func TestCommandsOfTwoToolsOnOneFolderWaitForEachOther(t *testing.T) {
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

func TestOneOfManyThatCreateAFileSucceeds(t *testing.T) {
	n := open(t, nil)
	done := make(chan error)
	for i := range 8 {
		go func() {
			_, err := n.call(create("/memories/one.md", fmt.Sprint(i)))
			done <- err
		}()
	}
	succeeded := 0
	for range 8 {
		if err := <-done; err == nil {
			succeeded++
		}
	}
	if succeeded != 1 {
		t.Errorf("%d succeeded", succeeded)
	}
}

func TestAFolderThatMayNotBeWrittenIsAnErrorAndNoLoss(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("the superuser may write everywhere")
	}
	n := open(t, map[string]string{"a.md": "a\n"})
	if err := os.Chmod(n.folder, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(n.folder, 0o755)
	for _, fields := range []map[string]any{create("/memories/b.md", "b"), replace("/memories/a.md", "a", "b"), remove("/memories/a.md")} {
		if _, err := n.call(fields); err == nil {
			t.Errorf("%v succeeds", fields)
		}
	}
	if got := tree(t, n.folder)["a.md"]; got != "a\n" {
		t.Errorf("the file is %q", got)
	}
}
