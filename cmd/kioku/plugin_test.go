package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The plugin's files have the layout and the fields that Claude Code documents: a name in kebab case, hooks by event with commands
// that this program answers, and a server that it has.
func TestPluginOfClaudeCodeIsAsDocumented(t *testing.T) {
	t.Parallel()
	var manifest struct {
		Name, Version, Description, License string
		Keywords                            []string
		Author                              struct{ Name string }
	}
	var hooks struct {
		Description string `json:"description"`
		Hooks       map[string][]struct {
			Matcher string `json:"matcher"`
			Hooks   []struct {
				Type    string `json:"type"`
				Command string `json:"command"`
				Timeout int    `json:"timeout"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	var servers struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	for file, v := range map[string]any{".claude-plugin/plugin.json": &manifest, "hooks/hooks.json": &hooks, ".mcp.json": &servers} {
		text, err := os.ReadFile(filepath.Join("../../examples/claude-code-plugin", file))
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(strings.NewReader(string(text)))
		d.DisallowUnknownFields()
		if err := d.Decode(v); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if manifest.Name != "kioku" || manifest.Version == "" || manifest.Description == "" || manifest.Author.Name == "" {
		t.Errorf("the manifest is %+v", manifest)
	}
	commands := map[string]string{}
	for event, groups := range hooks.Hooks {
		for _, g := range groups {
			for _, h := range g.Hooks {
				commands[event+" "+g.Matcher] = h.Command
				if h.Type != "command" || h.Timeout < 2 {
					t.Errorf("%s: %+v", event, h)
				}
			}
		}
	}
	want := map[string]string{
		"SessionStart startup|clear|compact": "kioku hook claude-code session-start", "UserPromptSubmit ": "kioku hook claude-code user-prompt-submit",
		"PreCompact ": "kioku hook claude-code pre-compact", "SessionEnd ": "kioku hook claude-code session-end",
	}
	if diff := cmp.Diff(want, commands); diff != "" {
		t.Error(diff)
	}
	if s := servers.Servers["kioku"]; len(servers.Servers) != 1 || s.Command != "kioku" || strings.Join(s.Args, " ") != "mcp" {
		t.Errorf("the servers are %+v", servers)
	}
}
