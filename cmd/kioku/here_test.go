package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// in returns a sandbox whose commands run in a folder, without --workspace.
func (s *sandbox) in(dir string, args ...string) outcome {
	s.t.Helper()
	there := *s
	there.home = dir
	there.env = append(there.env, "HOME="+s.home)
	return there.raw(append(args, "--state", s.state)...)
}

// folder makes a folder that holds files, by path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	s := &sandbox{t: t, workspace: t.TempDir()}
	for name, text := range files {
		s.write(name, text)
	}
	return s.workspace
}

// A path that begins with ./ counts from the current folder, as in git; one that a result names counts from the workspace.
func TestPathsCountFromTheCurrentFolderIfTheySaySo(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, vault())
	s.write(".kioku.yaml", "")
	dir := filepath.Join(s.workspace, "projects")
	for path, want := range map[string]string{"./Heron.md": "It nests", "../Weir.md:2": "The weir", "[projects/Heron.md:1-9]": "It nests", "file://" + s.workspace + "/projects/Heron.md#L1": "It nests", "projects/Heron.md": "It nests", "./O*.md": "It swims"} {
		if got := s.in(dir, "get", path); !strings.Contains(got.stdout, want) {
			t.Errorf("%s: %s%s", path, got.stdout, got.stderr)
		}
	}
}

// In a folder that a daemon serves as agent work, every command, above all append, means work.
func TestCommandsMeanTheAgentWhoseFolderTheyAreIn(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	work := folder(t, map[string]string{"MEMORY.md": "# Memory\n- The heron nests by the weir.\n", "projects/a.md": "# A\n"})
	s.serve("--agent", "work="+work)
	for _, dir := range []string{work, filepath.Join(work, "projects")} {
		s.in(dir, "append", "written in "+filepath.Base(dir)).wants(t, exitOK)
		if got := s.in(dir, "search", "heron"); !strings.Contains(got.stdout, "MEMORY.md") {
			t.Errorf("in %s: %s%s", dir, got.stdout, got.stderr)
		}
		if got := s.in(dir, "status"); !strings.Contains(got.stdout, "agent      work\n") {
			t.Errorf("in %s: %s%s", dir, got.stdout, got.stderr)
		}
	}
	if got := read(t, work, "memory/*.md"); strings.Count(got, "written in") != 2 {
		t.Errorf("the notes are not in the folder of the agent: %s", got)
	}
	if got := read(t, s.workspace, "memory/*.md"); strings.Contains(got, "written in") {
		t.Errorf("a note is in the folder of another agent: %s", got)
	}
}

// Where the daemon serves no part of the folder, append refuses and says what to type.
func TestAppendRefusesAFolderThatTheDaemonDoesNotServe(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.serve()
	before := read(t, s.workspace, "memory/*.md")
	vault := folder(t, map[string]string{"Heron.md": "# Heron\nIt nests by the weir.\n"})
	empty := t.TempDir()
	for dir, want := range map[string]string{
		vault: "--agent main for " + s.workspace + ", or --workspace " + vault + " for this one",
		empty: "Add --agent main for " + s.workspace,
	} {
		s.in(dir, "append", "x").wants(t, exitUsage, "nothing was written", want)
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 1 {
			t.Errorf("%s contains %v, %v", dir, entries, err)
		}
	}
	if after := read(t, s.workspace, "memory/*.md"); after != before {
		t.Errorf("the daemon's folder has changed: %s", after)
	}
	s.in(vault, "append", "x", "--workspace", vault).wants(t, exitOK)
	s.in(empty, "append", "meant for main", "--agent", "main").wants(t, exitOK)
	if after := read(t, s.workspace, "memory/*.md"); !strings.Contains(after, "meant for main") {
		t.Error("a named agent does not get its note")
	}
	if got := s.in(vault, "get", "Heron.md"); got.code != exitOK || !strings.Contains(got.stdout, "weir") {
		t.Errorf("the daemon gets in the way: %s%s", got.stdout, got.stderr)
	}
}

// A note for an agent that a daemon does not have is not written into the folder in which one happens to stand: the name may be
// misspelt.
func TestAppendRefusesAnAgentThatTheDaemonDoesNotHave(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.serve()
	vault := folder(t, map[string]string{"Heron.md": "# Heron\nIt nests by the weir.\n"})
	for _, dir := range []string{vault, s.workspace} {
		before := read(t, dir, "memory/*.md")
		s.in(dir, "append", "--agent", "mian", "x").wants(t, exitUsage, "no agent mian", "did you mean main?", "nothing was written", "--workspace "+dir)
		if after := read(t, dir, "memory/*.md"); after != before {
			t.Errorf("%s has a note: %s", dir, after)
		}
	}
	s.in(vault, "append", "--agent", "nova", "--workspace", vault, "x").wants(t, exitOK)
}

