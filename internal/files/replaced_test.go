package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kioku/internal/files"
)

// A file that an editor has just replaced, with a backup that it has removed, has changed; it is not in use.
func TestReplaceKnowsAFileThatAnEditorHasReplaced(t *testing.T) {
	root, dir := openDir(t)
	name := filepath.Join(dir, "a")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := openAppend(t, name)
	if err := errors.Join(os.Rename(name, name+"~"), os.WriteFile(name, []byte("old"), 0o600), os.Remove(name+"~")); err != nil {
		t.Fatal(err)
	}
	err := files.Replacement{File: f, Have: []byte("old"), Want: []byte("new"), Shared: true}.Replace(root, "a")
	if !errors.Is(err, files.ErrChanged) || namesIn(t, dir) != "a=old\n" && namesIn(t, dir) != "a=old" {
		t.Errorf("%v, %q", err, namesIn(t, dir))
	}
}
