package program

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"kioku/memory"
)

// Preset is how a known program is asked for a reply: without its own tools, or with those that read one folder. Either way it may call
// the tools of the request, has no configuration, instructions and hooks of its user, and leaves nothing behind.
type Preset struct {
	// Name of the preset, such as "claude-think".
	Name string
	// Agent is how it is started.
	Agent
	// model is the flag of the name of a model.
	model string
}

// Looks reports whether the program may read a folder.
func (p Preset) Looks() bool { return strings.HasSuffix(p.Name, "-look") }

// Programs that are known.
const (
	claude = "claude"
	codex  = "codex"
	gemini = "gemini"
)

// memoryTools are the tools by which an agent looks into its memory, as Claude Code calls them.
const memoryTools = "mcp__kioku__memory_search,mcp__kioku__memory_get"

var (
	claudeEnv  = []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "XDG_CACHE_HOME={folder}", "TMPDIR={folder}"}
	claudeLine = []string{claude, "-p", "--output-format", "json", "--json-schema", "{schema}", "--system-prompt-file", "{system}", "--no-session-persistence",
		"--setting-sources", "", "--strict-mcp-config", "--mcp-config", "{mcp}", "--allowedTools", memoryTools, "-n", "kioku"}

	codexEnv  = []string{"TMPDIR={folder}"}
	codexLine = []string{codex, "exec", "--json", "--output-schema", "{schemaFile}", "--ephemeral", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules",
		"-c", `model_instructions_file="{system}"`, "-c", "project_doc_max_bytes=0", "-c", `web_search="disabled"`, "-c", "skills.include_instructions=false",
		"-c", "include_permissions_instructions=false", "-c", "include_environment_context=false", "-c", "tools.experimental_request_user_input.enabled=false",
		"-c", "features={apps=false,goals=false,hooks=false,multi_agent=false,plugins=false,view_image=false}",
		"-c", `mcp_servers.kioku={command="{kioku}",args=["mcp","--turn","{socket}"],enabled_tools=["memory_search","memory_get"]}`}

	geminiEnv  = []string{"GEMINI_CLI_HOME={gemini}", "GEMINI_SYSTEM_MD={system}", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_TELEMETRY_ENABLED=false", "TMPDIR={folder}"}
	geminiLine = []string{gemini, "--output-format", "json", "--approval-mode", "default"}
)

// Presets are the presets of the known programs. .ci/clients runs them with the real programs.
var Presets = []Preset{
	preset("claude-think", claudeLine, claudeEnv, "--tools", "", "--max-turns", "12"),
	preset("claude-look", claudeLine, claudeEnv, "--tools", "Read,Grep,Glob", "--add-dir", "{reads}", "--max-turns", "60"),
	preset("codex-think", codexLine, codexEnv, "--disable", "shell_tool", "--disable", "unified_exec", "--sandbox", "read-only"),
	preset("codex-look", codexLine, codexEnv, "-c", `permissions.kioku.filesystem={":minimal"="read","{program}"="read","{reads}"="read"}`, "-c", `default_permissions="kioku"`),
	preset("gemini-think", geminiLine, geminiEnv),
	preset("gemini-look", geminiLine, geminiEnv, "--include-directories", "{reads}"),
}

func preset(name string, line, env []string, more ...string) Preset {
	return Preset{Name: name, Agent: Agent{Command: append(slices.Clone(line), more...), Env: env}, model: "--model"}
}

// Options of a preset. All fields may be zero.
type Options struct {
	Model string   // name of the model for the program; empty for that of the program
	Reads string   // absolute path of the folder that a preset that looks may read
	Args  []string // further arguments
	Env   []string // further variables, as in Agent
}

// ByName returns the agent of a preset. The error is an *InputError for a preset that does not exist, or options that do not fit.
func ByName(name string, o Options) (Agent, error) {
	i := slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		var all []string
		for _, p := range Presets {
			all = append(all, p.Name)
		}
		return Agent{}, &memory.InputError{Field: "preset", Problem: fmt.Sprintf("%.40q does not exist; there are %s", name, strings.Join(all, ", "))}
	}
	p := Presets[i]
	switch {
	case p.Looks() && o.Reads == "":
		return Agent{}, &memory.InputError{Field: "reads", Problem: "is missing; name the folder that " + name + " may read"}
	case !p.Looks() && o.Reads != "":
		return Agent{}, &memory.InputError{Field: "reads", Problem: fmt.Sprintf("is set, and %s reads no folder; use %s", name, strings.TrimSuffix(name, "-think")+"-look")}
	case strings.ContainsAny(o.Reads, "\"\\\n,"):
		return Agent{}, &memory.InputError{Field: "reads", Problem: fmt.Sprintf("%q: a quote, backslash or comma in the path is not taken", o.Reads)}
	}
	a := Agent{Command: slices.Clone(p.Command), Env: append(slices.Clone(p.Env), o.Env...), Reads: o.Reads}
	if o.Model != "" {
		a.Command = append(a.Command, p.model, o.Model)
	}
	a.Command = append(a.Command, o.Args...)
	return a, nil
}

// dangers are what a known program must not be started with, or has to be started with. Words beside needs do as well.
var dangers = map[string]struct{ name, preset, needs, or, never string }{
	claude: {"Claude Code", "claude-think", "--tools", "--permission-mode plan", "--dangerously-skip-permissions --allow-dangerously-skip-permissions bypassPermissions acceptEdits"},
	codex: {"Codex", "codex-think", "--sandbox read-only", "default_permissions",
		"--dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust --yolo danger-full-access --full-auto --approve-for-me workspace-write"},
	gemini: {"Gemini CLI", "gemini-think", "--approval-mode plan", "--approval-mode default", "--yolo -y yolo auto_edit"},
}

// Check says what is dangerous in how a known program is started, and what is merely unwise; both are empty if nothing is, and for
// other programs.
func Check(command []string) (dangerous, unwise string) {
	if len(command) == 0 {
		return "", ""
	}
	d, known := dangers[filepath.Base(command[0])]
	if !known {
		return "", ""
	}
	line := strings.ReplaceAll(strings.Join(command, " "), "=", " ")
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' })
	for never := range strings.FieldsSeq(d.never) {
		if slices.Contains(words, never) {
			return fmt.Sprintf("%s runs with %s, so a text in a task can have it do anything that its user may; use preset: %s", d.name, never, d.preset), ""
		}
	}
	if !strings.Contains(line, d.needs) && !strings.Contains(line, d.or) {
		return "", fmt.Sprintf("%s runs without %s, so it has its tools; use preset: %s", d.name, d.needs, d.preset)
	}
	return "", ""
}
