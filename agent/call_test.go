package agent_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"kioku/agent"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

func TestToolsAreDescribedInLittleRoom(t *testing.T) {
	var names []string
	size := 0
	for _, tool := range agent.Tools() {
		names = append(names, tool.Name)
		var schema struct {
			Type                 string
			Properties           map[string]map[string]any
			Required             []string
			AdditionalProperties *bool
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		if schema.Type != "object" || schema.AdditionalProperties == nil || *schema.AdditionalProperties || len(schema.Required) != 1 {
			t.Errorf("%s: schema is %+v", tool.Name, schema)
		}
		for _, r := range schema.Required {
			if schema.Properties[r] == nil {
				t.Errorf("%s: the required %s is no property", tool.Name, r)
			}
		}
		data, err := json.Marshal(tool)
		if err != nil {
			t.Fatal(err)
		}
		size += len(data)
	}
	if diff := cmp.Diff([]string{"memory_search", "memory_get", "memory_append"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	// English JSON has more than three bytes a token; the definitions are to stay under a thousand tokens.
	if size > 3000 {
		t.Errorf("the definitions take %d bytes", size)
	}
}

func TestEveryParameterOfASchemaIsAccepted(t *testing.T) {
	f := &fakeService{
		found: &kiokuv1.MemorySearchResponse{}, lines: &kiokuv1.MemoryGetResponse{}, added: &kiokuv1.MemoryAppendResponse{},
	}
	c := connect(t, f, agent.Options{})
	examples := map[string]any{"string": "daily", "integer": 2, "number": 0.5}
	for _, tool := range agent.Tools() {
		var schema struct {
			Properties map[string]struct{ Type string }
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		input := map[string]any{}
		for name, p := range schema.Properties {
			input[name] = examples[p.Type]
		}
		data, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := agent.Call(t.Context(), c, "", tool.Name, data); err != nil {
			t.Errorf("%s %s: %v", tool.Name, data, err)
		}
	}
	score := 0.5
	want := &kiokuv1.MemorySearchRequest{
		Agent: "main", Query: "daily", MaxResults: 2, MinScore: &score, PathPrefix: "daily", Since: "daily", Until: "daily",
	}
	if diff := cmp.Diff(want, f.searched, protocmp.Transform()); diff != "" {
		t.Errorf("search request (-want +got):\n%s", diff)
	}
	if !proto.Equal(f.got, &kiokuv1.MemoryGetRequest{Agent: "main", Path: "daily", From: 2, Lines: 2}) {
		t.Errorf("get request = %v", f.got)
	}
	if !proto.Equal(f.appended, &kiokuv1.MemoryAppendRequest{Agent: "main", Text: "daily", Target: "daily", Category: "daily"}) {
		t.Errorf("append request = %v", f.appended)
	}
}

func TestOtherNamesOfParametersAreUnderstood(t *testing.T) {
	f := &fakeService{found: &kiokuv1.MemorySearchResponse{}}
	c := connect(t, f, agent.Options{})
	for _, input := range []string{
		`{"query":"q","max_results":3}`, `{"query":"q","limit":3}`, `{"query":"q","top_k":3.0}`, `{"query":"q","maxResults":3,"minScore":null}`,
	} {
		if _, err := agent.Call(t.Context(), c, "", "memory_search", json.RawMessage(input)); err != nil {
			t.Errorf("%s: %v", input, err)
		}
		if !proto.Equal(f.searched, &kiokuv1.MemorySearchRequest{Agent: "main", Query: "q", MaxResults: 3}) {
			t.Errorf("%s: request = %v", input, f.searched)
		}
	}
}

func TestABadInputIsExplainedToTheModel(t *testing.T) {
	c := connect(t, &fakeService{}, agent.Options{})
	cases := []struct{ tool, input, field, problem string }{
		{"memory_search", `{"query":"q","max_result":3}`, "max_result", "did you mean max_results?"},
		{"memory_search", `{"query":"q","Max-Results":3}`, "Max-Results", "did you mean max_results?"},
		{"memory_search", `{"query":"q","agent":"bob"}`, "agent", "there are: max_results, min_score, path_prefix, query, since, until"},
		{"memory_search", `{"qeury":"q"}`, "qeury", "unknown parameter"},
		{"memory_search", `{"query":"q","limit":3,"top_k":4}`, "top_k", "the same as limit"},
		{"memory_search", `{"query":5}`, "query", "must be a text, not number"},
		{"memory_search", `{"query":"q","max_results":"3"}`, "max_results", "whole number"},
		{"memory_search", `{"query":"q","max_results":2.5}`, "max_results", "whole number"},
		{"memory_search", `{"query":"q","max_results":1e99}`, "max_results", "whole number"},
		{"memory_search", `{"query":"q","min_score":"high"}`, "min_score", "must be a number, not string"},
		{"memory_get", `["MEMORY.md"]`, "input", "JSON object"},
		{"memory_get", `{"path":`, "input", "JSON object"},
		{"memory_get", `{"path":"a","line":3}`, "line", "did you mean lines?"},
		{"memory_append", `{"txt":"a"}`, "txt", "did you mean text?"},
		{"memory_serch", `{}`, "name", "did you mean memory_search?"},
		{"shell", `{}`, "name", "there are: memory_search, memory_get, memory_append"},
	}
	for _, k := range cases {
		_, err := agent.Call(t.Context(), c, "", k.tool, json.RawMessage(k.input))
		var input *memory.InputError
		if !errors.As(err, &input) || input.Field != k.field || !strings.Contains(input.Problem, k.problem) {
			t.Errorf("%s %s: %v; want %s: %s", k.tool, k.input, err, k.field, k.problem)
		}
	}
}

func TestOutputsAreWhatAModelCanUse(t *testing.T) {
	f := &fakeService{
		found: &kiokuv1.MemorySearchResponse{Mode: "keyword", Degraded: []*kiokuv1.Degradation{{Code: "no_match", Text: "nothing near"}}},
		lines: &kiokuv1.MemoryGetResponse{Path: "MEMORY.md", Text: "a\n", From: 1, Lines: 1, TotalLines: 2, NextFrom: 2},
		added: &kiokuv1.MemoryAppendResponse{Path: "MEMORY.md", StartLine: 2},
	}
	c := connect(t, f, agent.Options{})
	for _, k := range []struct{ tool, input, want string }{
		{"memory_search", `{"query":"q"}`, `{"results":[],"mode":"keyword","degraded":[{"code":"no_match","text":"nothing near"}]}`},
		{"memory_get", `{"path":"MEMORY.md"}`, `{"path":"MEMORY.md","text":"a\n","from":1,"lines":1,"total_lines":2,"next_from":2}`},
		{"memory_append", `{"content":"x"}`, `{"path":"MEMORY.md","start_line":2,"deduplicated":false}`},
	} {
		got, err := agent.Call(t.Context(), c, "", k.tool, json.RawMessage(k.input))
		if err != nil || string(got) != k.want {
			t.Errorf("%s = %s, %v; want %s", k.tool, got, err, k.want)
		}
	}
}

func FuzzCallInput(f *testing.F) {
	f.Add("memory_search", `{"query":"お茶","limit":3}`)
	f.Add("memory_get", `{"path":null,"from":-1e3}`)
	f.Add("memory_append", "{\"\xff\":1}")
	f.Add("", "")
	service := &fakeService{found: &kiokuv1.MemorySearchResponse{}, lines: &kiokuv1.MemoryGetResponse{}, added: &kiokuv1.MemoryAppendResponse{}}
	target, stop, err := start(f.TempDir(), service)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(stop)
	c, err := agent.Dial(target, agent.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { c.Close() })
	known := []string{agent.ToolSearch, agent.ToolGet, agent.ToolAppend}
	f.Fuzz(func(t *testing.T, name, input string) {
		out, err := agent.Call(t.Context(), c, "", name, json.RawMessage(input))
		if err == nil && (!json.Valid(out) || !slices.Contains(known, name)) {
			t.Errorf("%q %q = %s", name, input, out)
		}
	})
}

func TestCallRecordsWhereANoteIsFrom(t *testing.T) {
	f := &fakeService{added: &kiokuv1.MemoryAppendResponse{Path: "MEMORY.md"}}
	c := connect(t, f, agent.Options{})
	input := json.RawMessage(`{"content": "tea", "category": "fact"}`)
	if _, err := agent.Call(t.Context(), c, memory.NoteFromTool, "memory_append", input); err != nil {
		t.Fatal(err)
	}
	want := &kiokuv1.MemoryAppendRequest{Agent: "main", Text: "tea", Category: "fact", Source: "tool"}
	if diff := cmp.Diff(want, f.appended, protocmp.Transform()); diff != "" {
		t.Errorf("append request (-want +got):\n%s", diff)
	}
}
