package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/internal/testkit"
)

func TestMisuseExitsWithTwoAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"serach"}, `unknown command "serach" for "kioku"; did you mean kioku search?`},
		{[]string{"config", "unst"}, `unknown command "unst" for "kioku config"; did you mean kioku config unset?`},
		{[]string{"bench", "retreival", "x"}, `unknown command "retreival" for "kioku bench"; did you mean kioku bench retrieval?`},
		{[]string{"help", "serach"}, `unknown command "serach" for "kioku"; did you mean kioku search?`},
		{[]string{"help", "config", "lst"}, `did you mean kioku config list?`},
		{[]string{"completion", "bsh"}, `unknown command "bsh" for "kioku completion"; did you mean kioku completion bash?`},
		{[]string{"search"}, "requires at least 1 arg"},
		{[]string{"search", "--bogus", "x"}, "unknown flag: --bogus"},
		{[]string{"search", "-n", "many", "x"}, `invalid argument "many" for "-n, --max-results" flag: not a whole number`},
		{[]string{"search", "-n", "99999999999999999999", "x"}, "flag: too large a number"},
		{[]string{"search", "--min-score", "x", "x"}, "flag: not a number"},
		{[]string{"search", "--json=x", "x"}, "flag: neither true nor false"},
		{[]string{"search", "-n", "0", "x"}, "--max-results is 0; it must be at least 1 and at most 100"},
		{[]string{"search", "-k", "-1", "x"}, "--top is -1; it must be at least 1 and at most 100"},
		{[]string{"explain", "-n", "1000", "x"}, "--max-results is 1000; it must be at least 1 and at most 100"},
		{[]string{"search", "-n", "2", "-k", "1", "x"}, "-n and -k mean the same; give one of them"},
		{[]string{"search", "-O2"}, "unknown shorthand flag: 'O' in -O2; write a text that begins with - after --, as in kioku search -- -x"},
		{[]string{"search", "caf\xe9"}, `argument 2, "caf\xe9", is not valid UTF-8`},
		{[]string{"append", "--category", "\xff", "x"}, `argument 3, "\xff", is not valid UTF-8`},
		{[]string{"serve", "--workspace", "/x", "--agent", "main=/y"}, "agent main has two folders, --workspace /x and --agent main=/y; omit one"},
		{[]string{"serve", "--agent", "work=/x", "--agent", "work=/y"}, "agent work has two folders"},
		{[]string{"search", "x"}, "kioku init"},
		{[]string{"search", "x", "--set", "nonsense"}, "key=value"},
		{[]string{"search", "x", "--set", "query.maxResult=1"}, "did you mean query.maxResults?"},
		{[]string{"search", "x", "--config", "/no/such/file"}, "/no/such/file"},
		{[]string{"search", "x", "--dims", "many"}, "--dims: dims: "},
		{[]string{"status", "--agent", "../b"}, "is not an agent id"},
		{[]string{"config", "get", "provder"}, "did you mean provider?"},
		{[]string{"config", "set", "dims", "70000"}, "not between"},
		{[]string{"serve", "--agent", "a=/x", "--agent", "B=/y"}, "is not an agent id"},
	} {
		t.Run(tc.want, func(t *testing.T) { s.raw(tc.args...).wants(t, exitUsage, tc.want) })
	}
	s.stdin = "caf\xe9"
	s.run("append", "-").wants(t, exitUsage, "standard input is not valid UTF-8")
	s.run("get", "MEMORY.md:0").wants(t, exitUsage, "lines count from 1")
	for _, args := range [][]string{
		{"search", " "}, {"search", "x", "-n", "-1"}, {"search", "x", "--min-score", "2"}, {"search", "x", "--since", "soon"},
		{"search", "x", "--source", "elsewhere"}, {"search", strings.Repeat("long ", 1000)},
	} {
		s.run(args...).wants(t, exitUsage)
	}
}

// Hazard G03: messages name what is missing.
func TestMessageNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.env = systemEnv()
	s.raw("search", "x", "--workspace", s.workspace).wants(t, exitUsage, "HOME is not set; name a folder with --state")
	if got := s.run("search", "boiler"); got.code != exitOK || !strings.Contains(got.stdout, "boiler") {
		t.Errorf("without HOME: exit %d: %s", got.code, got.stderr)
	}
	gone := s.raw("search", "x", "--workspace", "/no/such/folder", "--state", s.state)
	gone.wants(t, exitError, "workspace /no/such/folder: no such file or folder; make it with kioku init")
	s.raw("search", "x", "--workspace", s.workspace, "--state", filepath.Join(s.workspace, "MEMORY.md")).wants(t, exitError, "MEMORY.md")
}

