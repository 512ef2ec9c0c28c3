package setup_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/cmd/kioku/internal/setup"
	"kioku/internal/testkit"
)

// A configuration that is a symbolic link into a folder of dotfiles stays one, and keeps its permissions.
func TestWriteKeepsLinksAndPermissions(t *testing.T) {
	t.Parallel()
	d, c := newDesk(t), client(t, "codex")
	path, dotfiles := d.path(c, setup.User), t.TempDir()
	target := filepath.Join(dotfiles, "codex.toml")
	testkit.Must(t, errors.Join(os.WriteFile(target, []byte("a = 1\n"), 0o640), os.Chmod(target, 0o640), os.Symlink(target, path)))
	d.install(c, notes())
	if to, err := os.Readlink(path); to != target || err != nil {
		t.Errorf("the link points to %q, %v", to, err)
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o640 || !strings.Contains(read(t, target), "kioku") {
		t.Errorf("%v, %v, %q", info.Mode(), err, read(t, target))
	}
	if info, err := os.Stat(path + ".before-kioku"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the copy: %v", err)
	}
	if got := d.undo(c, notes()); got != "a = 1\n" {
		t.Errorf("undo leaves %q", got)
	}
	if entries, err := os.ReadDir(dotfiles); err != nil || len(entries) != 1 {
		t.Errorf("the folder of dotfiles holds %v", entries)
	}

	testkit.Must(t, os.Remove(target))
	d.install(c, notes()) // through a link to nothing
	if to, err := os.Readlink(path); to != target || err != nil || !strings.Contains(read(t, target), "kioku") {
		t.Errorf("the link points to %q, %v", to, err)
	}
}

// What a client writes between the question and the answer is not lost.
func TestWriteRefusesAFileThatHasChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "{}\n"} {
		d, c := newDesk(t), client(t, "claude-code")
		path := d.path(c, setup.User)
		if before != "" {
			d.write(c, before)
		}
		p, err := c.Install(d.Machine, setup.User, notes())
		if err != nil {
			t.Fatal(err)
		}
		d.write(c, "{\"numStartups\": 1}\n")
		if err := p.Write(); err == nil || !strings.Contains(err.Error(), "has changed meanwhile") {
			t.Errorf("got %v", err)
		}
		if got := read(t, path); got != "{\"numStartups\": 1}\n" {
			t.Errorf("the file is %q", got)
		}
	}
}

// The files are those that the clients document, on each system and with the variables that move them.
