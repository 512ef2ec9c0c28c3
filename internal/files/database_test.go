package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kioku/internal/files"
	"kioku/internal/testkit"
)

// content returns what a file has, "-" if there is none.
func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "-"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A new database takes the place of the old one with nothing of the old log beside it, or the old one stays as it was.
func TestReplaceDatabaseLeavesNoLogOfTheOldOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.sqlite")
	for name, text := range map[string]string{"a.sqlite": "old", "a.sqlite-wal": "old log", "a.sqlite-shm": "old shm"} {
		testkit.WriteFile(t, dir, name, text)
	}
	wrong := errors.New("the disk is full")
	err := files.ReplaceDatabase(path, func(draft string) error {
		testkit.WriteFile(t, dir, filepath.Base(draft), "half")
		testkit.WriteFile(t, dir, filepath.Base(draft)+"-wal", "half")
		return wrong
	})
	if left, _ := filepath.Glob(path + ".*"); !errors.Is(err, wrong) || content(t, path) != "old" || content(t, path+"-wal") != "old log" || len(left) > 0 {
		t.Fatalf("%v; the file has %q, beside it %v", err, content(t, path), left)
	}
	err = files.ReplaceDatabase(path, func(draft string) error {
		info, err := os.Stat(draft)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the draft has mode %v, %v", info.Mode(), err)
		}
		return os.WriteFile(draft, []byte("new"), 0)
	})
	if err != nil || content(t, path) != "new" || content(t, path+"-wal") != "-" || content(t, path+"-shm") != "-" {
		t.Errorf("%v; the file has %q, its log %q", err, content(t, path), content(t, path+"-wal"))
	}
}

// A replacement goes on after a kill at any of its steps.
func TestFinishDatabaseGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		left      map[string]string
		want, log string
	}{
		"nothing to do":        {map[string]string{"": "old", "-wal": "log"}, "old", "log"},
		"the draft not whole":  {map[string]string{"": "old", "-wal": "log", ".draft": "half", ".draft-wal": "half"}, "old", "log"},
		"whole":                {map[string]string{"": "old", "-wal": "log", ".whole": "new"}, "new", "-"},
		"the log removed":      {map[string]string{"": "old", ".whole": "new"}, "new", "-"},
		"the old one removed":  {map[string]string{".whole": "new"}, "new", "-"},
		"all but a log":        {map[string]string{"-wal": "log", ".whole": "new"}, "new", "-"},
		"there was none, half": {map[string]string{".draft": "half"}, "-", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "a.sqlite")
			for suffix, text := range tc.left {
				testkit.WriteFile(t, dir, "a.sqlite"+suffix, text)
			}
			err := files.FinishDatabase(path)
			if left, _ := filepath.Glob(path + ".*"); err != nil || content(t, path) != tc.want || content(t, path+"-wal") != tc.log || len(left) > 0 {
				t.Errorf("%v; the file has %q, its log %q, beside it %v", err, content(t, path), content(t, path+"-wal"), left)
			}
		})
	}
}
