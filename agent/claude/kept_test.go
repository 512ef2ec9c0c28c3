package claude

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newCopies returns a folder of copies in a new folder, with a clock that stands still.
func newCopies(t *testing.T) copies {
	t.Helper()
	return copies{path: filepath.Join(t.TempDir(), "kept"), now: func() time.Time { return time.Date(2026, 1, 5, 12, 0, 0, 7, time.UTC) }}
}

// opening returns a function that opens texts as files.
func opening(files map[string]string) func(string) (io.ReadCloser, error) {
	return func(rel string) (io.ReadCloser, error) {
		text, ok := files[rel]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return io.NopCloser(strings.NewReader(text)), nil
	}
}

// Copies have the paths and the bytes of the files, only their owner may read them, and a second copy at the same time takes nothing
// of the first.
func TestKeepCopiesFilesAndReplacesNone(t *testing.T) {
	t.Parallel()
	k := newCopies(t)
	var names []string
	for _, text := range []string{"one\r\n\xff", "two"} {
		name, err := k.keep("update", []string{"MEMORY.md", "memory/a/b.md"}, opening(map[string]string{"MEMORY.md": text, "memory/a/b.md": "b"}))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if want := "20260105T120000-000000007Z-update 20260105T120000-000000007Z-update-2"; strings.Join(names, " ") != want {
		t.Errorf("%v, want %s", names, want)
	}
	for i, want := range []string{"one\r\n\xff", "two"} {
		for rel, want := range map[string]string{"MEMORY.md": want, "memory/a/b.md": "b"} {
			name := filepath.Join(k.path, names[i], rel)
			got, err := os.ReadFile(name)
			if err != nil || string(got) != want {
				t.Errorf("%s: %q, %v", rel, got, err)
			}
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", rel, info.Mode(), err)
			}
		}
	}
	if info, err := os.Stat(k.path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Whoever is told of an error has no copy and changes nothing: of a file that cannot be opened or read, and of a path outside.
func TestKeepReturnsWhatItCouldNotCopy(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken disk")
	for name, c := range map[string]struct {
		file string
		open func(string) (io.ReadCloser, error)
		want error
	}{
		"missing": {"a.md", opening(nil), fs.ErrNotExist},
		"unreadable": {"a.md", func(string) (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader("a"), failing{broken})), nil
		}, broken},
		"outside": {"../../../a.md", opening(map[string]string{"../../../a.md": "a"}), nil},
	} {
		k := newCopies(t)
		got, err := k.keep("update", []string{c.file}, c.open)
		if err == nil || got != "" || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if _, err := os.Stat(filepath.Join(k.path, "../../a.md")); err == nil {
			t.Errorf("%s: a file was written outside", name)
		}
	}
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
