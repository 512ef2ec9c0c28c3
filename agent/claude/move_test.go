package claude_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func remove(path string) map[string]any { return map[string]any{"command": "delete", "path": path} }

func rename(from, to string) map[string]any {
	return map[string]any{"command": "rename", "old_path": from, "new_path": to}
}

func TestRenameMovesFilesAndFolders(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{"a.md": "a", "sub/b.md": "b", "sub/deep/c.md": "c", "old.md": "old day"})
	n.does(rename("/memories/a.md", "/memories/people/mia/a.md"))
	n.does(rename("/memories/sub", "/memories/people/sub"))
	n.does(rename("/memories/old.md", "/memories/archive/2026-01-05.md"))
	want := map[string]string{"people/mia/a.md": "a", "people/sub/b.md": "b", "people/sub/deep/c.md": "c", "archive/2026-01-05.md": "old day"}
	if diff := cmp.Diff(want, tree(t, n.folder)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRenameReplacesNothing(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{"a.md": "a", "b.md": "b", "sub/c.md": "c", "2026-01-20.md": "today", "2026-01-19.md": "yesterday"})
	if err := os.Mkdir(filepath.Join(n.folder, "void"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"a.md", "b.md", "exists already"},
		{"a.md", "a.md", "exists already"},
		{"sub", "void", "exists already, as a folder"},
		{"sub", "a.md", "exists already"},
		{"a.md", "b.md/a.md", "is a file"},
		{"sub", "sub/sub", "cannot be moved into itself"},
		{"missing.md", "x.md", "there is nothing"},
		{"", "x", "itself cannot be renamed"},
		{"sub", "", "itself cannot be renamed"},
		{"2026-01-20.md", "x.md", "text is only added"},
		{"2026-01-19.md", "x.md", "text is only added"},
		{"a.md", "2026-01-21.md", "text is only added"},
	} {
		n.refuses(rename("/memories/"+c.from, "/memories/"+c.to), c.want)
	}
}

func TestDeleteKeepsACopyOfEveryFile(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.md": "a", "sub/b.md": "b\n", "sub/deep/c.md": "c", "sub/latin.txt": "caf\xe9", "stay.md": "s"}
	n := open(t, files)
	n.does(remove("/memories/a.md"))
	n.does(remove("/memories/sub/"))
	if diff := cmp.Diff(map[string]string{"stay.md": "s"}, tree(t, n.folder)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(n.folder, "sub")); err == nil {
		t.Error("the folder is still there")
	}
	for name, text := range files {
		if name != "stay.md" && !slices.Equal(n.keptTexts(name), []string{text}) {
			t.Errorf("kept of %s: %q, want %q", name, n.keptTexts(name), text)
		}
	}
	info, err := os.Stat(n.kept)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of copies is open to others: %v, %v", info, err)
	}
	n.does(create("/memories/a.md", "again"))
	n.does(remove("/memories/a.md"))
	if got := n.keptTexts("a.md"); len(got) != 2 {
		t.Errorf("kept of the same name at the same time: %q", got)
	}
}

func TestDeleteRefusesWhatIsNotANote(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{"repo/.git/config": "c", "repo/a.md": "a", "links/a.md": "a", "2026-01-20.md": "today", "2026-01-21.md": "tomorrow, in the east"})
	if err := os.Symlink("/etc", filepath.Join(n.folder, "links", "etc")); err != nil {
		t.Fatal(err)
	}
	n.refuses(remove("/memories/repo"), `holds ".git"`)
	n.refuses(remove("/memories/links"), `holds "etc"`)
	n.refuses(remove("/memories/links/etc"), "neither a plain file nor a folder")
	n.refuses(remove("/memories/links/etc/passwd"), "neither a plain file nor a folder")
	n.refuses(remove("/memories"), "itself cannot be deleted")
	n.refuses(remove("/memories/missing.md"), "there is nothing")
	n.refuses(remove("/memories/2026-01-20.md"), "text is only added")
	n.refuses(remove("/memories/2026-01-21.md"), "text is only added")
}

