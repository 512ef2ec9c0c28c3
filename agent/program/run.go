package program

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"kioku/llm"
)

// run is one start of a program.
type run struct {
	Agent
	req    llm.Request
	folder string // in which it runs, and which is removed
	socket string // by which it calls tools; empty if it does not
}

func (a Agent) newRun(req llm.Request) (*run, error) {
	folder, err := os.MkdirTemp("", "kioku-agent-")
	if err != nil {
		return nil, fmt.Errorf("create a folder for the program: %w", err)
	}
	return &run{Agent: a, req: req, folder: folder}, nil
}

// remove removes the folder.
func (r *run) remove() { _ = os.RemoveAll(r.folder) }

// places are what a command may name as {NAME}: files that are made when they are named, and other values.
var places = map[string]func(r *run) (string, error){
	// The folder in which the program runs.
	"folder": func(r *run) (string, error) { return r.folder, nil },
	// The folder that it may read.
	"reads": func(r *run) (string, error) { return r.Reads, nil },
	// A file with the system prompt, which is then not on the standard input.
	"system": func(r *run) (string, error) { return r.write("system.md", []byte(r.req.System)) },
	// The JSON Schema of the reply, and a file with it. With either it is not on the standard input.
	"schema":     func(r *run) (string, error) { return string(r.req.Schema), nil },
	"schemaFile": func(r *run) (string, error) { return r.write("schema.json", r.req.Schema) },
	// A file with the MCP servers of the turn, as Claude Code takes it.
	"mcp": func(r *run) (string, error) {
		return r.writeJSON("mcp.json", map[string]any{"mcpServers": r.servers()})
	},
	// The program kioku and the socket: "kioku mcp --turn SOCKET" serves the tools of the turn.
	"kioku":  func(*run) (string, error) { return os.Executable() },
	"socket": func(r *run) (string, error) { return r.openSocket(), nil },
	// The folder in which the program itself is installed.
	"program": func(r *run) (string, error) { return installed(r.Command[0]) },
	// A home of Gemini CLI of its own.
	"gemini": (*run).geminiHome,
}

var place = regexp.MustCompile(`\{(\w+)\}`)

// fill returns the command and its environment with all places.
func (r *run) fill() (argv, env []string, err error) {
	fill := func(s string) string {
		return place.ReplaceAllStringFunc(s, func(name string) string {
			value, known := places[strings.Trim(name, "{}")]
			if !known || err != nil {
				return name
			}
			var text string
			text, err = value(r)
			return text
		})
	}
	for _, s := range r.Command {
		argv = append(argv, fill(s))
	}
	for _, s := range r.Env {
		env = append(env, fill(s))
	}
	return argv, env, err
}

// write writes a file below the folder and returns its path.
func (r *run) write(name string, data []byte) (string, error) {
	path := filepath.Join(r.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, data, 0o600)
}

func (r *run) writeJSON(name string, v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return r.write(name, data)
}

// openSocket has the tools served, and returns where.
func (r *run) openSocket() string {
	r.socket = filepath.Join(r.folder, "turn.sock")
	return r.socket
}

// servers returns the MCP servers of the turn.
func (r *run) servers() map[string]any {
	self, _ := os.Executable() // the daemon has been started
	return map[string]any{"kioku": map[string]any{"command": self, "args": []string{"mcp", "--turn", r.openSocket()}}}
}

// installed returns the folder in which a program is installed: that of its file, or of the packages of npm beside it.
func installed(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", err
	}
	if before, _, ok := strings.Cut(path, "/node_modules/@openai/"); ok {
		return before + "/node_modules/@openai", nil
	}
	return filepath.Dir(path), nil
}

// Tools of Gemini CLI that only read.
var geminiReads = []string{"read_file", "list_directory", "glob", "grep_search"}

// geminiLogin are the files by which Gemini CLI is logged in.
var geminiLogin = []string{"oauth_creds.json", "google_accounts.json"}

// selectedType matches how a user of Gemini CLI is logged in, in settings that may have comments.
var selectedType = regexp.MustCompile(`"selectedType"\s*:\s*"([\w-]+)"`)

// geminiHome makes a home for Gemini CLI, which otherwise leaves each prompt in that of the user: with the user's login, the tools of the
// turn, and nothing else of the user.
func (r *run) geminiHome() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	servers := r.servers()
	core := []string{}
	for _, tool := range r.req.Tools {
		core = append(core, "mcp_kioku_"+tool.Name)
	}
	if r.Reads != "" {
		core = append(core, geminiReads...)
	}
	servers["kioku"].(map[string]any)["trust"] = true
	off := map[string]any{"enabled": false}
	settings := map[string]any{"tools": map[string]any{"core": core}, "mcpServers": servers, "skills": off, "hooksConfig": off,
		"privacy": map[string]any{"usageStatisticsEnabled": false}, "experimental": map[string]any{"enableAgents": false, "topicUpdateNarration": false}}
	theirs, _ := os.ReadFile(filepath.Join(home, ".gemini", "settings.json")) // without it the environment says how it is logged in
	if found := selectedType.FindSubmatch(theirs); found != nil {
		settings["security"] = map[string]any{"auth": map[string]any{"selectedType": string(found[1])}}
	}
	if _, err := r.writeJSON(".gemini/settings.json", settings); err != nil {
		return "", err
	}
	for _, name := range geminiLogin {
		if login := filepath.Join(home, ".gemini", name); exists(login) {
			if err := os.Symlink(login, filepath.Join(r.folder, ".gemini", name)); err != nil {
				return "", err
			}
		}
	}
	return r.folder, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
