package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
)

// config returns a configuration in the sandbox's home, "-" if there is none.
func (s *sandbox) config(path string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.home, path))
	if os.IsNotExist(err) {
		return "-"
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// args returns the arguments of the entry kioku in the configuration of Cursor.
func (s *sandbox) args(path string) []string {
	s.t.Helper()
	var c struct {
		Servers map[string]struct {
			Args []string `json:"args"`
		} `json:"mcpServers"`
	}
	testkit.Must(s.t, json.Unmarshal([]byte(s.config(path)), &c))
	return c.Servers["kioku"].Args
}

// setup shows the change first: --dry-run only that, without a terminal --yes is needed, and --undo takes it back.
func TestSetupShowsTheChangeAndWritesItOnlyIfToldTo(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for _, args := range [][]string{{"--dry-run"}, {"--dry-run", "--json"}, {"--read-only", "--yes"}, {}, {"--json"}} {
		got := s.raw(append([]string{"setup", "claude-code", "--workspace", s.workspace}, args...)...)
		if !strings.Contains(got.stdout, ".claude.json") || !strings.Contains(got.stdout, s.workspace) || s.config(".claude.json") != "-" {
			t.Errorf("%q: %s, and the file is %s", args, got.stdout, s.config(".claude.json"))
		}
		if wanted := len(args) == 0 || args[0] == "--json"; (got.code == exitUsage && strings.Contains(got.stderr, "--yes")) != wanted {
			t.Errorf("%q: exit %d, %s", args, got.code, got.stderr)
		}
	}
	got := s.raw("setup", "claude-code", "--workspace", s.workspace, "--yes")
	got.wants(t, exitOK, "kioku setup claude-code --undo")
	if diff := cmp.Diff([]string{"mcp", "--workspace", s.workspace}, s.args(".claude.json")); diff != "" || !strings.Contains(s.config(".claude.json"), program) {
		t.Errorf("%s in %s", diff, s.config(".claude.json"))
	}
	if got := s.raw("setup", "claude-code", "--workspace", s.workspace); got.code != exitOK || !strings.Contains(got.stdout, "nothing to change") {
		t.Errorf("again: %+v", got)
	}
	s.raw("setup", "claude-code", "--undo", "-y").wants(t, exitOK, "no longer set up")
	if s.config(".claude.json") != "-" {
		t.Errorf("undo leaves %s", s.config(".claude.json"))
	}
	s.raw("setup", "claude-code", "--undo", "-y").wants(t, exitError, "not set up", "kioku setup lists")
}

// Flags of settings are passed on to the server, with absolute paths.
func TestSetupPassesSettingsOn(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n", "config.yaml": "timezone: UTC\n", "token": "t\n"})
	work := folder(t, map[string]string{"MEMORY.md": "# Work\n"})
	s.raw("config", "set", "agents", "work="+work).wants(t, exitOK)
	for _, tc := range []struct{ args, want []string }{
		{[]string{"--agent", "work", "--offline"}, []string{"mcp", "--agent", "work", "--offline=true"}},
		{[]string{"--workspace", ".", "--state", "index", "--set", "query.maxResults=3"}, []string{"mcp", "--workspace", s.workspace, "--state", filepath.Join(s.workspace, "index"), "--set", "query.maxResults=3"}},
		{[]string{"--config", "config.yaml", "--workspace", s.workspace}, []string{"mcp", "--config", filepath.Join(s.workspace, "config.yaml"), "--workspace", s.workspace}},
		{[]string{"--target", "memory.example:7777", "--token-file", "token"}, []string{"mcp", "--target", "memory.example:7777", "--token-file", filepath.Join(s.workspace, "token")}},
		{nil, []string{"mcp", "--workspace", s.workspace}},
	} {
		there := *s
		there.home = s.workspace
		there.raw(append([]string{"setup", "cursor", "--yes"}, tc.args...)...).wants(t, exitOK)
		if diff := cmp.Diff(tc.want, s.args(".cursor/mcp.json")); diff != "" {
			t.Errorf("%q: %s", tc.args, diff)
		}
		there.raw("setup", "cursor", "--undo", "--yes").wants(t, exitOK)
	}
}

// In a project, whose files others have too, the entry names neither the program's folder nor, unless a flag does, the workspace.
func TestSetupOfAProjectNamesNoFolders(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	s.raw("setup", "claude-code", "--scope", "project", "--yes").wants(t, exitOK, "kioku setup claude-code --scope project --undo takes it back")
	want := "{\n  \"mcpServers\": {\n    \"kioku\": {\n      \"type\": \"stdio\",\n      \"command\": \"kioku\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n"
	if diff := cmp.Diff(want, s.config(".mcp.json")); diff != "" {
		t.Error(diff)
	}
	if s.config(".claude.json") != "-" {
		t.Errorf("the configuration of the user is %s", s.config(".claude.json"))
	}
}

// Misuse says what to do, and changes nothing.
func TestSetupRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"claud-code"}, "did you mean claude-code?"},
		{[]string{"emacs"}, "there are claude-code, claude-desktop"},
		{[]string{"cursor"}, "kioku init"},
		{[]string{"cursor", "--workspace", "/no/such/folder"}, "kioku init /no/such/folder creates it"},
		{[]string{"claude-desktop", "--scope", "project", "--workspace", s.workspace}, `--scope: Claude Desktop has no configuration for scope "project"; use "user"`},
		{[]string{"cursor", "--scope", "local"}, `use "user" or "project"`},
		{[]string{"cursor", "codex"}, "accepts at most 1 arg"},
	} {
		s.raw(append([]string{"setup", "--yes"}, tc.args...)...).wants(t, exitUsage, tc.want)
	}
	if entries, err := os.ReadDir(s.home); err != nil || len(entries) > 0 {
		t.Errorf("the home holds %v, %v", entries, err)
	}
}

