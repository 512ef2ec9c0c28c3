package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kioku/internal/files"
	"kioku/internal/testkit"
)

// write writes a file that has not been touched for a minute.
func write(t *testing.T, path, text string) {
	t.Helper()
	testkit.WriteFile(t, filepath.Dir(path), filepath.Base(path), text)
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, c *files.Cache, dir, rel string) string {
	t.Helper()
	text, err := c.Read(dir, rel)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestCacheReadsAChangedFileAgain(t *testing.T) {
	dir, c := t.TempDir(), files.NewCache(100)
	path := filepath.Join(dir, "a.md")
	write(t, path, "one")
	first := read(t, c, dir, "a.md")
	write(t, path, "three")
	if third := read(t, c, dir, "a.md"); first != "one" || third != "three" {
		t.Errorf("%+v after %+v", third, first)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(dir, "a.md"); files.Reason(err) != "missing" {
		t.Errorf("%v", err)
	}
}

func TestCacheKeepsAnUnchangedFile(t *testing.T) {
	dir, c := t.TempDir(), files.NewCache(100)
	path := filepath.Join(dir, "a.md")
	write(t, path, "one")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	first := read(t, c, dir, "a.md")
	if err := os.WriteFile(path, []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := read(t, c, dir, "a.md"); got != first {
		t.Errorf("read again: %+v", got)
	}
}

func TestCacheReadsAFileThatHasJustChangedEveryTime(t *testing.T) {
	dir, c := t.TempDir(), files.NewCache(100)
	path := filepath.Join(dir, "a.md")
	now := time.Now().Add(time.Hour)
	for _, text := range []string{"one", "two"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now); err != nil {
			t.Fatal(err)
		}
		if got := read(t, c, dir, "a.md"); got != text {
			t.Errorf("%q, not %q", got, text)
		}
	}
}

func TestCacheReturnsValidTextWithPlainLineEnds(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.md"), "\ufeffa\r\nb\xff\rc")
	if got := read(t, files.NewCache(100), dir, "a.md"); got != "a\nb\ufffd\nc" {
		t.Errorf("%q", got)
	}
}

func TestCacheRefusesWithAReason(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	write(t, filepath.Join(out, "secret.md"), "secret")
	write(t, filepath.Join(dir, "big.md"), strings.Repeat("x", 101))
	write(t, filepath.Join(dir, "nul.md"), "a\x00b")
	write(t, filepath.Join(dir, "twice.md"), "twice")
	for _, err := range []error{
		os.Symlink(filepath.Join(out, "secret.md"), filepath.Join(dir, "link.md")),
		os.Symlink(out, filepath.Join(dir, "folder")),
		os.Symlink("big.md", filepath.Join(dir, "inside.md")),
		os.Link(filepath.Join(dir, "twice.md"), filepath.Join(dir, "other.md")),
		os.Mkdir(filepath.Join(dir, "dir.md"), 0o755),
		syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"link.md": "symbolic link", "folder/secret.md": "symbolic link", "inside.md": "symbolic link", "other.md": "hard link",
		"dir.md": "folder", "pipe.md": "named pipe", "big.md": "larger than 100 bytes", "nul.md": "NUL", "none.md": "missing",
	} {
		text, err := files.NewCache(100).Read(dir, name)
		if err == nil || !strings.Contains(files.Reason(err), want) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
