package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/council"
	"kioku/council/engine"
	"kioku/internal/testkit"
)

// scriptedSoul is a server of the APIs of Anthropic and OpenAI. Asked for an object, its model answers with the first of the words that
// the schema permits and with a sentence for each text; with tools that write, it writes greet.sh in a repository and runs its test.
type scriptedSoul struct {
	*httptest.Server
	repo string
	mu   sync.Mutex
	// bodies are those of the requests. Guarded by mu.
	bodies []string
}

func newScriptedSoul(t *testing.T, repo string) *scriptedSoul {
	m := &scriptedSoul{repo: repo}
	m.Server = httptest.NewServer(http.HandlerFunc(m.answer))
	t.Cleanup(m.Close)
	return m
}

// sent returns all that the model was sent.
func (m *scriptedSoul) sent() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.bodies, "\n")
}

// schema is what the script reads of a JSON Schema.
type schema struct {
	Type       any               `json:"type"`
	Enum       []any             `json:"enum"`
	Const      any               `json:"const"`
	Properties map[string]schema `json:"properties"`
}

// filled returns a value that a schema permits.
func (s schema) filled() any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Const != nil:
		return s.Const
	case s.Properties != nil:
		all := map[string]any{}
		for name, field := range s.Properties {
			all[name] = field.filled()
		}
		return all
	}
	return map[string]any{"string": "A greeting is one line, and its test runs.", "array": []any{}, "boolean": false, "number": 0.5, "integer": 1}[fmt.Sprint(s.Type)]
}

func (m *scriptedSoul) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/v1/messages" && r.URL.Path != "/v1/responses" {
		http.NotFound(w, r)
		return
	}
	m.mu.Lock()
	m.bodies = append(m.bodies, string(body))
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range m.events(body) {
		text, _ := json.Marshal(e) // maps of texts and numbers
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], text)
	}
}

// events returns the stream of an answer.
func (m *scriptedSoul) events(body []byte) []map[string]any {
	var req struct {
		Tools []struct {
			Name  string `json:"name"`
			Input schema `json:"input_schema"`
		} `json:"tools"`
		Text struct {
			Format struct {
				Schema schema `json:"schema"`
			} `json:"format"`
		} `json:"text"`
	}
	_ = json.Unmarshal(body, &req) // what is no such request has no tools
	if req.Text.Format.Schema.Properties != nil {
		text, _ := json.Marshal(req.Text.Format.Schema.filled())
		item := map[string]any{"type": "message", "role": "assistant", "id": "m1", "content": []any{map[string]any{"type": "output_text", "text": string(text)}}}
		return []map[string]any{{"type": "response.created", "response": map[string]any{"id": "r1"}}, {"type": "response.output_item.done", "output_index": 0, "item": item},
			{"type": "response.completed", "response": map[string]any{"id": "r1", "usage": map[string]any{"input_tokens": 1000, "output_tokens": 10, "total_tokens": 1010}}}}
	}
	writes := false
	for _, tool := range req.Tools {
		if tool.Name == "StructuredOutput" {
			return streamed(map[string]any{"type": "tool_use", "id": "toolu_1", "name": tool.Name, "input": tool.Input.filled()}, "tool_use")
		}
		writes = writes || tool.Name == "Write"
	}
	done := strings.Count(string(body), `"type":"tool_result"`)
	switch {
	case writes && done == 0:
		return streamed(map[string]any{"type": "tool_use", "id": "toolu_w", "name": "Write", "input": map[string]any{
			"file_path": filepath.Join(m.repo, "greet.sh"), "content": "echo hello, heron\n"}}, "tool_use")
	case writes && done == 1:
		return streamed(map[string]any{"type": "tool_use", "id": "toolu_b", "name": "Bash", "input": map[string]any{"command": "sh test.sh"}}, "tool_use")
	}
	return streamed(map[string]any{"type": "text", "text": "I wrote greet.sh; its test passes."}, "end_turn")
}