// Without a workspace --undo takes out the entry that setup added, if there is only one, and never one that the user wrote.
func TestSetupUndoOutsideOfAWorkspace(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	own := `{"mcpServers":{"kioku":{"command":"kioku","args":["mcp"]}}}`
	testkit.Must(t, os.WriteFile(filepath.Join(s.home, ".claude.json"), []byte(own), 0o600))
	s.raw("setup", "claude-code", "--workspace", s.workspace, "--yes").wants(t, exitOK, "written to")
	s.raw("setup", "claude-code", "--undo", "--yes").wants(t, exitOK, "no longer set up")
	if got := s.config(".claude.json"); got != own {
		t.Errorf("undo leaves %s", got)
	}
	s.raw("setup", "claude-code", "--undo", "--yes").wants(t, exitError, "not set up", "--name kioku")
	if got := s.config(".claude.json"); got != own {
		t.Errorf("a second undo leaves %s", got)
	}
	other := folder(t, notes())
	for _, workspace := range []string{s.workspace, other} {
		s.raw("setup", "codex", "--workspace", workspace, "--yes").wants(t, exitOK, "written to")
	}
	s.raw("setup", "codex", "--undo", "--yes").wants(t, exitError, "set up for 2 memories", "--name")
	testkit.Must(t, os.RemoveAll(other))
	s.raw("setup", "codex", "--workspace", other, "--undo", "--yes").wants(t, exitOK, "no longer set up")
	if got := s.config(".codex/config.toml"); !strings.Contains(got, s.workspace) || strings.Contains(got, other) {
		t.Errorf("the undo of a workspace that is gone leaves %s", got)
	}
}

// A secret is not written into the file of a client, nor shown: a reference is.
func TestSetupWritesNoSecrets(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for _, flag := range []string{"client.token=verysecret", "remote.apiKey=verysecret", "remote.headers=x-key=verysecret", "tracing.headers=x-key=verysecret"} {
		got := s.raw("setup", "codex", "--workspace", s.workspace, "--yes", "--set", flag)
		key, _, _ := strings.Cut(flag, "=")
		got.wants(t, exitUsage, key, "env:NAME", "file:PATH")
		if strings.Contains(got.stdout+got.stderr, "verysecret") || s.config(".codex/config.toml") != "-" {
			t.Errorf("%s: %s%s; the file is %s", flag, got.stdout, got.stderr, s.config(".codex/config.toml"))
		}
	}
	s.env = append(s.env, "MY_KEY=k")
	s.raw("setup", "codex", "--workspace", s.workspace, "--yes", "--set", "remote.apiKey=env:MY_KEY", "--set", "remote.headers=x-key=env:MY_KEY").wants(t, exitOK)
	if got := s.config(".codex/config.toml"); !strings.Contains(got, "remote.apiKey=env:MY_KEY") || !strings.Contains(got, "remote.headers=x-key=env:MY_KEY") {
		t.Errorf("the file is %s", got)
	}
}

