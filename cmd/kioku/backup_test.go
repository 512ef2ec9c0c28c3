package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kioku/internal/testkit"
)

// backedUp makes a memory with embeddings and a session, and a backup of it.
func backedUp(t *testing.T) (s *sandbox, file string) {
	t.Helper()
	s = newSandbox(t, notes())
	s.env = append(s.env, "KIOKU_PROVIDER=hash")
	s.must("index")
	session := filepath.Join(s.own(), "agents", "main", "sessions", "s1.jsonl")
	testkit.Must(t, os.MkdirAll(filepath.Dir(session), 0o700))
	testkit.Must(t, os.WriteFile(session, []byte(`{"kind":"x"}`+"\n"), 0o600))
	file = filepath.Join(s.home, "copy.tar.gz")
	s.must("backup", file)
	return s, file
}

// Hazards A24 and C14: backup and restore: a consistent copy, 0600, while a daemon runs, verified; on a new machine the notes, the sessions and the index
// are there again, and a sync asks no provider.
func TestBackupIsRestoredOnAnotherMachine(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.env = append(s.env, "KIOKU_PROVIDER=hash")
	s.must("index")
	p, _ := s.serve()
	dir := t.TempDir()
	var report backupReport
	if out := s.must("backup", "--json", dir); json.Unmarshal([]byte(out), &report) != nil || report.Notes != 3 || report.Agent != "main" {
		t.Fatalf("%s", out)
	}
	if info, err := os.Stat(report.File); err != nil || info.Mode().Perm() != 0o600 || filepath.Dir(report.File) != dir || info.Size() != report.FileBytes {
		t.Errorf("%v, %v", info, err)
	}
	if out := s.must("backup", "verify", report.File); !strings.HasPrefix(out, "whole: "+report.File) {
		t.Error(out)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("files are left: %v", left)
	}
	s.run("restore", report.File, "--force").wants(t, exitError, "index is in use", "kioku serve")
	p.terminates()

	other := newSandbox(t, nil)
	other.env = append(other.env, "KIOKU_PROVIDER=hash")
	other.workspace = filepath.Join(t.TempDir(), "new", "notes")
	if out := other.must("restore", report.File); !strings.Contains(out, "3 notes") {
		t.Error(out)
	}
	for path, text := range notes() {
		if got, err := os.ReadFile(filepath.Join(other.workspace, path)); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	var synced struct{ Embedded, Files int }
	if out := other.must("index", "--json"); json.Unmarshal([]byte(out), &synced) != nil || synced.Embedded != 0 || synced.Files != 3 {
		t.Errorf("embedded again: %s", out)
	}
	if st := other.object("status", "--json", "--deep"); st["index"].(map[string]any)["chunkCount"] == 0.0 {
		t.Errorf("%v", st)
	}
	if out := other.must("search", "boiler pressure"); !strings.Contains(out, "2026-01-10") {
		t.Error(out)
	}
}

// A restore replaces nothing: it says what is in the way, and --force moves it aside.
func TestRestoreReplacesNothing(t *testing.T) {
	t.Parallel()
	s, file := backedUp(t)
	s.run("backup", file).wants(t, exitError, "exists, and a backup replaces no file")
	s.write("MEMORY.md", "# Mine\n")
	got := s.run("restore", file)
	got.wants(t, exitError, "there is something already", "main.embeddings.sqlite", "MEMORY.md", "--force")
	if text, _ := os.ReadFile(filepath.Join(s.workspace, "MEMORY.md")); string(text) != "# Mine\n" {
		t.Fatalf("the note was replaced: %q", text)
	}
	var r restoreReport
	if out := s.must("restore", "--json", "--force", file); json.Unmarshal([]byte(out), &r) != nil || r.Notes != 1 || r.Same != 2 || r.AgentFiles != 1 {
		t.Errorf("%s", out)
	}
	for path, want := range map[string]string{"notes/MEMORY.md": "# Mine\n", "agent/sessions/s1.jsonl": `{"kind":"x"}` + "\n"} {
		if text, err := os.ReadFile(filepath.Join(r.Aside, path)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	if text, _ := os.ReadFile(filepath.Join(s.workspace, "MEMORY.md")); string(text) != notes()["MEMORY.md"] {
		t.Errorf("the note was not restored: %q", text)
	}
	if _, err := os.Stat(filepath.Join(s.own(), "agents", "main", "sessions", "s1.jsonl")); err != nil {
		t.Error(err)
	}
	var synced struct{ Embedded, Files int }
	if out := s.must("index", "--json"); json.Unmarshal([]byte(out), &synced) != nil || synced.Embedded != 0 {
		t.Errorf("embedded again: %s", out)
	}
}

// A folder that does not exist yet is made, so that the next backup has a place beside the first one.
func TestBackupMakesItsFolder(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	dir := filepath.Join(s.home, "kept", "backups")
	s.must("backup", dir)
	testkit.Must(t, os.Rename(dir+"/"+only(t, dir), dir+"/first.tar.gz"))
	s.must("backup", dir)
	files, _ := filepath.Glob(dir + "/*.tar.gz")
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 || len(files) != 2 {
		t.Errorf("%v, %v; files %q", info, err, files)
	}
}

// only returns the name of the only file of a folder.
func only(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	return entries[0].Name()
}

// A note of a strange name (B19) is in the backup and is restored. What the index does not have, such as a name that is no text, does
// not keep the others from their backup.
func TestBackupTakesStrangeNames(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	strange := []string{`a\b.md`, `a"b.md`, "Ünï.md", "U\u0308.md", "日記.md", "a..b.md", " .md"}
	for _, name := range append([]string{"bad\xff.md", "a\nb.md", "..a.md"}, strange...) {
		s.write("memory/"+name, "# Heron\n\nThe heron nests by the weir.\n")
	}
	s.must("index")
	file := filepath.Join(s.home, "b.tgz")
	var report backupReport
	if out := s.must("backup", "--json", file); json.Unmarshal([]byte(out), &report) != nil || report.Notes < len(notes())+len(strange) {
		t.Fatal(out)
	}
	other := newSandbox(t, nil)
	other.must("restore", file)
	for _, name := range strange {
		if text, err := os.ReadFile(filepath.Join(other.workspace, "memory", name)); err != nil || !strings.Contains(string(text), "heron") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Whatever the index has of the workspace is in the backup, or the command fails and says which files are not.
func TestBackupHasAllThatIsIndexed(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("memory/daily/2026-01-11.jsonl", `{"text":"The heron nests by the weir."}`+"\n")
	outside := filepath.Join(t.TempDir(), "far.md")
	testkit.Must(t, os.WriteFile(outside, []byte("# Far\n"), 0o600))
	file := filepath.Join(s.home, "b.tgz")
	s.run("backup", file, "--set", "extraPaths="+outside).wants(t, exitOK, outside+", which is outside of the workspace")
	other := newSandbox(t, nil)
	other.must("restore", file)
	if text, err := os.ReadFile(filepath.Join(other.workspace, "memory/daily/2026-01-11.jsonl")); err != nil || !strings.Contains(string(text), "heron") {
		t.Errorf("%s, %v", text, err)
	}
	s.write(".kioku.yaml", "extraPaths: [.hidden]\n")
	s.write(".hidden/plan.md", "# Plan\n")
	file = filepath.Join(s.home, "c.tgz")
	for _, args := range [][]string{{"backup", file}, {"backup", "verify", file}} {
		got := s.run(args...)
		if got.wants(t, exitError, ".hidden/plan.md, which is hidden", "lacks files"); !strings.HasPrefix(got.stdout, "incomplete: ") || strings.Contains(got.stderr, "outside") {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// A link in the workspace that leads out of it is named, and nothing is changed, also with --force.
func TestRestoreStopsAtALinkOutOfTheWorkspace(t *testing.T) {
	t.Parallel()
	_, file := backedUp(t)
	for name, target := range map[string]string{"elsewhere": t.TempDir(), "nowhere": "/no/such/folder", "a file": file} {
		other := newSandbox(t, map[string]string{"MEMORY.md": "# Mine\n"})
		testkit.Must(t, os.Symlink(target, filepath.Join(other.workspace, "memory")))
		for _, args := range [][]string{{}, {"--force"}} {
			other.run(append([]string{"restore", file}, args...)...).wants(t, exitError, filepath.Join(other.workspace, "memory")+" ", "nothing was changed")
		}
		if text, _ := os.ReadFile(filepath.Join(other.workspace, "MEMORY.md")); string(text) != "# Mine\n" {
			t.Errorf("%s: the note is %q", name, text)
		}
		if left, _ := filepath.Glob(target + "/*"); len(left) > 0 {
			t.Errorf("%s: %q", name, left)
		}
	}
}

// A backup does not choose the folder that it is restored to, unless it is the one that the settings name, nor permissions.
func TestRestoreChoosesTheFolderItself(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	testkit.Must(t, os.Chmod(filepath.Join(s.workspace, "MEMORY.md"), 0o777))
	file := filepath.Join(s.home, "b.tgz")
	s.must("backup", file)
	other := newSandbox(t, nil)
	for path := range notes() {
		testkit.Must(t, os.Remove(filepath.Join(s.workspace, path)))
	}
	other.raw("restore", file).wants(t, exitUsage, s.workspace, "--workspace")
	if got := only(t, s.workspace); got != "memory" {
		t.Errorf("restored %s", got)
	}
	other.raw("config", "set", "workspace", s.workspace).wants(t, exitOK)
	other.raw("restore", file).wants(t, exitOK)
	if info, err := os.Stat(filepath.Join(s.workspace, "MEMORY.md")); err != nil || info.Mode().Perm()&0o133 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A backup without notes, a damaged one, and no backup at all.
func TestRestoreVerifiesFirst(t *testing.T) {
	t.Parallel()
	s, file := backedUp(t)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := newSandbox(t, nil)
	bad := filepath.Join(other.home, "bad.tar.gz")
	for name, text := range map[string][]byte{"cut off": data[:len(data)/2], "text": []byte("hello"), "empty": nil, "no end": data[:len(data)-6]} {
		testkit.Must(t, os.WriteFile(bad, text, 0o600))
		other.run("backup", "verify", bad).wants(t, exitError, bad)
		other.run("restore", bad).wants(t, exitError, bad)
		if left, _ := filepath.Glob(filepath.Join(other.state, "*")); len(left) > 0 {
			t.Errorf("%s: files are left: %v", name, left)
		}
	}
	lean := filepath.Join(s.home, "lean.tar.gz")
	if out := s.must("backup", "--no-notes", lean); !strings.Contains(out, "0 notes") {
		t.Error(out)
	}
}

// What is no file is refused at once: opening a named pipe would wait for a writer.
func TestBackupVerifyRefusesANamedPipe(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	pipe := filepath.Join(t.TempDir(), "pipe.tar.gz")
	testkit.Must(t, syscall.Mkfifo(pipe, 0o600))
	s.run("backup", "verify", pipe).wants(t, exitError, "it is no file")
}
