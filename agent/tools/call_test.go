package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/tools"
	"kioku/memory"
)

func TestToolsAreDescribedInLittleRoom(t *testing.T) {
	t.Parallel()
	var names []string
	size := 0
	for _, tool := range tools.All() {
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
		if schema.Type != "object" || schema.AdditionalProperties == nil || *schema.AdditionalProperties || len(schema.Required) == 0 {
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
	if diff := cmp.Diff([]string{"memory_search", "memory_get", "memory_append", "memory_update"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	// English JSON has more than three bytes a token; the definitions are to stay under a thousand tokens.
	if size > 3000 {
		t.Errorf("the definitions take %d bytes", size)
	}
}

func TestCallTakesEveryParameterOfASchema(t *testing.T) {
	t.Parallel()
	f := &fakeMemory{}
	examples := map[string]any{"string": "daily", "integer": 2, "number": 0.5, "boolean": true, "array": []string{"fact"}}
	for _, tool := range tools.All() {
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
		if _, err := tools.Call(t.Context(), f, "", tool.Name, data); err != nil {
			t.Errorf("%s %s: %v", tool.Name, data, err)
		}
		if tool.Name == tools.Update { // which does something else with places
			delete(input, "places")
			data, _ = json.Marshal(input)
			if _, err := tools.Call(t.Context(), f, "", tool.Name, data); err != nil {
				t.Errorf("%s %s: %v", tool.Name, data, err)
			}
		}
	}
	if want := (memory.Forget{Text: "daily", Places: []string{"fact"}, NewText: "daily", Reason: "daily"}); !reflect.DeepEqual(f.forget, want) {
		t.Errorf("forget = %+v", f.forget)
	}
	score := 0.5
	wantQuery := memory.Query{
		Text: "daily", MaxResults: 2, MinScore: &score, Filter: memory.Filter{PathPrefix: "daily", Since: "daily", Until: "daily"},
		Kinds: []string{"fact"},
	}
	if diff := cmp.Diff(wantQuery, f.query); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	if want := (memory.GetRequest{Path: "daily", From: 2, Lines: 2}); f.lines != want {
		t.Errorf("get request = %+v", f.lines)
	}
	if want := (memory.Note{Text: "daily", Target: "daily", Category: "daily", KeepSecrets: true}); f.note != want {
		t.Errorf("note = %+v", f.note)
	}
	if want := (memory.Update{Path: "daily", OldText: "daily", NewText: "daily", Reason: "daily", KeepSecrets: true}); f.update != want {
		t.Errorf("update = %+v", f.update)
	}
}

func TestCallTakesOtherNamesOfParameters(t *testing.T) {
	t.Parallel()
	f := &fakeMemory{}
	for _, input := range []string{
		`{"query":"q","max_results":3}`, `{"query":"q","limit":3}`, `{"query":"q","top_k":3.0}`, `{"query":"q","maxResults":3,"minScore":null}`,
	} {
		if _, err := tools.Call(t.Context(), f, "", "memory_search", json.RawMessage(input)); err != nil {
			t.Errorf("%s: %v", input, err)
		}
		if diff := cmp.Diff(memory.Query{Text: "q", MaxResults: 3}, f.query); diff != "" {
			t.Errorf("%s: query (-want +got):\n%s", input, diff)
		}
	}
}

// Values in the wrong form are read as meant if nothing else can be meant.
func TestCallReadsValuesInQuotes(t *testing.T) {
	t.Parallel()
	score := 0.1
	for input, want := range map[string]memory.Query{
		`{"query":"q","max_results":"5"}`: {Text: "q", MaxResults: 5}, `{"query":"q","max_results":" 5.0 ","min_score":""}`: {Text: "q", MaxResults: 5},
		`{"query":"q","min_score":"0.1"}`: {Text: "q", MinScore: &score}, `{"query":"5"}`: {Text: "5"}, `{"query":"q","kinds":"fact"}`: {Text: "q", Kinds: []string{"fact"}},
		`{"query":"q","kinds":"fact, loop"}`: {Text: "q", Kinds: []string{"fact", "loop"}}, `{"query":"q","kinds":"[\"fact\"]"}`: {Text: "q", Kinds: []string{"fact"}},
	} {
		f := &fakeMemory{}
		if _, err := tools.Call(t.Context(), f, "", "memory_search", json.RawMessage(input)); err != nil {
			t.Errorf("%s: %v", input, err)
		}
		if diff := cmp.Diff(want, f.query); diff != "" {
			t.Errorf("%s: query (-want +got):\n%s", input, diff)
		}
	}
	for input, want := range map[string]bool{`"true"`: true, `"True"`: true, `"false"`: false, `""`: false} {
		f := &fakeMemory{}
		_, err := tools.Call(t.Context(), f, "", "memory_append", json.RawMessage(`{"text":"a","confirm_secret":`+input+`}`))
		if err != nil || f.note.KeepSecrets != want {
			t.Errorf("confirm_secret %s: %v, %v", input, f.note.KeepSecrets, err)
		}
	}
}

func TestCallExplainsABadInput(t *testing.T) {
	t.Parallel()
	f := &fakeMemory{}
	cases := []struct{ tool, input, field, problem string }{
		{"memory_search", `{"query":"q","max_result":3}`, "max_result", "did you mean max_results?"},
		{"memory_search", `{"query":"q","Max-Results":3}`, "Max-Results", "did you mean max_results?"},
		{"memory_search", `{"query":"q","agent":"bob"}`, "agent", "there are: kinds, max_results, min_score, path_prefix, query, since, until"},
		{"memory_search", `{"qeury":"q"}`, "qeury", "unknown parameter"},
		{"memory_search", `{"query":"q","limit":3,"top_k":4}`, "top_k", "the same as limit"},
		{"memory_search", `{"query":5}`, "query", "must be a text, not number"},
		{"memory_search", `{"query":"q","max_results":"five"}`, "max_results", "must be a whole number"},
		{"memory_search", `{"query":"q","kinds":[5]}`, "kinds", "must be a text, not number"},
		{"memory_append", `{"text":"a","confirm_secret":"yes"}`, "confirm_secret", "must be true or false, not string"},
		{"memory_append", `{"text":"a","confirm_secret":1}`, "confirm_secret", "must be true or false, not number"},
		{"memory_search", `{"query":"q","max_results":2.5}`, "max_results", "whole number"},
		{"memory_search", `{"query":"q","max_results":1e99}`, "max_results", "whole number"},
		{"memory_search", `{"query":"q","min_score":"high"}`, "min_score", "must be a number, not string"},
		{"memory_get", `["MEMORY.md"]`, "input", "JSON object"},
		{"memory_get", `{"path":`, "input", "JSON object"},
		{"memory_get", `{"path":"a","line":3}`, "line", "did you mean lines?"},
		{"memory_append", `{"txt":"a"}`, "txt", "did you mean text?"},
		{"memory_update", `{"old_text":"a"}`, "new_text", "is required"},
		{"memory_update", `{"old_str":"a","old_text":"b","new_str":"c"}`, "old_text", "the same as old_str"},
		{"memory_serch", `{}`, "name", "did you mean memory_search?"},
		{"shell", `{}`, "name", "there are: memory_search, memory_get, memory_append, memory_update"},
	}
	for _, k := range cases {
		t.Run(k.tool+" "+k.input, func(t *testing.T) {
			_, err := tools.Call(t.Context(), f, "", k.tool, json.RawMessage(k.input))
			var input *memory.InputError
			if !errors.As(err, &input) || input.Field != k.field || !strings.Contains(input.Problem, k.problem) {
				t.Errorf("%v; want %s: %s", err, k.field, k.problem)
			}
		})
	}
}

func TestCallReturnsWhatAModelCanUse(t *testing.T) {
	t.Parallel()
	f := &fakeMemory{
		answer:   memory.Answer{Mode: "keyword", Degraded: []memory.Degradation{{Code: "no_match", Text: "nothing near"}}},
		excerpt:  memory.Excerpt{Path: "MEMORY.md", Text: "a\n", From: 1, Lines: 1, TotalLines: 2, NextFrom: 2},
		appended: memory.Appended{Path: "MEMORY.md", StartLine: 2},
		updated:  memory.Updated{Path: "MEMORY.md", StartLine: 3, Revision: "r1"},
	}
	for _, k := range []struct{ tool, input, want string }{
		{"memory_search", `{"query":"q"}`, `{"results":[],"mode":"keyword","degraded":[{"code":"no_match","text":"nothing near"}]}`},
		{"memory_get", `{"path":"MEMORY.md"}`, `{"path":"MEMORY.md","text":"a\n","from":1,"lines":1,"total_lines":2,"next_from":2}`},
		{"memory_append", `{"content":"x"}`, `{"path":"MEMORY.md","start_line":2,"deduplicated":false}`},
		{"memory_update", `{"old_text":"x","new_text":""}`, `{"path":"MEMORY.md","start_line":3,"revision":"r1"}`},
	} {
		got, err := tools.Call(t.Context(), f, "", k.tool, json.RawMessage(k.input))
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
	known := []string{tools.Search, tools.Get, tools.Append, tools.Update}
	f.Fuzz(func(t *testing.T, name, input string) {
		out, err := tools.Call(t.Context(), &fakeMemory{}, "", name, json.RawMessage(input))
		if err == nil && (!json.Valid(out) || !slices.Contains(known, name)) {
			t.Errorf("%q %q = %s", name, input, out)
		}
	})
}

func TestCallRecordsWhereANoteIsFrom(t *testing.T) {
	f := &fakeMemory{}
	input := json.RawMessage(`{"content": "tea", "category": "fact"}`)
	if _, err := tools.Call(t.Context(), f, memory.NoteFromTool, "memory_append", input); err != nil {
		t.Fatal(err)
	}
	if want := (memory.Note{Text: "tea", Category: "fact", Source: "tool"}); f.note != want {
		t.Errorf("note = %+v", f.note)
	}
}

// fakeMemory remembers what it was asked last, and answers with what its fields say.
type fakeMemory struct {
	forget    memory.Forget
	forgotten memory.Forgotten
	query     memory.Query
	lines     memory.GetRequest
	note      memory.Note
	update    memory.Update

	answer   memory.Answer
	excerpt  memory.Excerpt
	appended memory.Appended
	updated  memory.Updated
}

func (f *fakeMemory) Search(_ context.Context, q memory.Query) (memory.Answer, error) {
	f.query = q
	return f.answer, nil
}

func (f *fakeMemory) Get(_ context.Context, req memory.GetRequest) (memory.Excerpt, error) {
	f.lines = req
	return f.excerpt, nil
}

func (f *fakeMemory) Append(_ context.Context, note memory.Note) (memory.Appended, error) {
	f.note = note
	return f.appended, nil
}

func (f *fakeMemory) Forget(_ context.Context, r memory.Forget) (memory.Forgotten, error) {
	f.forget = r
	done := f.forgotten
	if len(r.Places) > 0 {
		done.ID = "f1"
	}
	return done, nil
}

func (f *fakeMemory) Update(_ context.Context, u memory.Update) (memory.Updated, error) {
	f.update = u
	return f.updated, nil
}

// A model that is asked to forget something finds the places first, and forgets those that are meant.
func TestCallForgets(t *testing.T) {
	t.Parallel()
	f := &fakeMemory{forgotten: memory.Forgotten{Places: []memory.ForgottenPlace{{Place: "MEMORY.md#L3:1a2b3c4d", Text: "The gate code is 4711."}}}}
	for input, wants := range map[string][]string{
		`{"old_text":"the gate code","new_text":"","places":[]}`:                        {"MEMORY.md#L3:1a2b3c4d", "Nothing was changed"},
		`{"old_text":"the gate code","new_text":"","places":["MEMORY.md#L3:1a2b3c4d"]}`: {`"revision":"f1"`, "Forgotten in all notes"},
	} {
		got, err := tools.Call(t.Context(), f, memory.NoteFromAgent, "memory_update", json.RawMessage(input))
		for _, want := range wants {
			if err != nil || !strings.Contains(string(got), want) {
				t.Errorf("%s: %s, %v: lacks %q", input, got, err, want)
			}
		}
	}
}

// A model is told of secrets that were not stored and of a similar line, and what it may do then. (C13)
func TestCallTellsOfSecretsAndSimilarLines(t *testing.T) {
	t.Parallel()
	secrets := []memory.ReplacedSecret{{Kind: "AWS key", Reference: "[secret AKIA…8D1Z left out]"}}
	f := &fakeMemory{
		appended: memory.Appended{Path: "MEMORY.md", StartLine: 9, Secrets: secrets, Similar: &memory.SimilarNote{Path: "MEMORY.md", Line: 4, Text: "- tea"}},
		updated:  memory.Updated{Path: "MEMORY.md", StartLine: 3, Revision: "r1", Secrets: secrets},
	}
	for _, k := range []struct {
		tool, input string
		want        []string
	}{
		{"memory_append", `{"text":"x"}`, []string{`"kind":"AWS key"`, "AKIA…8D1Z", `"line":4`, "confirm_secret", "Only if the user insists"}},
		{"memory_update", `{"old_text":"x","new_text":"y"}`, []string{"AKIA…8D1Z", "confirm_secret", "Only if the user insists"}},
	} {
		got, err := tools.Call(t.Context(), f, "", k.tool, json.RawMessage(k.input))
		for _, want := range k.want {
			if err != nil || !strings.Contains(string(got), want) {
				t.Errorf("%s = %s, %v; want %s", k.tool, got, err, want)
			}
		}
	}
	f.appended.Secrets = nil
	if got, err := tools.Call(t.Context(), f, "", "memory_append", json.RawMessage(`{"text":"x"}`)); err != nil || !strings.Contains(string(got), "memory_update") {
		t.Errorf("%s, %v", got, err)
	}
}