// soulFolder is the folder of a system that was built after the article: a task that was decided, one that is being discussed, parameters
// that were retuned, a request of a rebuild, a suggestion of a bot and the logs.
func soulFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	ballot := func(node, vote string) string {
		return fmt.Sprintf(`{"node":%q,"round":1,"vote":%q,"opinion":"短い挨拶がよい。","proposed_approach":"greet.sh を書く","concerns":["テストが要る"],"timestamp":"2026-02-11T12:01:30Z"}`, node, vote)
	}
	for name, text := range map[string]string{
		"nodes/panda/params.json":                 `{"risk_tolerance":0.35,"innovation_weight":0.3,"safety_weight":0.9,"thoroughness":0.9,"consensus_flexibility":0.4}`,
		"discussions/task_001/task.json":          `{"id":"task_001","type":"task","title":"The gate code","description":"Which code?","priority":"low","created_at":"2026-02-10T12:00:00Z","status":"pending"}`,
		"discussions/task_001/round_1/panda.json": ballot("panda", "approve"), "discussions/task_001/round_1/gorilla.json": ballot("gorilla", "approve"),
		"decisions/task_001.json":                   `{"task_id":"task_001","decision":"approved","status":"completed","final_round":1,"final_approach":"The gate code is 4711.","executor":"triceratops","decided_at":"2026-02-10T12:05:00Z"}`,
		"discussions/task_002/task.json":            `{"id":"task_002","type":"task","title":"挨拶を書く","description":"Write greet.sh, so that test.sh passes.","priority":"medium","created_at":"2026-02-11T12:00:00Z","status":"pending"}`,
		"discussions/task_002/status.json":          `{"task_id":"task_002","status":"discussing","current_round":1,"max_rounds":3,"started_at":"2026-02-11T12:01:00Z","started_by":"gorilla"}`,
		"discussions/task_002/round_1/panda.json":   ballot("panda", "approve"),
		"discussions/task_002/round_1/gorilla.json": ballot("gorilla", "approve_with_modification"),
		"rebuild_requests/req_1.json":               `{"id":"req_1","service":"brain-triceratops","task_id":"task_001","requested_by":"triceratops","reason":"コード変更の反映","status":"pending_approval"}`,
		"openclaw-suggestions/sug_1.json":           `{"title":"Count the herons","description":"Once a day.","source":"openclaw"}`,
		"logs/2026-02-11/panda.log":                 "[12:01] round 1\n",
	} {
		testkit.WriteFile(t, filepath.Join(dir, "shared"), name, text)
	}
	return dir
}

// until asks for something once a second until it is there.
func until(t *testing.T, what string, there func() bool) {
	t.Helper()
	tick, end := time.NewTicker(time.Second), time.After(patience)
	defer tick.Stop()
	for !there() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal(what + " does not come")
		}
	}
}

// readJSON runs a command of kioku council and reads the JSON that it prints.
func readJSON[T any](t *testing.T, d desk, args ...string) (v T) {
	t.Helper()
	got := d.council(append(args, "--json")...)
	if err := json.Unmarshal([]byte(got.stdout), &v); err != nil {
		t.Fatalf("%q: %v: exit %d: %s%s", args, err, got.code, got.stdout, got.stderr)
	}
	return v
}

