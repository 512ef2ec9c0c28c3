package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"
)

// textOnly are the commands that write no JSON, and why.
var textOnly = map[string]string{
	"agent": "serves", "council serve": "serves", "council member": "serves", "chat": "talks", "serve": "serves", "demo": "shows", "help": "is help", "man": "writes pages",
	"config set": "says on stderr what it did", "history merge": "merges files", "cluster adopt": "says on stderr what it did", "cluster export": "says on stderr what it did", "cluster import": "says on stderr what it did",
	"cluster move": "says on stderr what it did", "cluster drain": "says on stderr what it did", "config unset": "says on stderr what it did", "model remove": "says on stderr what it did",
	"model use": "says on stderr what it did", "completion bash": "writes a script", "completion fish": "writes a script",
	"completion powershell": "writes a script", "completion zsh": "writes a script", "stop": "says on stderr what it did", "restart": "says on stderr what it did", "mcp": "speaks MCP", "hook": "answers a hook", "schema": "writes a schema",
}

// Every command that writes JSON has a schema.
func TestSchemaOfEveryCommandWithJSON(t *testing.T) {
	t.Parallel()
	var commands func(cmd *cobra.Command, path string)
	commands = func(cmd *cobra.Command, path string) {
		for _, c := range cmd.Commands() {
			name := strings.TrimSpace(path + " " + c.Name())
			_, first := textOnly[strings.Fields(name)[0]]
			if c.HasSubCommands() {
				commands(c, name)
			}
			if group := c.HasSubCommands() && c.Args != nil && c.Name() != "backup"; group || first || textOnly[name] != "" {
				continue
			}
			if outputOf(name) == nil {
				t.Errorf("kioku %s --json has no schema: add its output to outputs, or its name to textOnly", name)
			}
		}
	}
	commands((&app{}).rootCmd(), "")
}

// strict returns the schema of an output that allows no field that it does not know.
var strict = func() func(name string) (*jsonschema.Resolved, error) {
	var mu sync.Mutex
	known := map[string]*jsonschema.Resolved{}
	return func(name string) (*jsonschema.Resolved, error) {
		mu.Lock()
		defer mu.Unlock()
		if r := known[name]; r != nil {
			return r, nil
		}
		s, err := schemaOf(name)
		if err != nil {
			return nil, err
		}
		r, err := s.Resolve(nil)
		known[name] = r
		return r, err
	}
}()

// checkJSON fails if what a command line with --json has written does not match its schema. All runs of the tests are checked.
func (s *sandbox) checkJSON(args []string, stdout string) {
	s.t.Helper()
	root := (&app{}).rootCmd()
	cmd, _, err := root.Find(args)
	if err != nil || !slices.Contains(args, "--json") || stdout == "" {
		return
	}
	name := strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "kioku"))
	switch {
	case name == "get" && strings.HasPrefix(stdout, "["):
		name = "get several"
	case name == "index" && slices.Contains(args, "--estimate"):
		name = "estimate"
	case name == "model list" && slices.Contains(args, "--known"):
		name = "model list known"
	case name == "undo" && slices.Contains(args, "--list"):
		name = "undo list"
	case name == "undo" && strings.Contains(stdout, `"writes":`):
		name = "undo writes"
	case name == "search" && slices.Contains(args, "--as-of"):
		name = "history search"
	case name == "status" && slices.Contains(args, "--follow"):
		name = "events"
	case name == "setup" && strings.Contains(stdout, `"diff": [`):
		name = "setup a client"
	}
	if outputOf(name) == nil {
		return
	}
	if err := matches(name, stdout); err != nil {
		s.t.Errorf("kioku %s does not write what its schema says: %v\n%.500s", strings.Join(args, " "), err, stdout)
	}
}

// matches compares the output of a command with its schema.
func matches(name, stdout string) error {
	schema, err := strict(name)
	if err != nil {
		return err
	}
	texts := []string{stdout}
	if slices.Contains(outputLines, name) {
		texts = slices.Collect(strings.Lines(stdout))
	}
	for _, text := range texts {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return err
		}
		if err := schema.Validate(v); err != nil {
			return err
		}
	}
	return nil
}

// The schemas refuse what a command does not write: a field that is missing, of another type, or unknown.
func TestSchemasCanFail(t *testing.T) {
	t.Parallel()
	good := `{"version":"1","commit":"","go":"go1","platform":"linux/amd64"}`
	if err := matches("version", good); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{`{}`, strings.Replace(good, `"1"`, "1", 1), strings.Replace(good, "{", `{"more":1,`, 1), "[]"} {
		if matches("version", bad) == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// Every command whose JSON no other test reads writes what its schema says.
func TestOutputMatchesItsSchema(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.env = append(s.env, "KIOKU_PROVIDER=hash")
	dir := t.TempDir()
	for _, line := range []string{
		"init " + filepath.Join(dir, "new"), "index --estimate", "index", "search --explain boiler pressure", "search nothing-like-this", "get MEMORY.md",
		"get MEMORY.md memory/2026-01-10.md", "ls", "links MEMORY.md", "append a note", "status", "status --deep", "explain boiler",
		"explain boiler memory/2026-01-10.md:4", "prompt what about the boiler",
		"backup " + filepath.Join(dir, "b.tar.gz"),
		"backup verify " + filepath.Join(dir, "b.tar.gz"), "restore --force " + filepath.Join(dir, "b.tar.gz"), "token list",
		"token add laptop --agents main --write --expires 2031-01-31", "token add build --agents * --san build.example.org", "token list",
		"token revoke laptop", "config get provider", "config list", "model list", "model list --known", "doctor", "version",
	} {
		got := s.run(append(strings.Fields(line), "--json")...)
		if got.stdout == "" {
			t.Errorf("kioku %s --json writes nothing: %s", line, got.stderr)
		}
	}
}
