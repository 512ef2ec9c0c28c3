package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/internal/files"
)

func TestReadReturnsTheBytesAndTheInformation(t *testing.T) {
	root, _ := rootWith(t)
	data, info, err := files.Read(root, "sub/b.md", 1)
	if err != nil || string(data) != "b" || info.Name() != "b.md" || info.Size() != 1 {
		t.Errorf("%q, %v, %v", data, info, err)
	}
}

func TestReadRefuses(t *testing.T) {
	root, dir := rootWith(t)
	for name, text := range map[string]string{"nul.md": "a\x00b", "long.md": strings.Repeat("x", 2049)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		limit int64
		want  string
	}{
		{"nul.md", 100, "binary (NUL byte)"}, {"long.md", 2048, "larger than 2 KiB"}, {"long.md", 2000, "larger than 2000 bytes"},
		{"sub", 100, "not a regular file (folder)"},
	} {
		t.Run(c.want, func(t *testing.T) {
			got, err := files.ReadText(root, c.name, c.limit)
			if _, ok := errors.AsType[*files.SkipError](err); !ok || got.Data != nil || files.Reason(err) != c.want {
				t.Errorf("%q, %v", got.Data, err)
			}
		})
	}
	if _, _, err := files.Read(root, "none.md", 1); !errors.Is(err, fs.ErrNotExist) || files.Reason(err) != "missing" {
		t.Errorf("a missing file: %v", err)
	}
}

func TestOpenFolderFollowsNoLink(t *testing.T) {
	root, dir := rootWith(t)
	if err := os.Symlink("sub", filepath.Join(dir, "way")); err != nil {
		t.Fatal(err)
	}
	for rel, want := range map[string]string{".": "", "sub": "", "way": "symbolic link", "none": "missing", "sub/none": "missing", "a.md": "not a directory"} {
		t.Run(rel, func(t *testing.T) {
			got := ""
			if folder, err := files.OpenFolder(root, rel); err != nil {
				got = files.Reason(err)
			} else {
				folder.Close()
			}
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	if _, err := root.Stat("a.md"); err != nil {
		t.Errorf("the root was closed: %v", err)
	}
}

func TestOpenRootFollowsNoLink(t *testing.T) {
	_, dir := rootWith(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := files.OpenRoot(link); err == nil || files.Reason(err) != "symbolic link" {
		t.Errorf("%v", err)
	}
	// A link on the way to the folder is the business of who named it.
	root, err := files.OpenRoot(filepath.Join(link, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	root.Close()
}

func TestUnchangedSeesEveryChange(t *testing.T) {
	_, dir := rootWith(t)
	path := filepath.Join(dir, "a.md")
	stat := func() fs.FileInfo {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	before := stat()
	if !files.Unchanged(before, stat()) {
		t.Error("a file that nobody touched has changed")
	}
	for name, change := range map[string]func() error{
		"time": func() error { return os.Chtimes(path, time.Time{}, before.ModTime().Add(time.Second)) },
		"mode": func() error { return os.Chmod(path, 0o600) },
		"size": func() error {
			return errors.Join(os.WriteFile(path, []byte("aa"), 0), os.Chtimes(path, time.Time{}, before.ModTime()))
		},
		"file": func() error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, []byte("a"), 0o644), os.Chtimes(path, time.Time{}, before.ModTime()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			os.Chmod(path, before.Mode())
			os.Truncate(path, 1)
			os.Chtimes(path, time.Time{}, before.ModTime())
			was := stat()
			if err := change(); err != nil {
				t.Fatal(err)
			}
			if files.Unchanged(was, stat()) {
				t.Error("not seen")
			}
		})
	}
}
