package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"kioku/memory"
	"kioku/store/checksumvfs"
)

// Hazard A24: a copy that is made while the index is read and written is whole: each page has its checksum, and it
// is the index of one moment.
func TestCopyIsAWholeIndexOfOneMoment(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	f := testFile("memory/a.md", newRand(), "one", "two", "three")
	replace(t, s, f)
	for i := range 600 {
		replace(t, s, testFile(fmt.Sprintf("memory/%d.md", i), nil, fmt.Sprintf("heron %d", i), "otter"))
	}
	path := filepath.Join(t.TempDir(), "copy.sqlite")
	steps, last := 0, 0
	err := s.Copy(t.Context(), path, func(done, total int) {
		if steps++; done < last || done > total {
			t.Errorf("step %d: %d of %d pages after %d", steps, done, total, last)
		}
		last = done
		replace(t, s, testFile("memory/later.md", nil, fmt.Sprintf("a note during the copy %d", steps)))
	})
	if err != nil || steps == 0 {
		t.Fatal(steps, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || info.Size() != int64(last)*checksumvfs.PageSize {
		t.Errorf("%v, %v", info, err)
	}
	checked, err := CheckCopy(t.Context(), path, path+".none")
	if err != nil || len(checked.Found) > 0 || checked.Pages != last || checked.Vectors != 0 {
		t.Errorf("%+v, %v", checked, err)
	}
	if left, _ := filepath.Glob(path + "-*"); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	other := openCopy(t, path, "/notes")
	if files, err := other.Files(t.Context()); err != nil || len(files) != 601 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if got := nearest(t, other, memory.Filter{}, f.vector(1), 1); len(got) != 1 {
		t.Errorf("the copy has other vectors: %v", got)
	}
}

// openCopy opens a copy of a test store as the index of a workspace.
func openCopy(t *testing.T, path, workspace string) *Store {
	t.Helper()
	opt := testOptions()
	opt.Workspace = workspace
	s, err := Open(t.Context(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A copy that belongs to another folder keeps its rows: it is not replaced by a new index.
func TestRebindKeepsTheRows(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", newRand(), "one"))
	path := filepath.Join(t.TempDir(), "copy.sqlite")
	if err := s.Copy(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	if err := Rebind(t.Context(), path, "/elsewhere"); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(path + "-*"); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	if st, err := openCopy(t, path, "/elsewhere").Stats(t.Context()); err != nil || st.Chunks != 1 || st.Embedded != 1 {
		t.Errorf("%+v, %v", st, err)
	}
}

// CheckCopy finds a changed byte anywhere in the file, and refuses a file that was cut off or is no index.
func TestCheckCopyFindsDamage(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	replace(t, s, testFile("memory/a.md", newRand(), "one", "two"))
	path := filepath.Join(t.TempDir(), "copy.sqlite")
	if err := s.Copy(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for page := range len(whole) / checksumvfs.PageSize {
		damaged := bytes.Clone(whole)
		damaged[page*checksumvfs.PageSize+777] ^= 1
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if checked, err := CheckCopy(t.Context(), path, path+".none"); err == nil && len(checked.Found) == 0 {
			t.Errorf("page %d: the damage is not found", page)
		}
	}
	for name, data := range map[string][]byte{"cut off": whole[:len(whole)-checksumvfs.PageSize], "text": []byte("# Memory\n"), "empty": nil} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if checked, err := CheckCopy(t.Context(), path, path+".none"); err == nil && len(checked.Found) == 0 {
			t.Errorf("%s: the damage is not found", name)
		}
	}
}

// A copy replaces no file, and leaves none behind when it is canceled.
func TestCopyLeavesNoHalfFile(t *testing.T) {
	t.Parallel()
	s := openTestStore(t, t.TempDir())
	for i := range 600 {
		replace(t, s, testFile(fmt.Sprintf("memory/%d.md", i), nil, fmt.Sprintf("heron %d", i)))
	}
	path := filepath.Join(t.TempDir(), "copy.sqlite")
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Copy(ctx, path, func(int, int) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Dir(path) + "/*"); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Copy(t.Context(), path, nil); !errors.Is(err, os.ErrExist) {
		t.Error(err)
	}
	if text, _ := os.ReadFile(path); string(text) != "mine" {
		t.Errorf("the file was replaced: %q", text)
	}
}