// setup alone lists the clients that are found on this machine and their state, also as JSON.
func TestSetupListsClients(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for path, text := range map[string]string{
		".codex/config.toml": "model = \"m\"\n", ".cursor/mcp.json": "{broken\n", ".gemini/settings.json": `{"mcpServers": {"kioku": {"command": "/gone/kioku", "args": ["mcp"]}}}`,
	} {
		file := filepath.Join(s.home, path)
		testkit.Must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		testkit.Must(t, os.WriteFile(file, []byte(text), 0o644))
	}
	s.env = append(s.env, "PATH="+filepath.Dir(program))
	s.raw("setup", "opencode", "--workspace", s.workspace, "--yes").wants(t, exitOK)
	got := s.raw("setup").stdout
	for _, want := range []string{
		"codex           not set up   " + s.home + "/.codex/config.toml\n", "cursor          unreadable   ", ".cursor/mcp.json: line 1, column 2",
		"gemini-cli      set up       ", "kioku starts /gone/kioku, which is not there", "opencode        set up       ",
		"kioku: " + program + " mcp --workspace " + s.workspace, "not found here: claude-code, claude-desktop, openclaw\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	var list struct {
		Clients []struct {
			Client, Scope, Path, Problem string
			Found                        bool
			Entries                      []struct {
				Name    string
				Command []string
			}
		}
	}
	testkit.Must(t, json.Unmarshal([]byte(s.raw("setup", "--json").stdout), &list))
	states := map[string]string{}
	for _, c := range list.Clients {
		if c.Scope == "user" && c.Found {
			states[c.Client] = strings.Repeat("entry ", len(c.Entries)) + c.Problem[:min(1, len(c.Problem))]
		}
	}
	want := map[string]string{"codex": "", "cursor": "/", "gemini-cli": "entry k", "opencode": "entry "}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Error(diff)
	}
}

// Claude Code and Codex get hooks beside the server, in their files of hooks, with the same flags of settings; --no-hooks leaves them
// alone, and --undo takes out those of the entry only.
func TestSetupAddsHooks(t *testing.T) {
	t.Parallel()
	for id, file := range map[string]string{"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"} {
		s := newSandbox(t, notes())
		s.raw("setup", id, "--workspace", s.workspace, "--no-hooks", "--yes").wants(t, exitOK)
		if got := s.config(file); got != "-" {
			t.Errorf("%s: --no-hooks writes %s", id, got)
		}
		got := s.raw("setup", id, "--workspace", s.workspace, "--yes")
		got.wants(t, exitOK, file)
		for _, event := range []string{"session-start", "user-prompt-submit", "pre-compact", "session-end"} {
			if want := program + " hook " + id + " " + event + " --workspace " + s.workspace; strings.Count(s.config(file), `"`+want+`"`) != 1 || !strings.Contains(got.stdout, want) {
				t.Errorf("%s: %s is missing in %s", id, want, s.config(file))
			}
		}
		if again := s.raw("setup", id, "--workspace", s.workspace); again.code != exitOK || !strings.Contains(again.stdout, "the hooks are there") {
			t.Errorf("%s again: %+v", id, again)
		}
		other := folder(t, notes())
		s.raw("setup", id, "--workspace", other, "--yes").wants(t, exitOK)
		s.raw("setup", id, "--workspace", other, "--undo", "--yes").wants(t, exitOK, "no longer set up")
		if got := s.config(file); strings.Contains(got, other) || !strings.Contains(got, s.workspace) {
			t.Errorf("%s: undo of the other memory leaves %s", id, got)
		}
		s.raw("setup", id, "--undo", "--yes").wants(t, exitOK, "no longer set up")
		if got := s.config(file); got != "-" {
			t.Errorf("%s: undo leaves %s", id, got)
		}
	}
}
