package claude_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/claude"
	"kioku/memory"
)

// noon is when the tests take place.
var noon = time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)

// notes is a tool with its folders.
type notes struct {
	t            testing.TB
	tool         *claude.Tool
	folder, kept string
}

// open returns a tool over a folder that holds files.
func open(t testing.TB, files map[string]string) *notes {
	t.Helper()
	base := t.TempDir()
	return openIn(t, filepath.Join(base, "memory"), filepath.Join(base, "kept"), files)
}

func openIn(t testing.TB, folder, kept string, files map[string]string) *notes {
	t.Helper()
	tool, err := claude.New(claude.Options{Folder: folder, Kept: kept, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	n := &notes{t: t, tool: tool, folder: folder, kept: kept}
	for name, text := range files {
		n.put(name, text)
	}
	return n
}

// put writes a file as a person would.
func (n *notes) put(name, text string) {
	n.t.Helper()
	name = filepath.Join(n.folder, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		n.t.Fatal(err)
	}
}

// call runs a command of which the fields are given by name.
func (n *notes) call(fields map[string]any) (string, error) {
	n.t.Helper()
	input, err := json.Marshal(fields)
	if err != nil {
		n.t.Fatal(err)
	}
	out, err := n.tool.Call(n.t.Context(), "memory", input)
	if err != nil {
		return "", err
	}
	var said string
	if err := json.Unmarshal(out, &said); err != nil {
		n.t.Fatalf("the output is no JSON string: %s", out)
	}
	return said, nil
}

// does runs a command that must succeed.
func (n *notes) does(fields map[string]any) string {
	n.t.Helper()
	said, err := n.call(fields)
	if err != nil {
		n.t.Fatalf("%v: %v", fields, err)
	}
	return said
}

// refuses runs a command that must be refused with words that contain want, and change nothing.
func (n *notes) refuses(fields map[string]any, want string) {
	n.t.Helper()
	before := tree(n.t, n.folder)
	_, err := n.call(fields)
	if input := new(memory.InputError); !errors.As(err, &input) || !strings.Contains(err.Error(), want) {
		n.t.Errorf("%v: %v, want an *memory.InputError with %q", fields, err, want)
	}
	if diff := cmp.Diff(before, tree(n.t, n.folder)); diff != "" {
		n.t.Errorf("%v changed files (-before +after):\n%s", fields, diff)
	}
}

// tree returns the text of all files below a folder, by their paths.
func tree(t testing.TB, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(folder, name)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// keptTexts returns the copies of a file that were kept, the oldest first.
func (n *notes) keptTexts(name string) []string {
	n.t.Helper()
	found, err := filepath.Glob(filepath.Join(n.kept, "*", name))
	if err != nil {
		n.t.Fatal(err)
	}
	var texts []string
	for _, f := range found {
		data, err := os.ReadFile(f)
		if err != nil {
			n.t.Fatal(err)
		}
		texts = append(texts, string(data))
	}
	return texts
}

func TestListDescribesTheTool(t *testing.T) {
	t.Parallel()
	tools := open(t, nil).tool.List()
	if len(tools) != 1 || tools[0].Name != "memory" {
		t.Fatalf("got %+v, want the tool memory alone", tools)
	}
	var schema struct {
		Properties map[string]struct {
			Enum []string `json:"enum"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(tools[0].Schema, &schema); err != nil {
		t.Fatal(err)
	}
	want := []string{"view", "create", "str_replace", "insert", "delete", "rename"}
	if diff := cmp.Diff(want, schema.Properties["command"].Enum); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestNewRefusesFoldersInsideOfEachOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ folder, kept string }{
		{"", "/x"}, {"/x", ""}, {"/x", "/x"}, {"/x", "/x/kept"}, {"/x/memory", "/x"}, {"/x/memory", "/x/memory/../memory/a"},
	} {
		t.Run(c.folder+" and "+c.kept, func(t *testing.T) {
			if _, err := claude.New(claude.Options{Folder: c.folder, Kept: c.kept}); err == nil {
				t.Error("the folders are accepted")
			}
		})
	}
	if _, err := claude.New(claude.Options{Folder: "/x/memory", Kept: "/x/memory-kept"}); err != nil {
		t.Errorf("neighbours are refused: %v", err)
	}
}

func TestCallRefusesMalformedCommands(t *testing.T) {
	t.Parallel()
	n := open(t, map[string]string{"a.md": "one\n"})
	for input, want := range map[string]string{
		`[]`:                    "input: must be a JSON object",
		`{"command": 3}`:        "command: must be a text",
		`{"path": "/memories"}`: `command: there is no ""; there are view, create`,
		`{"command": "read", "path": "/memories"}`:                                                `command: there is no "read"; there are view, create`,
		`{"command": "view"}`:                                                                     `path: "" must begin with /memories/`,
		`{"command": "view", "path": 3}`:                                                          "path: must be a text",
		`{"command": "view", "path": "/memories/a.md", "view_range": "1-2"}`:                      "view_range: must be a whole number",
		`{"command": "view", "path": "/memories/a.md", "view_range": [1]}`:                        "view_range: must be two line numbers",
		`{"command": "view", "path": "/memories/a.md", "lines": 3}`:                               "lines: unknown parameter",
		`{"command": "create", "path": "/memories/b.md", "file_text": null}`:                      "file_text: the command create needs it",
		`{"command": "insert", "path": "/memories/a.md", "insert_text": "x"}`:                     "insert_line: the command insert needs it",
		`{"command": "insert", "path": "/memories/a.md", "insert_line": 1.5, "insert_text": "x"}`: "insert_line: must be a whole number",
		`{"command": "rename", "path": "/memories/a.md", "new_path": "/memories/b.md"}`:           `old_path: "" must begin with /memories/`,
	} {
		_, err := n.tool.Call(t.Context(), "memory", json.RawMessage(input))
		if problem := new(memory.InputError); !errors.As(err, &problem) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an *memory.InputError with %q", input, err, want)
		}
	}
	if _, err := n.tool.Call(t.Context(), "memory_search", json.RawMessage(`{}`)); err == nil {
		t.Error("another tool's name is taken")
	}
	for _, lines := range []string{`null, "old_str": null`, "[1.0, 1]", `["1", "1"]`} {
		if _, err := n.tool.Call(t.Context(), "memory", json.RawMessage(`{"command": "view", "path": "/memories/a.md", "view_range": `+lines+"}")); err != nil {
			t.Error(err)
		}
	}
}
