package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"kioku/internal/testkit"
)

// scriptedMember is a server of the APIs of three providers, whose models do what a member of a council may try: look into the memory, read
// a file of the repository and one outside, write, and vote.
type scriptedMember struct {
	*httptest.Server
	outside string // a file that it must not read
	repo    string
	mu      sync.Mutex
	// bodies are those of the requests, and calls the tools that are called so far. Guarded by mu.
	bodies []string
	calls  int
}

// step is a call of a tool.
type step struct {
	tool  string
	input map[string]any
}

// vote is the reply of panda.
const vote = `{"node":"panda","round":1,"vote":"approve","opinion":"The heron decides.","proposed_approach":"As said.","concerns":[],"confidence":null,"evidence":[]}`

func newScriptedMember(t *testing.T, repo, outside string) *scriptedMember {
	m := &scriptedMember{repo: repo, outside: outside}
	m.Server = httptest.NewServer(http.HandlerFunc(m.answer))
	t.Cleanup(m.Close)
	return m
}

// steps returns what the model of a provider tries, in the names of its program.
func (m *scriptedMember) steps(path string) []step {
	fact, evil := filepath.Join(m.repo, "facts.txt"), filepath.Join(m.repo, "evil.txt")
	query := map[string]any{"query": "heron"}
	switch {
	case path == "/v1/messages":
		return []step{{"mcp__kioku__memory_search", query}, {"Read", map[string]any{"file_path": fact}}, {"Read", map[string]any{"file_path": m.outside}},
			{"Write", map[string]any{"file_path": evil, "content": "x"}}, {"Bash", map[string]any{"command": "touch " + evil}}}
	case path == "/v1/responses":
		return []step{{"memory_search", query}, {"exec_command", map[string]any{"cmd": fmt.Sprintf("cat %s; cat %s; touch %s", fact, m.outside, evil)}}}
	}
	return []step{{"mcp_kioku_memory_search", query}, {"read_file", map[string]any{"file_path": fact}}, {"read_file", map[string]any{"file_path": m.outside}},
		{"write_file", map[string]any{"file_path": evil, "content": "x"}}}
}