func TestCallChangesNothingWithoutACopy(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	if err := os.WriteFile(filepath.Join(base, "kept"), []byte("in the way"), 0o644); err != nil {
		t.Fatal(err)
	}
	n := openIn(t, filepath.Join(base, "memory"), filepath.Join(base, "kept"), map[string]string{"a.md": "a\n"})
	before := tree(t, n.folder)
	for _, fields := range []map[string]any{
		remove("/memories/a.md"), replace("/memories/a.md", "a", "b"), insert("/memories/a.md", 0, "b"),
	} {
		if _, err := n.call(fields); err == nil || !strings.Contains(err.Error(), "keep a copy") {
			t.Errorf("%v: %v", fields, err)
		}
	}
	if diff := cmp.Diff(before, tree(t, n.folder)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestCallRefusesPathsThatCouldMeanAnotherPlace(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{"a.md": "a", ".hidden.md": "h"})
	for path, want := range map[string]string{
		"":                       "must begin with /memories/",
		"a.md":                   "must begin with /memories/",
		"memories/a.md":          "must begin with /memories/",
		"/":                      "must begin with /memories/",
		"/etc/passwd":            "must begin with /memories/",
		"/memoriesX/a.md":        "must begin with /memories/",
		"/Memories/a.md":         "must begin with /memories/",
		"//memories/a.md":        "must begin with /memories/",
		"/memories/../kept":      "leads elsewhere",
		"/memories/./a.md":       "leads elsewhere",
		"/memories/sub/../../x":  "leads elsewhere",
		"/memories/..":           "leads elsewhere",
		"/memories//etc/passwd":  "empty name",
		"/memories/%2e%2e/x":     "without %-escapes",
		"/memories/%2E%2E%2fx":   "without %-escapes",
		"/memories/%252e%252e/x": "without %-escapes",
		"/memories/a\x00.md":     "cannot be seen",
		"/memories/a\n.md":       "cannot be seen",
		"/memories/\u202egnp.md": "cannot be seen",
		"/memories/a\u200b.md":   "cannot be seen",
		`/memories/..\x`:         "is hidden",
		`/memories/a\..\x`:       "backslash",
		"/memories/.hidden.md":   "is hidden",
		"/memories/.git/config":  "is hidden",
		"/memories/ a.md":        "a space",
		"/memories/" + strings.Repeat("n", 201) + ".md": "too long",
	} {
		for _, fields := range []map[string]any{
			view(path), create(path, "x"), replace(path, "a", "b"), insert(path, 0, "x"), remove(path),
			rename(path, "/memories/new.md"), rename("/memories/a.md", path),
		} {
			n.refuses(fields, want)
		}
	}
}

// FuzzCallStaysInTheFolder calls every command with foreign paths: whatever they are, nothing beside the folder changes and
// nothing of it is shown.
func FuzzCallStaysInTheFolder(f *testing.F) {
	for _, path := range []string{"/memories/a.md", "/memories/../secret.md", "/memories/%2e%2e/secret.md", "/memories/link/secret.md", "/memories/\x00", "//", "/memories/sub/..", "../secret.md", "/memories/２０２６.md"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		base := t.TempDir()
		n := openIn(t, filepath.Join(base, "memory"), filepath.Join(base, "kept"), map[string]string{"a.md": "a\n", "../secret.md": "password\n"})
		if err := os.Symlink("..", filepath.Join(n.folder, "link")); err != nil {
			t.Fatal(err)
		}
		for _, fields := range []map[string]any{
			view(path), create(path, "x"), insert(path, 0, "x"), replace(path, "x", "y"), view(path),
			rename(path, "/memories/new.md"), rename("/memories/new.md", path), remove(path), view("/memories"),
		} {
			said, err := n.call(fields)
			if strings.Contains(said, "password") {
				t.Errorf("%v shows %q", fields, said)
			}
			if err != nil && strings.Contains(err.Error(), "password") {
				t.Errorf("%v says %v", fields, err)
			}
		}
		entries, err := os.ReadDir(base)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !slices.Contains([]string{"memory", "kept", "secret.md"}, e.Name()) {
				t.Errorf("%q has made %s", path, e.Name())
			}
		}
		if got := tree(t, base)["secret.md"]; got != "password\n" {
			t.Errorf("%q has changed what is beside the folder: %q", path, got)
		}
	})
}