func TestWorkspaceIsTheCurrentFolderIfItLooksLikeOne(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.home = s.workspace
	if got := s.raw("search", "boiler", "--state", s.state); got.code != exitOK || !strings.Contains(got.stdout, "boiler") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}

// Hazard C06: no agent id leaves the state folder.
func TestIndexIsSeparateForEachAgent(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index", "--agent", "nova")
	if _, err := os.Stat(filepath.Join(s.state, "memory", "nova.sqlite")); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"../b", "a/b", "'; drop", strings.Repeat("a", 65)} {
		s.run("index", "--agent", id).wants(t, exitUsage, "is not an agent id")
	}
}

func TestConfigShowsWhereEachValueCameFrom(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	s.must("config", "set", "query.maxResults", "9")
	s.env = append(s.env, "KIOKU_MODEL=m1", "KIOKU_REMOTE_API_KEY=sk-hush", "KIOKU_PORVIDER=x")
	list := s.run("config", "list", "--provider", "hash")
	list.wants(t, exitOK, "KIOKU_PORVIDER has no effect; did you mean KIOKU_PROVIDER?")
	rows := map[string]string{}
	for line := range strings.Lines(list.stdout) {
		setting, origin, _ := strings.Cut(strings.TrimSpace(line), "  ")
		rows[setting] = strings.TrimSpace(origin)
	}
	for setting, origin := range map[string]string{
		"query.maxResults=9": filepath.Join(s.home, ".config/kioku/config.yaml") + ":2:3", "model=m1": "KIOKU_MODEL",
		"provider=hash": "--provider", "remote.apiKey=(hidden)": "KIOKU_REMOTE_API_KEY", "chunking.tokens=400": "default",
	} {
		if rows[setting] != origin {
			t.Errorf("%s comes from %q, want %q", setting, rows[setting], origin)
		}
	}
	if got := s.must("config", "get", "query.maxResults"); got != "9\n" {
		t.Errorf("got %q", got)
	}
	var all []map[string]string
	if err := json.Unmarshal([]byte(s.must("config", "list", "--json")), &all); err != nil || len(all) < 30 {
		t.Errorf("%d settings, %v", len(all), err)
	}
}

// Hazard G02: a file with a typo is refused with its place, by every command.
func TestConfigFileWithATypoIsRefused(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	path := filepath.Join(s.home, "c.yaml")
	testkit.Must(t, os.WriteFile(path, []byte("query:\n  maxresult: 3\nlisten: 5\n"), 0o600))
	for _, cmd := range []string{"serve", "index", "status"} {
		s.run(cmd, "--config", path).wants(t, exitUsage, path+":2:3: query.maxresult: no such setting; did you mean query.maxResults?",
			path+`:3:9: listen: "5" is not a text`)
	}
}

func TestVersionComesFromTheLinker(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	if got := s.raw("version"); !strings.HasPrefix(got.stdout, "kioku v0.0.0-test (go1.") {
		t.Errorf("got %q", got.stdout)
	}
	var v map[string]string
	if err := json.Unmarshal([]byte(s.raw("version", "--json").stdout), &v); err != nil || v["version"] != "v0.0.0-test" || v["go"] == "" {
		t.Errorf("got %v, %v", v, err)
	}
}

func TestCompletionKnowsCommandsAndSettings(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index")
	for _, command := range []string{"get", "ls", "links"} {
		if got := s.raw("__complete", command, "--workspace", s.workspace, "--state", s.state, "mem"); got.stdout != "memory/2026-01-10.md\nmemory/2026-01-12.md\n:4\n" {
			t.Errorf("%s completes %q", command, got.stdout)
		}
	}
	if got := s.raw("__complete", "append", "--to", "l"); got.stdout != "daily\nlong_term\n:4\n" {
		t.Errorf("got %q", got.stdout)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if got := s.raw("completion", shell); got.code != 0 || !strings.Contains(got.stdout, "kioku") {
			t.Errorf("%s: exit %d", shell, got.code)
		}
	}
	if got := s.raw("__complete", "config", "get", "query.max"); !strings.Contains(got.stdout, "query.maxResults\t") {
		t.Errorf("got %q", got.stdout)
	}
}
