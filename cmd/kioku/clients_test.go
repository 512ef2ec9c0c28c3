package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kioku/internal/testkit"
)

// clientsEnv names the folder into which .ci/clients has installed real clients.
const clientsEnv = "KIOKU_CLIENTS"

// desk is a sandbox in which real clients run, in a project that is no memory.
type desk struct {
	*sandbox
	project string
}

// newDesk skips the test where the client is not installed.
func newDesk(t *testing.T, client string) desk {
	t.Helper()
	bin := filepath.Join(os.Getenv(clientsEnv), "node_modules", ".bin")
	if os.Getenv(clientsEnv) == "" {
		t.Skip("run by .ci/clients")
	}
	if _, err := os.Stat(filepath.Join(bin, client)); err != nil {
		t.Skipf("%s is not installed", client)
	}
	d := desk{newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n"}), t.TempDir()}
	d.env = []string{"HOME=" + d.home, "TZ=UTC", "PATH=" + strings.Join([]string{bin, filepath.Dir(program), os.Getenv("PATH")}, ":")}
	t.Cleanup(d.endDaemon)
	return d
}

// endDaemon ends the daemon that kioku mcp has started, which would stay for some minutes.
func (d desk) endDaemon() {
	locks, _ := filepath.Glob(filepath.Join(d.home, ".local/state/kioku/folders/*/memory/main.lock"))
	for _, lock := range locks {
		text, _ := os.ReadFile(lock)
		var pid int
		if _, after, ok := strings.Cut(string(text), "(pid "); !ok {
			continue
		} else if _, err := fmt.Sscanf(after, "%d,", &pid); err == nil && syscall.Kill(pid, syscall.SIGTERM) == nil {
			d.ends(pid)
		}
	}
}

// client runs a client in the project.
func (d desk) client(env []string, args ...string) outcome {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	if path, err := exec.LookPath(filepath.Join(os.Getenv(clientsEnv), "node_modules", ".bin", args[0])); err == nil {
		cmd.Path, cmd.Err = path, nil
	}
	cmd.Env, cmd.Dir, cmd.WaitDelay = append(d.env, env...), d.project, time.Second
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		d.t.Fatalf("%q: %v", args, err)
	}
	return outcome{out.String(), problems.String(), cmd.ProcessState.ExitCode()}
}

// claudeEnv has Claude Code talk to a scripted model and to nobody else.
func claudeEnv(model *scriptedClaude) []string {
	return []string{
		"ANTHROPIC_BASE_URL=" + model.URL, "ANTHROPIC_API_KEY=sk-ant-test", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
	}
}

// claude runs Claude Code once, with a message for the scripted model.
func (d desk) claude(model *scriptedClaude, message string, args ...string) {
	d.t.Helper()
	got := d.client(claudeEnv(model), append([]string{"claude", "-p", message, "--debug-file", filepath.Join(d.home, "debug.log")}, args...)...)
	if got.code != 0 || !strings.Contains(got.stdout, "ok") {
		debug, _ := os.ReadFile(filepath.Join(d.home, "debug.log"))
		d.t.Fatalf("claude: exit %d: %s%s\n%s", got.code, got.stdout, got.stderr, debug[max(0, len(debug)-4000):])
	}
}

