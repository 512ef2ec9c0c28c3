package setup

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Clients returns the clients that setup knows, by name.
func Clients() []Client {
	return []Client{claudeCode, claudeDesktop, codex, cursor, geminiCLI, opencode, openclaw}
}

// servers is the block of most clients.
var servers = []string{"mcpServers"}

var claudeCode = Client{
	ID: "claude-code", Title: "Claude Code", program: "claude", allows: true,
	Next:   "Start claude; /mcp shows the server.",
	format: jsonFormat{blocks: [][]string{servers}, fields: withType},
	files: map[Scope]func(*Machine) string{
		User:    func(m *Machine) string { return m.under("CLAUDE_CONFIG_DIR", []string{".claude.json"}) },
		Project: func(m *Machine) string { return m.project(".mcp.json") },
	},
	hooks: map[Scope]func(*Machine) string{
		User:    func(m *Machine) string { return m.under("CLAUDE_CONFIG_DIR", []string{"settings.json"}, ".claude") },
		Project: func(m *Machine) string { return m.project(".claude", "settings.json") },
	},
	signs: func(m *Machine) []string {
		return []string{m.home(".claude.json"), m.under("CLAUDE_CONFIG_DIR", nil, ".claude")}
	},
}

var claudeDesktop = Client{
	ID: "claude-desktop", Title: "Claude Desktop",
	Next:   "Quit Claude Desktop and start it again.",
	format: jsonFormat{blocks: [][]string{servers}, fields: plain},
	files: map[Scope]func(*Machine) string{
		User: func(m *Machine) string { return m.applicationData("Claude", "claude_desktop_config.json") },
	},
	signs: func(m *Machine) []string { return []string{m.applicationData("Claude")} },
}

var codex = Client{
	ID: "codex", Title: "Codex", program: "codex",
	Next:   "Start codex and trust the hooks in /hooks; codex mcp list shows the server.",
	format: tomlFormat{block: "mcp_servers"},
	files: map[Scope]func(*Machine) string{
		User:    func(m *Machine) string { return m.under("CODEX_HOME", []string{"config.toml"}, ".codex") },
		Project: func(m *Machine) string { return m.project(".codex", "config.toml") },
	},
	hooks: map[Scope]func(*Machine) string{
		User:    func(m *Machine) string { return m.under("CODEX_HOME", []string{"hooks.json"}, ".codex") },
		Project: func(m *Machine) string { return m.project(".codex", "hooks.json") },
	},
	signs: func(m *Machine) []string { return []string{m.under("CODEX_HOME", nil, ".codex")} },
}

var cursor = Client{
	ID: "cursor", Title: "Cursor", program: "cursor",
	Next:   "Cursor shows the server in its settings, under MCP.",
	format: jsonFormat{blocks: [][]string{servers}, comments: true, fields: withType},
	files: map[Scope]func(*Machine) string{
		User:    func(m *Machine) string { return m.home(".cursor", "mcp.json") },
		Project: func(m *Machine) string { return m.project(".cursor", "mcp.json") },
	},
	signs: func(m *Machine) []string { return []string{m.home(".cursor"), m.applicationData("Cursor")} },
}

var geminiCLI = Client{
	ID: "gemini-cli", Title: "Gemini CLI", program: "gemini",
	Next:   "Start gemini; /mcp shows the server.",
	format: jsonFormat{blocks: [][]string{servers}, comments: true, fields: plain},
	files: map[Scope]func(*Machine) string{
		User:    func(m *Machine) string { return m.home(".gemini", "settings.json") },
		Project: func(m *Machine) string { return m.project(".gemini", "settings.json") },
	},
	signs: func(m *Machine) []string { return []string{m.home(".gemini", "settings.json")} },
}

var opencode = Client{
	ID: "opencode", Title: "opencode", program: "opencode",
	Next:   "Start opencode; opencode mcp list shows the server.",
	format: jsonFormat{blocks: [][]string{{"mcp", "servers"}, {"mcp"}}, comments: true, fields: local},
	files: map[Scope]func(*Machine) string{
		User:    func(m *Machine) string { return firstFile(m.openCode("opencode.json"), m.openCode("opencode.jsonc")) },
		Project: func(m *Machine) string { return firstFile(m.project("opencode.json"), m.project("opencode.jsonc")) },
	},
	signs: func(m *Machine) []string { return []string{m.openCode()} },
}

var openclaw = Client{
	ID: "openclaw", Title: "OpenClaw", program: "openclaw",
	Next:   "Restart the gateway: openclaw gateway restart.",
	format: jsonFormat{blocks: [][]string{{"mcp", "servers"}}, comments: true, fields: plain},
	files:  map[Scope]func(*Machine) string{User: (*Machine).openClaw},
	signs:  func(m *Machine) []string { return []string{m.openClaw()} },
	manual: func(s Server) string { return openClawCommand(s) },
}

// plain is the entry of most clients.
func plain(s Server) []field {
	return []field{{"command", s.Command}, {"args", s.Args}}
}

// withType is the entry of clients that want the transport too.
func withType(s Server) []field { return append([]field{{"type", "stdio"}}, plain(s)...) }

// local is the entry of opencode, which takes the command line as one list.
func local(s Server) []field {
	return []field{{"type", "local"}, {"command", s.line()}, {"enabled", true}}
}

// openCode returns a path below the configuration of opencode, which is under ~/.config on every system.
func (m *Machine) openCode(parts ...string) string {
	return m.under("XDG_CONFIG_HOME", append([]string{"opencode"}, parts...), ".config")
}

// openClaw returns the path of the configuration of OpenClaw.
func (m *Machine) openClaw() string {
	if path := m.env("OPENCLAW_CONFIG_PATH"); path != "" {
		return path
	}
	return m.under("OPENCLAW_STATE_DIR", []string{"openclaw.json"}, ".openclaw")
}

// openClawCommand returns the command of OpenClaw that adds an entry, for a file that is JSON5.
func openClawCommand(s Server) string {
	value, _ := json.Marshal(map[string]any{"command": s.Command, "args": s.Args}) // strings always marshal
	return fmt.Sprintf("openclaw mcp set %s '%s'", s.Name, strings.ReplaceAll(string(value), "'", `'\''`))
}

// firstFile returns the path of the first file that exists, the first path if none does.
func firstFile(paths ...string) string {
	for _, path := range paths {
		if exists(path) {
			return path
		}
	}
	return paths[0]
}

// Find returns the client of an ID, false if there is none.
func Find(id string) (Client, bool) {
	for _, c := range Clients() {
		if c.ID == id {
			return c, true
		}
	}
	return Client{}, false
}
