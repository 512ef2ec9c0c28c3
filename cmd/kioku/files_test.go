package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"kioku/internal/testkit"
)

func TestGetPrintsTheLines(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for _, tc := range []struct{ place, want string }{
		{"MEMORY.md", notes()["MEMORY.md"]},
		{"MEMORY.md:4", "- The task runner is called tanuki.\n- Deploys happen on Tuesday.\n"},
		{"MEMORY.md:3:2", "## Tools\n- The task runner is called tanuki.\n"},
		{"MEMORY.md#L4-L4", "- The task runner is called tanuki.\n"},
	} {
		t.Run(tc.place, func(t *testing.T) {
			if got := s.run("get", tc.place); got.code != exitOK || got.stdout != tc.want {
				t.Errorf("exit %d, got %q, want %q", got.code, got.stdout, tc.want)
			}
		})
	}
	s.run("get", "MEMORY.md:99").wants(t, exitOK, "MEMORY.md has 5 lines")
	if got := s.object("get", "--json", "MEMORY.md:4:1"); got["from"] != 4.0 || got["totalLineCount"] != 5.0 || got["truncated"] != false {
		t.Errorf("got %v", got)
	}
}

// Hazard C01: outside and missing look alike, and neither is read.
func TestGetStaysInTheMemory(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	outside := filepath.Join(filepath.Dir(s.workspace), "outside.md")
	testkit.Must(t, os.WriteFile(outside, []byte("secret"), 0o600))
	for _, place := range []string{"memory/missing.md", "../outside.md", outside, "memory/../../outside.md"} {
		if got := s.run("get", place); got.code == exitOK || got.stdout != "" {
			t.Errorf("%s: exit %d, %q", place, got.code, got.stdout)
		}
	}
}

func TestAppendWritesOnceAndSaysWhere(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	place := regexp.MustCompile(`^memory/\d{4}-\d\d-\d\d\.md:\d+\n$`)
	if out := s.must("append", "--category", "garden", "The", "plum tree blossoms."); !place.MatchString(out) {
		t.Errorf("got %q", out)
	}
	if got := s.object("search", "--json", "plum tree")["results"].([]any); len(got) != 1 {
		t.Errorf("the note is not found: %v", got)
	}
	s.stdin = "Piped line one.\nLine two.\n"
	if got := s.object("append", "--json", "--to", "long_term", "--key", "k1", "-"); got["path"] != "MEMORY.md" || got["start_line"] != 9.0 {
		t.Errorf("got %v", got)
	}
	s.run("append", "--to", "long_term", "--key", "k1", "Piped line one.\nLine two.").wants(t, exitOK, "the note already exists")
	s.run("append", "--to", "long_term", "--key", "k1", "other words").wants(t, exitError, "MEMORY.md", "key was used for another text", "nothing was written")
	text, err := os.ReadFile(filepath.Join(s.workspace, "MEMORY.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), notes()["MEMORY.md"]) || strings.Contains(string(text), "other words") ||
		!strings.Contains(string(text), "- Piped line one.\n  Line two.") {
		t.Errorf("MEMORY.md is %q", text)
	}
	s.run("append", " ").wants(t, exitUsage, "text: must not be blank")
	s.run("append", "--to", "nowhere", "x").wants(t, exitUsage, "target: ")
}

func TestInitMakesWhatIsMissingAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	dir := filepath.Join(s.home, "my notes")
	first := s.raw("init", dir)
	if first.code != 0 || !strings.Contains(first.stdout, "Created MEMORY.md, USER.md, memory/ in "+dir) ||
		!strings.Contains(first.stdout, "kioku serve --workspace '"+dir+"'") {
		t.Errorf("exit %d: %s%s", first.code, first.stdout, first.stderr)
	}
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "USER.md"), []byte("mine"), 0o600))
	if again := s.raw("init", "my notes"); again.code != 0 || !strings.Contains(again.stdout, "nothing was changed") {
		t.Errorf("exit %d: %s%s", again.code, again.stdout, again.stderr)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "USER.md")); string(text) != "mine" {
		t.Errorf("USER.md was overwritten: %q, %v", text, err)
	}
}

// Hazard C14: whatever the umask, nobody else reads the index, the new workspace or the settings.
func TestInitMakesPrivateFiles(t *testing.T) {
	t.Parallel()
	defer syscall.Umask(syscall.Umask(0))
	s := newSandbox(t, nil)
	s.workspace = filepath.Join(s.home, "ws")
	for _, args := range [][]string{{"init"}, {"index"}, {"config", "set", "remote.apiKey", "k"}} {
		s.must(args...)
	}
	seen := 0
	err := filepath.WalkDir(s.home, func(path string, _ os.DirEntry, err error) error {
		return checkPrivate(t, path, s.home, err, &seen)
	})
	if err == nil {
		err = filepath.WalkDir(s.state, func(path string, _ os.DirEntry, err error) error {
			return checkPrivate(t, path, "", err, &seen)
		})
	}
	if err != nil || seen < 8 {
		t.Errorf("saw %d files: %v", seen, err)
	}
}

func checkPrivate(t *testing.T, path, except string, err error, seen *int) error {
	if err != nil || path == except {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	*seen++
	if info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%s has mode %v", path, info.Mode())
	}
	return nil
}

func TestStatusDescribesTheIndex(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("memory/binary.md", "a\x00b")
	out := s.must("status", "--deep")
	for _, want := range []string{"agent      main\n", "3 files, ", "provider   none (no local model was added", "skipped    memory/binary.md: ", "checked    every file was read"} {
		if !strings.Contains(out, want) {
			t.Errorf("status lacks %q: %s", want, out)
		}
	}
	got := s.object("status", "--json")
	if got["agent"] != "main" || got["index"].(map[string]any)["fileCount"] != 3.0 || got["version"] != "v0.0.0-test" || got["sync"].(map[string]any)["watch_mode"] != "off" {
		t.Errorf("got %v", got)
	}
}

// An index that is made by a deep check is checked once it has its texts.
func TestStatusDeepChecksANewIndex(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	if check := s.object("status", "--deep", "--json")["check"].(map[string]any); check["texts"] != 3.0 {
		t.Errorf("got %v", check)
	}
}

// A file whose size and time stayed the same is found by a deep check, not by a quick one.
func TestStatusDeepReadsEveryFile(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n- cat\n"})
	s.must("index")
	path := filepath.Join(s.workspace, "MEMORY.md")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s.write("MEMORY.md", "# Memory\n- dog\n")
	testkit.Must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	if out := s.must("status", "--deep"); !strings.Contains(out, "1 file changed") {
		t.Errorf("got %s", out)
	}
	if out := s.must("search", "dog"); !strings.Contains(out, "dog") {
		t.Errorf("got %s", out)
	}
}

// get takes the name of a note as links does; of a name that several notes have, both list these.
func TestGetTakesTheNameOfANote(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{
		"trips/Fushimi Inari.md": "# Fushimi Inari\nThousand gates.\n", "a/index.md": "# A\n", "b/index.md": "# B\n",
	})
	if got := s.must("get", "Fushimi Inari:2"); got != "Thousand gates.\n" {
		t.Errorf("got %q", got)
	}
	if got := s.must("get", "fushimi inari", "a/index.md"); !strings.Contains(got, "==> trips/Fushimi Inari.md <==") {
		t.Errorf("got %q", got)
	}
	for _, command := range []string{"get", "links"} {
		s.run(command, "index").wants(t, exitUsage, `"index" is the name of 2 files`, "a/index.md, b/index.md")
	}
	s.run("get", "nosuch.md").wants(t, exitError, "nosuch.md: no such memory file")
}
