package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"kioku/agent/tools"
	"kioku/chunker"
	"kioku/server/mcp"
)

// MCP: at most 5 tools and 1,000 tokens of definitions; annotations.
func TestToolsAreFewShortAndAnnotated(t *testing.T) {
	t.Parallel()
	counter, err := chunker.New(chunker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "", map[string]map[string]string{"main": notes})
	list, err := w.must(clientOptions{}).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(list.Tools)
	if err != nil {
		t.Fatal(err)
	}
	if n := counter.Count(string(data)); len(list.Tools) > 5 || n > 1000 {
		t.Errorf("%d tools take %d tokens", len(list.Tools), n)
	} else {
		t.Logf("%d tools take %d tokens", len(list.Tools), n)
	}
	for _, tool := range list.Tools {
		a := tool.Annotations
		if a == nil || a.Title == "" || a.DestructiveHint == nil || a.OpenWorldHint == nil || *a.OpenWorldHint || !a.IdempotentHint {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
		if writes := tool.Name == tools.Append || tool.Name == tools.Update; a.ReadOnlyHint == writes || *a.DestructiveHint != (tool.Name == tools.Update) {
			t.Errorf("%s: read only is %t", tool.Name, a.ReadOnlyHint)
		}
	}
}

// MCP: structured output plus text; the structure is as the schema says, in every version of the protocol.
func TestToolsAnswerWithStructureAndText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", map[string]map[string]string{"main": notes})
	for _, version := range versions {
		s := w.must(clientOptions{version: version})
		if got := s.InitializeResult().ProtocolVersion; got != version {
			t.Errorf("asked for %s, got %s", version, got)
		}
		for _, c := range []struct {
			tool      string
			arguments map[string]any
			wants     []string
		}{
			{tools.Search, map[string]any{"query": "who repaired the boiler?"}, []string{"## memory/2026-03-01.md:1-3 (score 0.", "Ito plumbing"}},
			{tools.Search, map[string]any{"query": "猫の名前", "limit": 3}, []string{"## MEMORY.md:", "猫の名前はミケ。"}},
			{tools.Search, map[string]any{"query": "xylophone"}, []string{"Nothing found.", "Degraded (", "xylophone"}},
			{tools.Get, map[string]any{"path": "MEMORY.md", "from": 2, "lines": 2}, []string{"\n\n- Prefers green tea over coffee.", "memory_get with from 4"}},
			{tools.Get, map[string]any{"path": "MEMORY.md", "from": 90}, []string{"there is no line 90."}},
			{mcp.ToolLinks, map[string]any{"path": "Ferry"}, []string{"memory/Ferry.md links to 0 and is linked from 1 places.", "memory/2026-03-01.md:3 -> here"}},
			{tools.Append, map[string]any{"text": "Allergic to kiwi " + version, "target": "long_term"}, []string{"Stored in MEMORY.md, line "}},
			{tools.Append, map[string]any{"text": "Allergic to kiwi " + version, "target": "long_term"}, []string{"It was in MEMORY.md before"}},
			{tools.Update, map[string]any{"old_text": "to kiwi " + version, "new_text": "to papaya " + version}, []string{"Changed MEMORY.md, line ", "revision "}},
		} {
			result, text := call(t, s, c.tool, c.arguments)
			for _, want := range c.wants {
				if !strings.Contains(text, want) || result.IsError {
					t.Errorf("%s: %s %v lacks %q:\n%s", version, c.tool, c.arguments, want, text)
				}
			}
			wantsSchema(t, c.tool, result.StructuredContent)
		}
	}
}

// wantsSchema fails if the output of a tool is not as its schema says.
func wantsSchema(t *testing.T, tool string, output any) {
	t.Helper()
	for _, d := range mcp.Tools() {
		if d.Name != tool {
			continue
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(d.OutputSchema.(json.RawMessage), &schema); err != nil {
			t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(output); err != nil {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

// MCP: errors are errors of the tool, which say what to do.
func TestToolsSayWhatIsWrongAndWhatToDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "tokens:\n"+(token("reader", "[main]", false)), map[string]map[string]string{"main": notes})
	s := w.must(clientOptions{token: "reader"})
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{tools.Search, map[string]any{"query": ""}, "query"},
		{tools.Search, map[string]any{"qeury": "x"}, "did you mean query?"},
		{tools.Search, map[string]any{"query": "x", "max_results": 1.5}, "must be a whole number"},
		{tools.Search, map[string]any{"query": "x", "since": "soon"}, "since"},
		{tools.Get, map[string]any{"path": "nope.md"}, "use a path"},
		{tools.Get, map[string]any{"path": "../secret.md"}, "use a path"},
		{mcp.ToolLinks, map[string]any{"path": "nope"}, "no such memory file"},
		{mcp.ToolLinks, map[string]any{"file": "nope"}, "unknown parameter; there are: path"},
		{tools.Append, map[string]any{"text": "x"}, "the token of this client lacks the right, tell the user"},
	} {
		result, text := call(t, s, c.tool, c.arguments)
		if !result.IsError || !strings.Contains(text, c.want) {
			t.Errorf("%s %v: error %t, %q; want %q", c.tool, c.arguments, result.IsError, text, c.want)
		}
	}
}

// Hazard F04, MCP: the text of a note reaches the model as it is, also colours of a terminal, but is valid UTF-8.
func TestToolsReturnTheTextOfNotesUnchanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", map[string]map[string]string{"main": notes})
	_, text := call(t, w.must(clientOptions{}), tools.Get, map[string]any{"path": "memory/2026-03-02.md"})
	if want := "A red\x1b[31m sky\u202e and \uFFFD."; !strings.Contains(text, want) || !utf8.ValidString(text) {
		t.Errorf("%q lacks %q", text, want)
	}
}

// MCP: results are bounded, and say how to go on.
func TestToolsBoundWhatTheyReturn(t *testing.T) {
	t.Parallel()
	files := map[string]string{"memory/2026-01-01.md": strings.Repeat("漢字の長い行、どこまでも続く。\n", 20_000)}
	for i := range 60 {
		files[fmt.Sprintf("memory/t%d.md", i)] = fmt.Sprintf("# Topic %d\n\n", i) + strings.Repeat(fmt.Sprintf("The zebra number %d eats grass. ", i), 60)
	}
	w := newWorld(t, "", map[string]map[string]string{"main": files})
	s := w.must(clientOptions{})
	result, text := call(t, s, tools.Search, map[string]any{"query": "zebra", "max_results": 100})
	if utf8.RuneCountInString(text) > 40_000 || !strings.Contains(text, "left out; ask for fewer") {
		t.Errorf("%d characters, %v", len(text), result.StructuredContent)
	}
	_, text = call(t, s, tools.Get, map[string]any{"path": "memory/2026-01-01.md", "lines": 20_000})
	if utf8.RuneCountInString(text) > 13_000 || !strings.Contains(text, "The file goes on: memory_get with from ") {
		t.Errorf("%d characters: %.80q", len(text), text)
	}
	read, err := s.ReadResource(t.Context(), readParams("kioku:///memory/2026-01-01.md"))
	if err != nil || len(read.Contents[0].Text) > 400_000 || !strings.Contains(read.Contents[0].Text, "[The note goes on at line ") {
		t.Errorf("%v", err)
	}
}
