package mcp_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"kioku/server/mcp"
)

var update = flag.Bool("update", false, "write the table of the tools into docs/mcp.md")

// docs/mcp.md has the tools as they are.
func TestToolsAreDocumented(t *testing.T) {
	t.Parallel()
	const name, begin, end = "../../docs/mcp.md", "-update -->\n", "<!-- end of tools -->"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatal("docs/mcp.md has no place for the tools")
	}
	want := before + begin + toolTable(t) + end + after
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Error("docs/mcp.md has other tools; run go test ./server/mcp -run Documented -update")
	}
}

// toolTable returns the tools as a table of Markdown.
func toolTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| tool | parameters | what it does |\n|---|---|---|\n")
	for _, tool := range mcp.Tools() {
		var schema struct {
			Properties map[string]any
			Required   []string
		}
		if err := json.Unmarshal(tool.InputSchema.(json.RawMessage), &schema); err != nil {
			t.Fatal(err)
		}
		var parameters []string
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			if slices.Contains(schema.Required, name) {
				parameters = slices.Insert(parameters, 0, "**`"+name+"`**")
				continue
			}
			parameters = append(parameters, "`"+name+"`")
		}
		kind := "reads"
		if !tool.Annotations.ReadOnlyHint {
			kind = "adds"
			if *tool.Annotations.DestructiveHint {
				kind = "changes"
			}
		}
		fmt.Fprintf(&b, "| `%s` (%s) | %s | %s |\n", tool.Name, kind, strings.Join(parameters, ", "), tool.Description)
	}
	return b.String()
}
