package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"kioku/bench"
	"kioku/cmd/kioku/internal/modelstore"
	"kioku/cmd/kioku/internal/top"
	kiokuv1 "kioku/proto/kioku/v1"
)

// outputs are the values that commands write with --json, by the name of the schema in docs/schema. A name is that of the command,
// and what makes it write another value.
var outputs = map[string]any{
	"append":                  &kiokuv1.MemoryAppendResponse{},
	"backup":                  backupReport{},
	"backup verify":           backupReport{},
	"bench golden":            bench.GoldenReport{},
	"bench retrieval":         bench.Runs{},
	"cache prune":             map[string]int{},
	"cache stats":             []cachedSpace{},
	"config get":              shownSetting{},
	"config list":             []shownSetting{},
	"council action approve":  &kiokuv1.ApproveActionResponse{},
	"council action list":     &kiokuv1.ListActionsResponse{},
	"council action request":  &kiokuv1.RequestActionResponse{},
	"council approve":         either{&kiokuv1.GetTaskResponse{}, &kiokuv1.ReviewSuggestionResponse{}},
	"council archive":         &kiokuv1.ArchiveTaskResponse{},
	"council ask":             &kiokuv1.GetTaskResponse{},
	"council cancel":          &kiokuv1.CancelResponse{},
	"council command":         &kiokuv1.ListCommandsResponse{},
	"council comment":         &kiokuv1.CommentResponse{},
	"council decide":          &kiokuv1.GetTaskResponse{},
	"council doctor":          &kiokuv1.DiagnoseCouncilResponse{},
	"council evaluate":        &kiokuv1.GetEvaluationResponse{},
	"council evaluations":     &kiokuv1.ListEvaluationsResponse{},
	"council import":          imported{},
	"council init":            councilMade{},
	"council list":            &kiokuv1.ListTasksResponse{},
	"council logs":            &kiokuv1.TailLogsResponse{},
	"council members":         &kiokuv1.GetCouncilResponse{},
	"council outcome":         &kiokuv1.RecordOutcomeResponse{},
	"council params get":      &kiokuv1.GetParamsResponse{},
	"council params rollback": &kiokuv1.GetParamsResponse{},
	"council params set":      &kiokuv1.GetParamsResponse{},
	"council report":          &kiokuv1.GetTaskResponse{},
	"council round":           &kiokuv1.GetTaskResponse{},
	"council show":            &kiokuv1.GetTaskResponse{},
	"council submit":          &kiokuv1.SubmitTaskResponse{},
	"council suggest":         &kiokuv1.SuggestResponse{},
	"council suggestions":     &kiokuv1.ListSuggestionsResponse{},
	"council workers":         &kiokuv1.ListWorkersResponse{},
	"council workers add":     workerAdded{},
	"derive status":           &kiokuv1.DeriveStatusResponse{},
	"derive run":              &kiokuv1.DeriveStatusResponse{},
	"derive estimate":         &kiokuv1.EstimateDeriveResponse{},
	"derive retry":            &kiokuv1.RetryJobResponse{},
	"derive list":             &kiokuv1.ListUnitsResponse{},
	"derive show":             &kiokuv1.Unit{},
	"derive export":           &kiokuv1.Unit{},
	"derive history":          &kiokuv1.UnitHistoryResponse{},
	"derive entities":         &kiokuv1.ListEntitiesResponse{},
	"derive pin":              &kiokuv1.Decided{},
	"derive unpin":            &kiokuv1.Decided{},
	"derive forget":           &kiokuv1.Decided{},
	"derive correct":          &kiokuv1.Decided{},
	"derive close":            &kiokuv1.Decided{},
	"derive reopen":           &kiokuv1.Decided{},
	"derive merge":            &kiokuv1.Decided{},
	"derive split":            &kiokuv1.Decided{},
	"derive undo":             &kiokuv1.Decided{},
	"doctor":                  diagnosis{},
	"explain":                 &kiokuv1.ExplainResponse{},
	"export":                  exportReport{},
	"get":                     &kiokuv1.MemoryGetResponse{},
	"get several":             []*kiokuv1.MemoryGetResponse{},
	"import":                  importReport{},
	"import openclaw":         takeoverReport{},
	"join":                    joinReport{},
	"index":                   indexReport{},
	"index estimate":          estimateReport{},
	"init":                    made{},
	"links":                   &kiokuv1.Links{},
	"ls":                      &kiokuv1.ListFilesResponse{},
	"model add":               addedModel{},
	"model check":             checkedModel{},
	"model list":              []shownModel{},
	"model list known":        []modelstore.Known{},
	"prompt":                  &kiokuv1.AssemblePromptResponse{},
	"restore":                 restoreReport{},
	"search":                  &kiokuv1.MemorySearchResponse{},
	"setup":                   clientList{},
	"setup a client":          shownSetup{},
	"undo":                    &kiokuv1.MemoryUndoResponse{},
	"undo writes":             &kiokuv1.UndoWritesResponse{},
	"log":                     &kiokuv1.LogResponse{},
	"show":                    &kiokuv1.ShowFileResponse{},
	"diff":                    &kiokuv1.DiffFilesResponse{},
	"history purge":           &kiokuv1.PurgeHistoryResponse{},
	"search the past":         &kiokuv1.SearchPastResponse{},
	"undo list":               &kiokuv1.ListRevisionsResponse{},
	"update":                  &kiokuv1.MemoryUpdateResponse{},
	"status":                  &kiokuv1.StatusResponse{},
	"token add":               tokenReport{},
	"token list":              []tokenReport{},
	"token revoke":            tokenReport{},
	"top":                     top.View{},
	"version":                 buildInfo{},
	"watch":                   &kiokuv1.Event{},
}

