package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/internal/testkit"
)

// onlyHook returns the arguments with which Claude Code runs the hook of one event, and no others.
func onlyHook(t *testing.T, event, name string) []string {
	t.Helper()
	settings := map[string]any{"hooks": map[string]any{event: []any{map[string]any{"hooks": []any{
		map[string]any{"type": "command", "command": program + " hook claude-code " + name, "timeout": 5},
	}}}}}
	text, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--settings", string(text)}
}

// stores waits until the notes of the workspace have a text, which a process in the background writes.
func (d desk) stores(t *testing.T, want string) {
	t.Helper()
	for begun := time.Now(); !strings.Contains(read(t, d.workspace, "memory/*.md"), want); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > patience {
			logs, _ := filepath.Glob(filepath.Join(d.home, ".local/state/kioku/folders/*/memory/main.log"))
			said := ""
			for _, log := range logs {
				text, _ := os.ReadFile(log)
				said += string(text)
			}
			t.Fatalf("%q is not stored: the notes are %q, the log %q", want, read(t, d.workspace, "memory/*.md"), said)
		}
	}
	if notes := read(t, d.workspace, "memory/*.md"); !strings.Contains(notes, "from=flush") {
		t.Errorf("the notes are %s", notes)
	}
}

// user-prompt-submit: what is recalled for a message reaches the model of Claude Code, and only if it is about the message.
func TestClientsClaudeCodeRecallsForAMessage(t *testing.T) {
	d := newDesk(t, "claude")
	model := newScriptedClaude(t)
	d.raw("config", "set", "workspace", d.workspace).wants(t, exitOK)
	d.write("memory/2026-01-05.md", "# 2026-01-05\n\nThe boiler lost pressure; the valve behind the stairs was open.\n")
	with := onlyHook(t, "UserPromptSubmit", "user-prompt-submit")
	d.claude(model, "What was wrong with the boiler pressure?", with...)
	if got := model.requests(); !strings.Contains(got, "valve behind the stairs") || !strings.Contains(got, "recalled-memories") {
		t.Errorf("the model was not told: %s", got)
	}
	d.claude(model, "Center the login button with CSS grid", with...)
	if got := model.requests(); strings.Contains(got, "recalled-memories") {
		t.Errorf("the model was told: %s", got)
	}
}

// pre-compact: the hook runs at /compact.
func TestClientsClaudeCodeStoresAtPreCompact(t *testing.T) {
	d := newDesk(t, "claude")
	model := newScriptedClaude(t)
	d.raw("config", "set", "workspace", d.workspace).wants(t, exitOK)
	d.raw("config", "set", "llm.provider", "echo").wants(t, exitOK)
	d.claude(model, "My train leaves from platform 9.")
	d.client(claudeEnv(model), append([]string{"claude", "-c", "-p", "/compact"}, onlyHook(t, "PreCompact", "pre-compact")...)...)
	d.stores(t, "My train leaves from platform 9.")
}

// session-end: what is said in a session that ends early, also by /clear, is stored and known in the next one.
func TestClientsClaudeCodeStoresAtTheEndOfASession(t *testing.T) {
	for name, tc := range map[string]struct{ first, second []string }{
		"exit":   {onlyHook(t, "SessionEnd", "session-end"), nil},
		"/clear": {nil, onlyHook(t, "SessionEnd", "session-end")},
	} {
		t.Run(strings.TrimPrefix(name, "/"), func(t *testing.T) {
			d := newDesk(t, "claude")
			model := newScriptedClaude(t)
			d.raw("config", "set", "workspace", d.workspace).wants(t, exitOK)
			d.raw("config", "set", "llm.provider", "echo").wants(t, exitOK)
			d.claude(model, "My train leaves from platform 9.", tc.first...)
			if tc.second != nil {
				d.client(claudeEnv(model), append([]string{"claude", "-c", "-p", "/clear"}, tc.second...)...)
			}
			d.stores(t, "My train leaves from platform 9.")
			model.requests()
			d.claude(model, "Hello again", onlyHook(t, "SessionStart", "session-start")...)
			if got := model.requests(); !strings.Contains(got, "platform 9") || !strings.Contains(got, "recalled-memories") {
				t.Errorf("the next session is not told: %s", got)
			}
		})
	}
}

// What Claude Code has recorded is found by the source claude-code, with the line of its transcript.
func TestClientsClaudeCodeTranscriptsAreASource(t *testing.T) {
	d := newDesk(t, "claude")
	model := newScriptedClaude(t)
	d.claude(model, "My train leaves from platform 9.")
	d.findsConversation(t, "claude-code")
}

