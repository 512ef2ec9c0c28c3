package files_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"kioku/internal/files"
)

// openDir returns a temporary folder and its root.
func openDir(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

// files returns the files of a folder with their texts.
func namesIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s=%s", e.Name(), text))
	}
	return strings.Join(all, " ")
}

func TestWriteReplacesAndLeavesNoOtherFile(t *testing.T) {
	root, dir := openDir(t)
	for _, want := range []string{"one", "three"} {
		if err := files.Write(root, "a", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := namesIn(t, dir); got != "a="+want {
			t.Errorf("the folder has %q", got)
		}
	}
	if err := files.Write(root, "missing/a", nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into a missing folder: %v", err)
	}
}

func TestWriteSetsThePermissions(t *testing.T) {
	root, _ := openDir(t)
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	for _, perm := range []fs.FileMode{0o600, 0o664} {
		if err := files.Write(root, "a", nil, perm); err != nil {
			t.Fatal(err)
		}
		if info, err := root.Stat("a"); err != nil || info.Mode().Perm() != perm {
			t.Errorf("%v, not %v (%v)", info.Mode(), perm, err)
		}
	}
}

func TestWriteReplacesASymbolicLink(t *testing.T) {
	root, dir := openDir(t)
	other := filepath.Join(t.TempDir(), "other")
	if err := errors.Join(os.WriteFile(other, []byte("mine"), 0o600), os.Symlink(other, filepath.Join(dir, "a"))); err != nil {
		t.Fatal(err)
	}
	if err := files.Write(root, "a", []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(other); string(text) != "mine" || err != nil {
		t.Errorf("the file behind the link: %q, %v", text, err)
	}
	if got := namesIn(t, dir); got != "a=new" {
		t.Errorf("the folder has %q", got)
	}
}

// A reader never sees a part of a file, however often it is replaced.
func TestWriteIsNeverSeenHalfDone(t *testing.T) {
	root, _ := openDir(t)
	texts := []string{strings.Repeat("a", 200_000), strings.Repeat("b", 100_000)}
	if err := files.Write(root, "a", []byte(texts[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var readers sync.WaitGroup
	readers.Go(func() {
		for !stop.Load() {
			if got, err := root.ReadFile("a"); err != nil || string(got) != texts[0] && string(got) != texts[1] {
				t.Errorf("a file of %d bytes, %v", len(got), err)
				return
			}
		}
	})
	for i := range 50 {
		if err := files.Write(root, "a", []byte(texts[i%2]), 0o600); err != nil {
			t.Error(err)
		}
	}
	stop.Store(true)
	readers.Wait()
}

func TestWriteIfChangesNothingWhenItIsNotReady(t *testing.T) {
	root, dir := openDir(t)
	if err := files.Write(root, "a", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := errors.New("changed meanwhile")
	err := files.WriteIf(root, "a", []byte("new"), 0o600, func() error {
		if got := namesIn(t, dir); !strings.Contains(got, "=new") {
			t.Errorf("asked before the new file was written: %q", got)
		}
		return changed
	})
	if !errors.Is(err, changed) || namesIn(t, dir) != "a=old" {
		t.Errorf("%v, and the folder has %q", err, namesIn(t, dir))
	}
}

func TestCreateSucceedsForOneOfMany(t *testing.T) {
	root, dir := openDir(t)
	var made atomic.Int32
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			switch err := files.Create(root, "key", fmt.Append(nil, "key ", i), 0o600); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := namesIn(t, dir); made.Load() != 1 || !strings.HasPrefix(got, "key=key ") || strings.Count(got, "=") != 1 {
		t.Errorf("%d succeeded, and the folder has %q", made.Load(), got)
	}
}

func TestIsTempKnowsWhatACrashLeaves(t *testing.T) {
	root, dir := openDir(t)
	var temp string
	err := files.WriteIf(root, "a.json", nil, 0o600, func() error {
		entries, err := os.ReadDir(dir)
		temp = entries[0].Name()
		return err
	})
	if err != nil || !files.IsTemp(temp) || files.IsTemp("a.json") {
		t.Errorf("%q, %v", temp, err)
	}
}

func TestSyncFolderNeedsAFolder(t *testing.T) {
	root, _ := openDir(t)
	if err := files.SyncFolder(root, "."); err != nil {
		t.Error(err)
	}
	if err := files.SyncFolder(root, "missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