// A system that was built after the article moves: real Claude Code and Codex discuss what was unfinished in a second round, carry it out
// in a repository with its test, review it and remember it; the rebuild and the suggestion go on, and the retuned parameter stays.
func TestClientsTakeOverASoulFolder(t *testing.T) {
	d := newDesk(t, "claude")
	if _, err := os.Stat(filepath.Join(os.Getenv(clientsEnv), "node_modules", ".bin", "codex")); err != nil {
		t.Skip("codex is not installed")
	}
	repo := t.TempDir()
	testkit.WriteFile(t, repo, "test.sh", "test \"$(sh greet.sh)\" = 'hello, heron' && touch tested\n")
	model := newScriptedSoul(t, repo)
	folder := filepath.Join(d.workspace, "council")
	d.run("council", "init", folder).wants(t, exitOK)
	claude, codex := presetArgs("claude", model.URL), presetArgs("codex", model.URL)
	testkit.WriteFile(t, folder, "council.yaml", `agent: council
members:
  - name: panda
    workspace: members/panda
    roles: [reviewer, runner]
    preset: claude-look
    reads: `+repo+"\n"+claude+`  - name: gorilla
    workspace: members/gorilla
    roles: [coordinator, approver]
    preset: codex-think
`+codex+`  - name: triceratops
    workspace: members/triceratops
    roles: [arbiter, announcer, executor]
    preset: claude-think
`+claude+`minRounds: 2
discuss: true
workers: [buddy]
evaluation: {every: "off"}
suggestions: {verify: true}
execution:
  mode: command
  approval: none
  review: true
  command: [sh, -c, 'cd `+repo+` && exec claude -p --output-format stream-json --verbose --permission-mode acceptEdits --allowedTools "Bash(sh test.sh)" --no-session-persistence']
  env: [ANTHROPIC_API_KEY=sk-ant-test, ANTHROPIC_BASE_URL=`+model.URL+`, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1]
actions:
  brain-triceratops: {command: [sh, -c, 'echo rebuilt']}
`)
	report := readJSON[engine.ImportReport](t, d, "import", soulFolder(t))
	if report.Discussions != 2 || report.Decisions != 1 || report.Params != 1 || report.Suggestions != 1 || report.Actions != 1 || report.Logs != 1 || len(report.Skipped) > 0 {
		t.Errorf("%+v", report)
	}
	p := d.start("council", "--folder", folder, "serve", "--listen", "127.0.0.1:0")
	p.waits(p.err, "ready: ")

	followed := d.council("show", "--follow", "task_002")
	for _, part := range []string{"APPROVED by the council", "completed", "round 2", "I wrote greet.sh; its test passes."} {
		if !strings.Contains(followed.stdout, part) {
			t.Errorf("it does not show %q: exit %d: %s%s", part, followed.code, followed.stdout, followed.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(repo, "tested")); err != nil {
		t.Error("the test of the repository has not run")
	}
	task := readJSON[engine.Detail](t, d, "show", "task_002")
	if len(task.Reviews) != 1 || !task.Reviews[0].Passed || task.Reviews[0].Reviewer == "triceratops" {
		t.Errorf("reviews: %+v", task.Reviews)
	}
	until(t, "the rebuild", func() bool {
		all := readJSON[[]council.ActionRequest](t, d, "action", "list")
		return len(all) == 1 && all[0].Status == council.ActionCompleted && strings.Contains(all[0].Result, "rebuilt")
	})
	until(t, "the verdict on the suggestion", func() bool {
		all := readJSON[[]council.Suggestion](t, d, "suggestions")
		return len(all) == 1 && all[0].Verified != nil && all[0].Verified.Accept
	})
	became := readJSON[council.Suggestion](t, d, "approve", "buddy/sug_1")
	until(t, "the task of the suggestion", func() bool {
		return strings.Contains(d.council("show", cmp.Or(became.TaskID, "sug_1")).stdout, "Count the herons")
	})
	p.terminates()
	for what, want := range map[string]string{"gate code": "4711", "挨拶": "greeting is one line"} {
		if got := d.raw("search", what, "--workspace", filepath.Join(folder, "agent"), "--state", filepath.Join(d.home, "s")); !strings.Contains(got.stdout, want) {
			t.Errorf("%s is not remembered: %s%s", what, got.stdout, got.stderr)
		}
	}
	if params := d.council("params", "get", "panda").stdout; !strings.Contains(params, "0.35") {
		t.Errorf("the parameters are lost: %s", params)
	}
	if sent := model.sent(); !strings.Contains(sent, "短い挨拶がよい") || !strings.Contains(sent, "round 2 of") || !strings.Contains(sent, "risk_tolerance: 0.35") {
		t.Error("the members are not told what was said before")
	}
}