// either is one of several values, a line each.
type either []any

// commandLines are the commands whose name does not say what makes them write another value.
var commandLines = map[string]string{
	"get several": "get PATH PATH", "index estimate": "index --estimate", "undo list": "undo --list",
	"undo writes": "undo --session NAME", "search the past": "search --as-of DATE",
	"model list known": "model list --known", "setup a client": "setup CLIENT",
}

// lineOf returns the command line of an output.
func lineOf(name string) string {
	if line := commandLines[name]; line != "" {
		return line
	}
	return name
}

// lines are the commands that write a value on each line.
var lines = []string{"council logs", "derive export", "watch"}

// textOnly are the commands that write no JSON, and why.
var textOnly = map[string]string{
	"agent": "serves", "council serve": "serves", "chat": "talks", "serve": "serves", "demo": "shows", "help": "is help", "man": "writes pages",
	"config set": "says on stderr what it did", "config unset": "says on stderr what it did", "model remove": "says on stderr what it did",
	"model use": "says on stderr what it did", "completion bash": "writes a script", "completion fish": "writes a script",
	"completion powershell": "writes a script", "completion zsh": "writes a script", "mcp": "speaks MCP", "hook": "answers a hook",
}

// Every command that writes JSON has a schema in docs/schema, which says what its code says; -update writes them.
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
			if outputs[name] == nil {
				t.Errorf("kioku %s --json has no schema: add its output to outputs, or its name to textOnly", name)
			}
		}
	}
	commands((&app{}).rootCmd(), "")
	dir := "../../docs/schema"
	files, _ := filepath.Glob(dir + "/*")
	wanted := map[string]string{"README.md": schemaList()}
	for name := range outputs {
		text, err := json.MarshalIndent(published(name), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		wanted[schemaFile(name)] = string(text) + "\n"
	}
	for _, file := range files {
		if wanted[filepath.Base(file)] == "" && *update {
			os.Remove(file)
		} else if wanted[filepath.Base(file)] == "" {
			t.Errorf("%s is of no command", file)
		}
	}
	for name, want := range wanted {
		path := filepath.Join(dir, name)
		if *update {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is not what the code says (-update writes it): %v %s", path, err, cmp.Diff(string(got), want))
		}
	}
}

// schemaFile returns the name of the file of a schema.
func schemaFile(name string) string { return strings.ReplaceAll(name, " ", "-") + ".json" }

// schemaList is the page that lists the schemas.
func schemaList() string {
	text := "# What commands write with --json\n\nJSON Schema (draft 2020-12) of the output of each command. A later version may add fields; it does not remove or rename one without a\n" +
		"line in the changelog. Times are RFC 3339 in UTC, durations of the service text like \"0.250s\".\n\n| output of | schema |\n|---|---|\n"
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		note := ""
		if slices.Contains(lines, name) {
			note = ", each line"
		}
		text += fmt.Sprintf("| `kioku %s`%s | [%s](%s) |\n", lineOf(name), note, schemaFile(name), schemaFile(name))
	}
	return text
}

// published returns the schema of an output as docs/schema has it: fields that it does not know are allowed.
func published(name string) map[string]any {
	s := (&schemas{t: sourceDocs()}).document(outputs[name])
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "kioku " + name + " --json"
	return s
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
		text, err := json.Marshal((&schemas{t: sourceDocs(), closed: true}).document(outputs[name]))
		if err != nil {
			return nil, err
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(text, &s); err != nil {
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
		name = "index estimate"
	case name == "model list" && slices.Contains(args, "--known"):
		name = "model list known"
	case name == "undo" && slices.Contains(args, "--list"):
		name = "undo list"
	case name == "undo" && strings.Contains(stdout, `"writes":`):
		name = "undo writes"
	case name == "search" && slices.Contains(args, "--as-of"):
		name = "search the past"
	case name == "setup" && strings.Contains(stdout, `"diff": [`):
		name = "setup a client"
	}
	if outputs[name] == nil {
		return
	}
	if err := matches(name, stdout); err != nil {
		s.t.Errorf("kioku %s does not write what docs/schema/%s says: %v\n%.500s", strings.Join(args, " "), schemaFile(name), err, stdout)
	}
}

// matches compares the output of a command with its schema.
func matches(name, stdout string) error {
	schema, err := strict(name)
	if err != nil {
		return err
	}
	texts := []string{stdout}
	if slices.Contains(lines, name) {
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
	if matches("search", `{"results":[{"path":1}]}`) == nil {
		t.Error("a path that is a number is accepted")
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
		"explain boiler memory/2026-01-10.md:4", "prompt what about the boiler", "cache stats", "cache prune --all-unused",
		"export " + filepath.Join(dir, "e.sqlite"), "import " + filepath.Join(dir, "e.sqlite"), "backup " + filepath.Join(dir, "b.tar.gz"),
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
