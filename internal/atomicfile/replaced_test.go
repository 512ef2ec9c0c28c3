package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kioku/internal/atomicfile"
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
	err := atomicfile.Replacement{File: f, Have: []byte("old"), Want: []byte("new"), Shared: true}.Replace(root, "a")
	if !errors.Is(err, atomicfile.ErrChanged) || files(t, dir) != "a=old\n" && files(t, dir) != "a=old" {
		t.Errorf("%v, %q", err, files(t, dir))
	}
}