// kioku finds the workspace upwards from the current folder as git does.
func TestWorkspaceIsFoundUpwards(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"the file of settings": {".kioku.yaml": "timezone: UTC\n"},
		"MEMORY.md":            {"MEMORY.md": "# Memory\n"},
		"memory/":              {"memory/2026-01-10.md": "# Day\n"},
		"an Obsidian vault":    {".obsidian/app.json": "{}"},
		"a git repository":     {".git/HEAD": "ref: x\n", "README.md": "# Readme\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, nil)
			dir := folder(t, files)
			deep := filepath.Join(dir, "a", "b")
			if err := os.MkdirAll(deep, 0o755); err != nil {
				t.Fatal(err)
			}
			if got := s.in(deep, "status"); !strings.Contains(got.stdout, "workspace  "+dir+"\n") {
				t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
			}
		})
	}
}

// A folder with Markdown is a workspace while one is in it, but never the home or a root, which hold all kinds of things.
func TestWorkspaceIsTheCurrentFolderIfItHoldsMarkdown(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	dir := folder(t, map[string]string{"sub/note.md": "# Note\n", "main.c": "int x;\n"})
	if got := s.in(dir, "status"); !strings.Contains(got.stdout, "workspace  "+dir+"\n") {
		t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if err := os.WriteFile(filepath.Join(s.home, "note.md"), []byte("# Note\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(s.home, "Downloads")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/", s.home, below, t.TempDir()} {
		s.in(dir, "search", "note").wants(t, exitUsage, "no workspace", "--workspace FOLDER", "kioku init")
	}
}

// A folder for temporary files, in which anybody may write, is a workspace only if it is named: neither stray Markdown, nor a
// repository in it, nor what an earlier append has left make it one. append writes nothing there.
func TestWorkspaceIsNeverAFolderForTemporaryFiles(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	tmp := folder(t, map[string]string{
		"sub/note.md": "# Note\n", ".git/HEAD": "ref: x\n", "memory/2026-01-10.md": "# Day\n", ".kioku.yaml": "include: [\"**/*.md\"]\n",
	})
	s.env = append(s.env, "TMPDIR="+tmp)
	below := filepath.Join(tmp, "empty")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{tmp, below, "/tmp", "/var", "/etc"} {
		for _, args := range [][]string{{"search", "note"}, {"append", "x"}, {"index"}, {"ls"}} {
			s.in(dir, args...).wants(t, exitUsage, "no workspace", "--workspace FOLDER", "kioku init")
		}
	}
	if got := read(t, tmp, "memory/*.md"); got != "# Day\n" {
		t.Errorf("a note was written: %s", got)
	}
	s.in(tmp, "search", "note", "--workspace", tmp).wants(t, exitOK)
	s.in(filepath.Join(tmp, "sub"), "search", "note").wants(t, exitOK) // a folder in it is one like any other
}

// A folder that nothing marks as a workspace, with more than 10,000 files and no index, is indexed only if it is named.
func TestManyFilesAreIndexedOnlyIfTheirFolderIsNamed(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	dir := folder(t, map[string]string{".gitignore": "left-out\n", "left-out/a.md": "# A\n"})
	for i := range 10_001 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".md")), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"search", "note"}, {"append", "x"}, {"index"}, {"ls"}} {
		s.in(dir, args...).wants(t, exitUsage, "more than 10000 Markdown files", "kioku index --workspace "+dir)
	}
	if entries, err := os.ReadDir(s.state); len(entries) > 0 || err != nil && !os.IsNotExist(err) {
		t.Errorf("there is an index: %v, %v", entries, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "memory")); err == nil {
		t.Error("a note was written")
	}
	if err := os.Remove(filepath.Join(dir, "0.md")); err != nil {
		t.Fatal(err)
	}
	s.in(dir, "status").wants(t, exitOK) // 10,000, and what is ignored does not count
}

// The settings of the user name a workspace for everywhere; a folder with settings of its own goes before it.
func TestWorkspaceOfTheConfigFileCountsUnlessTheFolderHasSettings(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.raw("config", "set", "workspace", s.workspace).wants(t, exitOK)
	vault := folder(t, map[string]string{"MEMORY.md": "# Memory\n"})
	own := folder(t, map[string]string{"MEMORY.md": "# Memory\n", ".kioku.yaml": "timezone: UTC\n"})
	for dir, want := range map[string]string{t.TempDir(): s.workspace, vault: s.workspace, own: own} {
		if got := s.in(dir, "status"); !strings.Contains(got.stdout, "workspace  "+want+"\n") {
			t.Errorf("in %s: %s%s", dir, got.stdout, got.stderr)
		}
	}
}

// An agent of the config file is meant in its folder, with or without a daemon.
func TestAgentOfTheConfigFileIsMeantInItsFolder(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	work := folder(t, map[string]string{"note.md": "# Note\n"})
	s.raw("config", "set", "agents", "work="+work).wants(t, exitOK)
	s.raw("config", "set", "workspace", s.workspace).wants(t, exitOK)
	if got := s.in(work, "status"); !strings.Contains(got.stdout, "agent      work\n") {
		t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := s.in(t.TempDir(), "status", "--workspace", work); !strings.Contains(got.stdout, "agent      work\n") {
		t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// read returns the text of the files of a folder that match a pattern.
func read(t *testing.T, dir, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
