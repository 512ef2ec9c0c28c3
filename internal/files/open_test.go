package files_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"kioku/internal/files"
)

// rootWith makes a folder with a.md and sub/b.md in it, beside a file secret that is outside.
func rootWith(t *testing.T) (*os.Root, string) {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "root")
	for p, text := range map[string]string{"secret": "secret", "root/a.md": "a", "root/sub/b.md": "b"} {
		p = filepath.Join(top, p)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

func TestOpenRegularOpensFilesInFolders(t *testing.T) {
	root, _ := rootWith(t)
	for rel, want := range map[string]string{"a.md": "a", "sub/b.md": "b"} {
		f, info, err := files.OpenRegular(root, rel)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if err != nil || string(got) != want || info.Size() != 1 {
			t.Errorf("%s: %q, %d bytes, %v", rel, got, info.Size(), err)
		}
		f.Close()
	}
}

func TestOpenRegularSaysWhatIsMissing(t *testing.T) {
	root, _ := rootWith(t)
	for _, rel := range []string{"none.md", "none/a.md"} {
		if _, _, err := files.OpenRegular(root, rel); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", rel, err)
		}
	}
	for _, rel := range []string{"a.md/b.md", "../secret", "sub/../../secret", "/etc/passwd", ""} {
		if f, _, err := files.OpenRegular(root, rel); err == nil {
			f.Close()
			t.Errorf("%q was opened", rel)
		}
	}
}

// Hazard C02: a link in any component is refused, also one that stays inside of the root.
// Hazard C03: so is a file with two names.
// Hazard B17: and what is no file, without waiting for anyone to write into a pipe.
func TestOpenRegularRefuses(t *testing.T) {
	root, dir := rootWith(t)
	at := func(rel string) string { return filepath.Join(dir, rel) }
	err := errors.Join(
		os.Symlink("../secret", at("out.md")), os.Symlink("a.md", at("in.md")), os.Symlink("sub", at("way")), os.Symlink("loop.md", at("loop.md")),
		os.Link(filepath.Join(dir, "..", "secret"), at("hard.md")),
		syscall.Mkfifo(at("pipe.md"), 0o644),
	)
	if err != nil {
		t.Fatal(err)
	}
	for rel, want := range map[string]string{
		"out.md": "symbolic link", "in.md": "symbolic link", "way/b.md": "symbolic link", "loop.md": "symbolic link",
		"hard.md": "hard link to a file with 2 names", "pipe.md": "not a regular file (named pipe)", "sub": "not a regular file (folder)",
	} {
		_, _, err := files.OpenRegular(root, rel)
		var skip *files.SkipError
		if !errors.As(err, &skip) || skip.Reason != want || err.Error() != want {
			t.Errorf("%s: %v, want %s", rel, err, want)
		}
	}
}

// Hazard C02: whoever swaps a file or folder for a link again and again never gets another file read.
func TestOpenRegularIsNotFooledBySwaps(t *testing.T) {
	root, dir := rootWith(t)
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, ".hidden"), 0o755), os.WriteFile(filepath.Join(dir, ".hidden", "b.md"), []byte("secret"), 0o644)); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		swap := func(name, to string) {
			name = filepath.Join(dir, name)
			_ = os.Rename(name, name+".aside")
			_ = os.Symlink(to, name)
			_ = os.Remove(name)
			_ = os.Rename(name+".aside", name)
		}
		for {
			select {
			case <-stop:
				return
			default:
				swap("sub", ".hidden")
				swap("a.md", ".hidden/b.md")
			}
		}
	}()
	opened := 0
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		for _, rel := range []string{"a.md", "sub/b.md"} {
			f, _, err := files.OpenRegular(root, rel)
			if err != nil {
				continue
			}
			opened++
			if got, _ := io.ReadAll(f); string(got) == "secret" {
				t.Errorf("%s: read through a link", rel)
			}
			f.Close()
		}
	}
	close(stop)
	<-stopped
	if opened == 0 {
		t.Error("nothing was ever opened, so nothing was tested")
	}
}