// plugin is the folder of the plugin for Claude Code.
func plugin(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../examples/claude-code-plugin")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A fact that Claude Code is told in one session is in what its model is sent in the next one: by the plugin, whose hook recalls
// when a session begins and whose server is called as a tool. The path of a newcomer is timed.
func TestClientsClaudeCodeRemembersWithThePlugin(t *testing.T) {
	d := newDesk(t, "claude")
	model := newScriptedClaude(t)
	start := time.Now()
	d.raw("config", "set", "workspace", d.workspace).wants(t, exitOK)
	with := []string{"--plugin-dir", plugin(t), "--allowedTools", "mcp__plugin_kioku_kioku__memory_append"}
	d.claude(model, "Please remember: the switch-off is on the ninth of March. Thanks.", with...)
	if got := read(t, d.workspace, "memory/*.md"); !strings.Contains(got, "the switch-off is on the ninth of March.") || !strings.Contains(got, "from=agent") {
		t.Fatalf("the note is not written: %s\n%s", got, model.requests())
	}
	model.requests()
	d.claude(model, "When is it?", with...)
	if got := model.requests(); !strings.Contains(got, "the switch-off is on the ninth of March.") || !strings.Contains(got, "recalled-memories") {
		t.Errorf("the model was not told: %s", got)
	}
	t.Logf("from the first command to the recalled fact: %v", time.Since(start).Round(time.Millisecond))
}

// kioku setup claude-code alone gives Claude Code the tools of the memory, which a headless session may use, and hooks, so that the next session is told.
func TestClientsClaudeCodeTakesTheServerOfSetup(t *testing.T) {
	d := newDesk(t, "claude")
	model := newScriptedClaude(t)
	d.raw("setup", "claude-code", "--workspace", d.workspace, "--yes").wants(t, exitOK)
	if got := d.client(nil, "claude", "mcp", "list"); !strings.Contains(got.stdout, "kioku") || !strings.Contains(got.stdout, "Connected") {
		t.Errorf("claude mcp list: %s%s", got.stdout, got.stderr)
	}
	d.claude(model, "Please remember: our releases are on Tuesdays. Thanks.")
	if got := read(t, d.workspace, "memory/*.md"); !strings.Contains(got, "our releases are on Tuesdays.") {
		t.Errorf("the note is not written: %s\n%s", got, model.requests())
	}
	model.requests()
	d.claude(model, "When are our releases?")
	if got := model.requests(); !strings.Contains(got, "recalled-memories") || !strings.Contains(got, "our releases are on Tuesdays.") {
		t.Errorf("the next session is not told: %s", got)
	}
	d.raw("setup", "claude-code", "--undo", "--yes").wants(t, exitOK) // Claude Code has written to the file meanwhile
	if got := d.client(nil, "claude", "mcp", "list"); strings.Contains(got.stdout, "kioku") {
		t.Errorf("after the undo: %s", got.stdout)
	}
}

// The sessions with Claude Code that the README shows go as it shows them, with a scripted model.
func TestClientsClaudeCodeOfTheReadme(t *testing.T) {
	_ = newDesk(t, "claude")
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Claude Code")
	section, _, _ = strings.Cut(section, "\n## Notes that you have")
	lines := strings.Split(section, "\n")
	shell := newReadmeShell(t)
	shell.path = filepath.Join(os.Getenv(clientsEnv), "node_modules", ".bin") + ":"
	shell.env = claudeEnv(newScriptedClaude(t))
	commands := readmeCommands(lines)
	if len(commands) < 5 {
		t.Errorf("only %d commands", len(commands))
	}
	shell.compares(t, "README.md, Claude Code", lines, commands)
}

// Claude Code itself finds nothing wrong with the plugin.
func TestClientsClaudeCodeValidatesThePlugin(t *testing.T) {
	d := newDesk(t, "claude")
	if got := d.client(nil, "claude", "plugin", "validate", "--strict", plugin(t)); got.code != 0 {
		t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// The other clients read what setup writes, beside what was there.
func TestClientsReadTheirConfiguration(t *testing.T) {
	for _, tc := range []struct {
		id, program, file, before string
		list                      []string
		wants                     []string
	}{
		{"codex", "codex", ".codex/config.toml", "model = \"m\" # mine\n\n[mcp_servers.other]\ncommand = \"true\"\n", []string{"codex", "mcp", "list", "--json"}, []string{`"kioku"`, `"other"`, "WORKSPACE"}},
		{"opencode", "opencode", ".config/opencode/opencode.jsonc", "// mine\n{\"mcp\": {}}\n", []string{"opencode", "mcp", "list"}, []string{"kioku", "connected"}},
		{"gemini-cli", "gemini", ".gemini/settings.json", "{\n  // mine\n  \"security\": {\"folderTrust\": {\"enabled\": false}}\n}\n", []string{"gemini", "mcp", "list"}, []string{"kioku", "Connected"}},
	} {
		t.Run(tc.id, func(t *testing.T) {
			d := newDesk(t, tc.program)
			file := filepath.Join(d.home, tc.file)
			testkit.Must(t, os.MkdirAll(filepath.Dir(file), 0o755))
			testkit.Must(t, os.WriteFile(file, []byte(tc.before), 0o600))
			d.raw("setup", tc.id, "--workspace", d.workspace, "--yes").wants(t, exitOK)
			got := d.client(nil, tc.list...)
			for _, want := range tc.wants {
				if all := got.stdout + got.stderr; !strings.Contains(all, strings.ReplaceAll(want, "WORKSPACE", d.workspace)) {
					t.Errorf("%q says nothing of %s: %s", tc.list, want, all)
				}
			}
			d.raw("setup", tc.id, "--undo", "--yes").wants(t, exitOK)
			if back, err := os.ReadFile(file); err != nil || string(back) != tc.before {
				t.Errorf("undo leaves %q, %v", back, err)
			}
		})
	}
}