// findsConversation fails the test unless what was said in the project is found by a source, and shown.
func (d desk) findsConversation(t *testing.T, source string) {
	t.Helper()
	d.raw("config", "set", "sources", "memory,"+source).wants(t, exitOK)
	d.raw("config", "set", "transcripts.projects", d.project).wants(t, exitOK)
	d.raw("config", "set", "workspace", d.workspace).wants(t, exitOK)
	var found struct {
		Results []struct {
			Path, Source string
			StartLine    int
		}
	}
	testkit.Must(t, json.Unmarshal([]byte(d.raw("search", "--source", source, "--json", "which platform does the train leave from").stdout), &found))
	if len(found.Results) == 0 || found.Results[0].Source != source {
		t.Fatalf("found %+v", found)
	}
	if got := d.raw("get", found.Results[0].Path); !strings.Contains(got.stdout, "User: My train leaves from platform 9.") {
		t.Errorf("shown as %s%s", got.stdout, got.stderr)
	}
}

// The same for Codex, with the hooks of kioku setup codex: each session begins with what is known, what is about a message is
// recalled for it, and what was said is stored at the end of a session, and known in the next one.
func TestClientsCodexRemembers(t *testing.T) {
	d := newDesk(t, "codex")
	model := newScriptedCodex(t)
	start := time.Now()
	d.raw("config", "set", "llm.provider", "echo").wants(t, exitOK)
	d.write("memory/2026-01-05.md", "# 2026-01-05\n\nThe boiler lost pressure; the valve behind the stairs was open.\n")
	d.write("memory/2026-01-06.md", "# 2026-01-06\n\nTea.\n")
	d.write("memory/2026-01-07.md", "# 2026-01-07\n\nThe heron nests by the weir.\n")
	d.raw("setup", "codex", "--workspace", d.workspace, "--yes").wants(t, exitOK, "/hooks")
	d.codex(model, "What was wrong with the boiler pressure?")
	got := model.requests()
	for _, want := range []string{"recalled-memories", "The heron nests by the weir.", "valve behind the stairs"} {
		if !strings.Contains(got, want) {
			t.Errorf("the model was not told %q: %s", want, got)
		}
	}
	d.codex(model, "My train leaves from platform 9.")
	d.stores(t, "platform 9")
	model.requests()
	d.codex(model, "Center the login button with CSS grid")
	if got := model.requests(); !strings.Contains(got, "platform 9") || strings.Contains(got, "valve behind the stairs") {
		t.Errorf("the next session is told: %s", got)
	}
	t.Logf("from the first command to the recalled fact: %v", time.Since(start).Round(time.Millisecond))
	d.raw("setup", "codex", "--undo", "--yes").wants(t, exitOK)
	d.codex(model, "Hello")
	if got := model.requests(); strings.Contains(got, "recalled-memories") {
		t.Errorf("after the undo: %s", got)
	}
}

// pre-compact: the hook runs before Codex compacts a conversation.
func TestClientsCodexStoresAtPreCompact(t *testing.T) {
	d := newDesk(t, "codex")
	model := newScriptedCodex(t)
	d.raw("config", "set", "workspace", d.workspace).wants(t, exitOK)
	d.raw("config", "set", "llm.provider", "echo").wants(t, exitOK)
	hooks := `{"hooks":{"PreCompact":[{"hooks":[{"type":"command","command":"` + program + ` hook codex pre-compact"}]}]}}`
	testkit.Must(t, os.MkdirAll(filepath.Join(d.home, ".codex"), 0o700))
	testkit.Must(t, os.WriteFile(filepath.Join(d.home, ".codex", "hooks.json"), []byte(hooks), 0o600))
	d.codex(model, "My train leaves from platform 9.")
	if got := read(t, d.workspace, "memory/*.md"); strings.Contains(got, "platform 9") {
		t.Fatalf("stored too early: %s", got)
	}
	d.codex(model, "And now?", "resume", "--last", "-c", "model_auto_compact_token_limit=5")
	d.stores(t, "platform 9")
}

// What Codex has recorded is found by the source codex, with the line of its transcript.
func TestClientsCodexTranscriptsAreASource(t *testing.T) {
	d := newDesk(t, "codex")
	model := newScriptedCodex(t)
	d.codex(model, "My train leaves from platform 9.")
	d.findsConversation(t, "codex")
}