// answer answers a request: one call of a tool after the other, then the vote.
func (m *scriptedMember) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	generates := r.URL.Path == "/v1/messages" || r.URL.Path == "/v1/responses" || strings.Contains(r.URL.Path, "enerateContent")
	if err != nil || !generates {
		http.NotFound(w, r)
		return
	}
	m.mu.Lock()
	m.bodies = append(m.bodies, string(body))
	steps := m.steps(r.URL.Path)
	var next step
	if m.calls < len(steps) {
		next = steps[m.calls]
	}
	m.calls++
	id := fmt.Sprint("c", m.calls)
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events(r.URL.Path, id, next) {
		text, _ := json.Marshal(e) // maps of texts and numbers
		if kind, ok := e["type"]; ok {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
}

// events returns the stream of an answer in the form of a provider: a call of a tool, or the vote.
func events(path, id string, next step) []map[string]any {
	switch {
	case path == "/v1/messages":
		if next.tool == "" {
			next.tool = "StructuredOutput"
			_ = json.Unmarshal([]byte(vote), &next.input)
		}
		all := streamed(map[string]any{"type": "tool_use", "id": "toolu_" + id, "name": next.tool, "input": next.input}, "tool_use")
		all[0]["message"].(map[string]any)["usage"] = map[string]int{"input_tokens": 1000, "output_tokens": 1, "cache_read_input_tokens": 3000}
		return all
	case path == "/v1/responses":
		item := map[string]any{"type": "message", "role": "assistant", "id": id, "content": []any{map[string]any{"type": "output_text", "text": vote}}}
		if next.tool != "" {
			input, _ := json.Marshal(next.input) // a map of texts
			item = map[string]any{"type": "function_call", "id": id, "call_id": id, "name": next.tool, "arguments": string(input)}
			if strings.HasPrefix(next.tool, "memory_") {
				item["namespace"] = "mcp__kioku"
			}
		}
		usage := map[string]any{"input_tokens": 1000, "input_tokens_details": map[string]int{"cached_tokens": 600}, "output_tokens": 10,
			"output_tokens_details": map[string]int{"reasoning_tokens": 0}, "total_tokens": 1010}
		return []map[string]any{{"type": "response.created", "response": map[string]any{"id": id}}, {"type": "response.output_item.done", "output_index": 0, "item": item},
			{"type": "response.completed", "response": map[string]any{"id": id, "usage": usage}}}
	}
	part := map[string]any{"text": vote}
	if next.tool != "" {
		part = map[string]any{"functionCall": map[string]any{"name": next.tool, "args": next.input}}
	}
	return []map[string]any{{"candidates": []any{map[string]any{"content": map[string]any{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": map[string]int{"promptTokenCount": 1000, "candidatesTokenCount": 10, "totalTokenCount": 1010}}}
}

// presetArgs are the settings by which the programs talk to a scripted model.
func presetArgs(program, url string) string {
	switch program {
	case "claude":
		return fmt.Sprintf("    env: [ANTHROPIC_API_KEY=sk-ant-test, ANTHROPIC_BASE_URL=%s]\n", url)
	case "codex":
		return fmt.Sprintf("    env: [CODEX_TEST_KEY=x]\n    model: gpt-5\n    args: [-c, model_provider=scripted, -c, 'model_providers={scripted={name=\"scripted\",base_url=\"%s/v1\",wire_api=\"responses\",env_key=\"CODEX_TEST_KEY\",request_max_retries=0,stream_max_retries=0}}']\n", url)
	}
	return fmt.Sprintf("    env: [GEMINI_API_KEY=x, GOOGLE_GEMINI_BASE_URL=%s]\n    model: gemini-2.5-pro\n", url)
}

// member makes panda a member by a preset, and gorilla one who has a secret.
func (d desk) member(t *testing.T, preset, reads, more string) (folder string) {
	t.Helper()
	folder = filepath.Join(d.home, "council")
	testkit.Must(t, os.MkdirAll(filepath.Join(d.home, ".gemini"), 0o700))
	testkit.Must(t, os.WriteFile(filepath.Join(d.home, ".gemini", "settings.json"), []byte(`{"security":{"auth":{"selectedType":"gemini-api-key"}}}`), 0o600))
	d.raw("council", "init", folder).wants(t, exitOK)
	file := filepath.Join(folder, "council.yaml")
	text, err := os.ReadFile(file)
	testkit.Must(t, err)
	with := "members/panda\n    preset: " + preset + "\n" + more
	if reads != "" {
		with += "    reads: " + reads + "\n"
	}
	testkit.Must(t, os.WriteFile(file, []byte(strings.Replace(string(text), "members/panda\n    model: echo\n", with, 1)), 0o600))
	for member, note := range map[string]string{"panda": "The heron nests by the weir.", "gorilla": "The heron is a secret of gorilla."} {
		testkit.Must(t, os.WriteFile(filepath.Join(folder, "members", member, "MEMORY.md"), []byte("# Memory\n\n"+note+"\n"), 0o600))
	}
	return folder
}

// leftovers returns the files in the homes of the programs.
func (d desk) leftovers() (all []string) {
	_ = filepath.WalkDir(d.home, func(name string, e os.DirEntry, err error) error {
		rel, _ := filepath.Rel(d.home, name)
		for _, theirs := range []string{".claude/projects", ".claude/telemetry", ".cache/claude-cli-nodejs", ".codex/sessions", ".gemini/tmp", ".gemini/history"} {
			if strings.HasPrefix(rel, theirs) {
				all = append(all, rel)
			}
		}
		return err
	})
	return all
}

// A member by a preset votes by the real program: it finds what is in its own memory and not what is in another's, a preset that looks reads
// the one folder, nothing is written, what the program tells of its usage counts, and nothing is left behind.
func TestClientsAreMembersOfACouncil(t *testing.T) {
	for _, program := range []string{"claude", "codex", "gemini"} {
		for _, kind := range []string{"think", "look"} {
			t.Run(program+"-"+kind, func(t *testing.T) {
				d := newDesk(t, program)
				repo, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside.txt")
				testkit.Must(t, os.WriteFile(filepath.Join(repo, "facts.txt"), []byte("the answer is 42\n"), 0o600))
				testkit.Must(t, os.WriteFile(outside, []byte("the answer is 43\n"), 0o600))
				model := newScriptedMember(t, repo, outside)
				reads := ""
				if kind == "look" {
					reads = repo
				}
				folder := d.member(t, program+"-"+kind, reads, presetArgs(program, model.URL))
				got := d.raw("council", "--folder", folder, "ask", "--json", "--description", "echo: *=approve", "Does the heron stay?")
				if got.code != exitOK || !strings.Contains(got.stdout, "The heron decides.") {
					t.Fatalf("exit %d: %s%s\n%s", got.code, got.stdout, got.stderr, d.raw("council", "--folder", folder, "logs", "panda").stdout)
				}
				model.mu.Lock()
				all := strings.Join(model.bodies, "\n")
				model.mu.Unlock()
				if !strings.Contains(all, "nests by the weir") || strings.Contains(all, "secret of gorilla") || strings.Contains(all, "answer is 43") {
					t.Errorf("the model was sent: %s", all)
				}
				if strings.Contains(all, "answer is 42") != (kind == "look") {
					t.Errorf("%s: the repository was sent: %v", kind, kind == "think")
				}
				if evil, _ := filepath.Glob(filepath.Join(repo, "evil*")); len(evil) > 0 {
					t.Errorf("it has written %q", evil)
				}
				if left := d.leftovers(); len(left) > 0 {
					t.Errorf("left behind: %q", left)
				}
				usage, err := os.ReadFile(filepath.Join(folder, "host_metrics", "token_usage.jsonl"))
				testkit.Must(t, err)
				lines := strings.Split(string(usage), "\n")
				i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"node":"panda"`) })
				var told struct {
					Input int `json:"input_tokens"`
					Read  int `json:"cache_read_tokens"`
				}
				if i < 0 || json.Unmarshal([]byte(lines[i]), &told) != nil || told.Input == 0 || (told.Input+told.Read)%1000 != 0 ||
					program == "claude" && !strings.Contains(lines[i], `"cost":`) {
					t.Errorf("the usage is %s", usage)
				}
			})
		}
	}
}

// The reason of a failure, which the programs print in a form of their own, is shown with the round, and by the trial.
func TestClientsTellWhyAMemberFails(t *testing.T) {
	for _, program := range []string{"claude", "codex", "gemini"} {
		t.Run(program, func(t *testing.T) {
			d := newDesk(t, program)
			refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusBadRequest)
				writeJSON(w, map[string]any{"type": "error", "error": map[string]any{"type": "invalid_request_error", "code": 400, "message": "Your credit balance is too low", "status": "INVALID_ARGUMENT"}})
			}))
			t.Cleanup(refuses.Close)
			folder := d.member(t, program+"-think", "", presetArgs(program, refuses.URL))
			if got := d.raw("council", "--folder", folder, "doctor", "--trial"); !strings.Contains(strings.ToLower(got.stdout), "credit balance is too low") {
				t.Errorf("%s%s", got.stdout, got.stderr)
			}
			var asked struct{ Task struct{ ID string } }
			testkit.Must(t, json.Unmarshal([]byte(d.raw("council", "--folder", folder, "ask", "--json", "--description", "echo: *=approve", "Does the heron stay?").stdout), &asked))
			got := d.raw("council", "--folder", folder, "show", asked.Task.ID)
			if !strings.Contains(strings.ToLower(got.stdout), "credit balance is too low") {
				t.Errorf("%s%s", got.stdout, got.stderr)
			}
		})
	}
}
