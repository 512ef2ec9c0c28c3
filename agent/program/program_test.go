package program_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"kioku/agent/program"
	"kioku/llm"
)

// cliFlag makes the test binary behave as the program of an agent.
const cliFlag = "-program="

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 3 && os.Args[1] == "mcp": // as kioku mcp --turn
		if program.Join(context.Background(), os.Args[3], os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) > 1 && strings.HasPrefix(os.Args[1], cliFlag):
		os.Exit(cli(strings.TrimPrefix(os.Args[1], cliFlag), os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// cli is the program.
func cli(mode string, args []string) int {
	stdin, _ := io.ReadAll(os.Stdin)
	switch mode {
	case "print":
		fmt.Print(args[0])
	case "fail":
		fmt.Print(args[0])
		fmt.Fprint(os.Stderr, args[1])
		return 1
	case "report":
		files := map[string]string{}
		_ = filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				data, _ := os.ReadFile(name)
				files[name] = string(data)
			}
			return nil
		})
		link, _ := os.Readlink(".gemini/oauth_creds.json")
		dir, _ := os.Getwd()
		_ = json.NewEncoder(os.Stdout).Encode(report{Dir: dir, Args: args, Env: os.Environ(), Stdin: string(stdin), Files: files, Link: link})
	case "tools":
		said, err := callTools(args[0])
		if err != nil {
			fmt.Print(err)
			return 1
		}
		fmt.Print(said)
	}
	return 0
}

// report is what the program has got.
type report struct {
	Dir, Stdin, Link string
	Args, Env        []string
	Files            map[string]string
}

// callTools lists and calls the tools of a file with MCP servers.
func callTools(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var servers struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	if err := json.Unmarshal(data, &servers); err != nil {
		return "", err
	}
	s := servers.MCPServers["kioku"]
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &sdk.CommandTransport{Command: exec.Command(s.Command, s.Args...)}, nil)
	if err != nil {
		return "", err
	}
	defer session.Close()
	list, err := session.ListTools(context.Background(), nil)
	if err != nil {
		return "", err
	}
	if len(list.Tools) == 0 {
		return "none", nil
	}
	got, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: list.Tools[0].Name, Arguments: map[string]any{"query": "heron"}})
	if err != nil {
		return "", err
	}
	return fmt.Sprint(len(list.Tools), got.IsError, got.Content[0].(*sdk.TextContent).Text), nil
}

// agent returns the program in a mode.
func agent(mode string, args ...string) program.Agent {
	return program.Agent{Command: append([]string{os.Args[0], cliFlag + mode}, args...)}
}

// request is what is asked.
var request = llm.Request{System: "You are a panda.", Messages: []llm.Message{{Role: llm.RoleUser, Text: "Vote."}}, Schema: json.RawMessage(`{"type":"object"}`),
	Tools: []llm.Tool{{Name: "memory_search", Description: "Search", Schema: json.RawMessage(`{"type":"object"}`)}}}

// What the real programs have printed.
const (
	claudeSaid = `{"type":"result","subtype":"success","is_error":false,"result":"done","total_cost_usd":0.018,"usage":{"input_tokens":1000},
"modelUsage":{"claude-opus":{"inputTokens":2000,"outputTokens":100,"cacheReadInputTokens":6000,"cacheCreationInputTokens":400}},"structured_output":{"vote":"approve"}}`
	claudeTurns = `{"type":"result","subtype":"error_max_turns","is_error":true,"total_cost_usd":0.5,"modelUsage":{"m":{"inputTokens":9,"outputTokens":1}},"errors":["Reached maximum number of turns (1)"]}`
	claudeLogin = `{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login","modelUsage":{}}`
	codexSaid   = `{"type":"thread.started","thread_id":"x"}
{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata not found."}}
{"type":"turn.started"}
{"type":"error","message":"Reconnecting... 2/5"}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"{\"vote\":\"reject\"}"}}
{"type":"turn.completed","usage":{"input_tokens":1200,"cached_input_tokens":800,"cache_write_input_tokens":0,"output_tokens":60,"reasoning_output_tokens":10}}`
	codexFailed = `{"type":"thread.started","thread_id":"x"}
{"type":"turn.started"}
{"type":"error","message":"unexpected status 401"}
{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: Incorrect API key provided"}}`
	geminiSaid = `{"session_id":"x","response":"{\"vote\":\"approve\"}","stats":{"models":{"gemini-2.5-pro":{"tokens":{"input":1200,"prompt":1800,"candidates":80,"cached":600,"thoughts":14}}}}}`
	geminiErr  = "Warning: 256 colours\nError when talking {\n  status: 400\n}\n{\n  \"session_id\": \"x\",\n  \"error\": {\"type\": \"Error\", \"message\": \"API key not valid\", \"code\": 144}\n}"
)

// What they print as they go.
const (
	claudeStream = `{"type":"system","subtype":"init","session_id":"s","tools":["Bash","Read"]}
{"type":"stream_event","event":{"type":"content_block_delta"},"session_id":"s"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Hm."}]},"session_id":"s"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I run the tests.\n\nThen I see."},{"type":"tool_use","name":"Bash","input":{"command":"go test\n./...","description":"Tests"}}]},"session_id":"s"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"ok"}]},"session_id":"s"}
{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Edit","input":{"file_path":"/w/main.go","old_string":"a"}},{"type":"tool_use","name":"TodoWrite","input":{"todos":[]}}]},"session_id":"s"}
{"type":"assistant","message":{"content":[{"type":"text","text":"All tests pass."}]},"session_id":"s"}
{"type":"result","subtype":"success","is_error":false,"result":"All tests pass.","session_id":"s","total_cost_usd":0.1,"modelUsage":{"m":{"inputTokens":20,"outputTokens":5}}}
`
	codexStream = `{"type":"thread.started","thread_id":"x"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"0","type":"reasoning","text":"Hm."}}
{"type":"item.started","item":{"id":"1","type":"command_execution","command":"bash -lc ls","aggregated_output":"","status":"in_progress"}}
{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"bash -lc ls","aggregated_output":"a\n","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"2","type":"file_change","changes":[{"path":"/w/a.go","kind":"add"},{"path":"/w/b.go","kind":"update"}],"status":"completed"}}
{"type":"item.started","item":{"id":"3","type":"mcp_tool_call","server":"kioku","tool":"memory_search","arguments":{"query":"heron"},"status":"in_progress"}}
{"type":"item.completed","item":{"id":"4","type":"web_search","query":"kettles"}}
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"item.completed","item":{"id":"5","type":"agent_message","text":"The kettle is here."}}
{"type":"turn.completed","usage":{"input_tokens":1}}
`
)

// Who follows a program reads what its agent says and which tools it calls; of what is not such JSON, each line. The result is the last
// that it has said, else all of it.
func TestLinesTellWhatAgentsSay(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 9000)
	for name, tc := range map[string]struct{ print, path, result, told string }{
		"claude":  {"Starting\n" + claudeStream, "", "All tests pass.", "Starting|I run the tests.|Then I see.|Bash: go test ./...|Edit: /w/main.go|TodoWrite|All tests pass."},
		"path":    {claudeStream, "session_id", "s", "I run the tests.|Then I see.|Bash: go test ./...|Edit: /w/main.go|TodoWrite|All tests pass."},
		"no path": {claudeStream, "result.text", "[the output has no text in the field \"result.text\"]\nAll tests pass.", "I run the tests.|Then I see.|Bash: go test ./...|Edit: /w/main.go|TodoWrite|All tests pass."},
		"codex":   {codexStream, "", "The kettle is here.", "shell: bash -lc ls|edit: /w/a.go, /w/b.go|kioku.memory_search: heron|search: kettles|Reconnecting... 1/5|The kettle is here."},
		"login":   {strings.Replace(claudeLogin, `{"type"`, `{"session_id":"s","type"`, 1), "", "Not logged in · Please run /login", "Not logged in · Please run /login"},
		"gemini":  {"{\n" + geminiSaid[1:], "", `{"vote":"approve"}`, "{|" + geminiSaid[1:]},
		"long":    {`{"type":"assistant","session_id":"s","message":{"content":[{"type":"text","text":"` + long + `"}]}}` + "\n", "", long + "\n", long[:4096] + "|" + long[:4096] + "|" + long[:9000-8192]},
		"other": {"a\n\n{\"type\":\"item.sold\",\"item\":{\"text\":\"b\"}}\n{\"type\":\"result\",\"result\":[1]}\n7", "", "a\n\n{\"type\":\"item.sold\",\"item\":{\"text\":\"b\"}}\n{\"type\":\"result\",\"result\":[1]}\n7",
			`a|{"type":"item.sold","item":{"text":"b"}}|{"type":"result","result":[1]}|7`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []string
			w := &program.Lines{Tail: program.Tail{Limit: 64 << 10}, Each: func(line string) { told = append(told, line) }}
			for _, half := range []string{tc.print[:len(tc.print)/2], tc.print[len(tc.print)/2:]} {
				if n, err := w.Write([]byte(half)); n != len(half) || err != nil {
					t.Fatal(n, err)
				}
			}
			w.End()
			if got := strings.Join(told, "|"); got != tc.told {
				t.Errorf("told\n%s\nwant\n%s", got, tc.told)
			}
			if got := w.Result(tc.path); got != tc.result {
				t.Errorf("result %q", got)
			}
		})
	}
}

func TestAskReadsWhatProgramsPrint(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		print, text string
		usage       llm.Usage
	}{
		"claude":        {claudeSaid, `{"vote":"approve"}`, llm.Usage{Input: 2000, Output: 100, CacheRead: 6000, CacheWrite: 400, Dollars: 0.018}},
		"codex":         {codexSaid, `{"vote":"reject"}`, llm.Usage{Input: 400, Output: 60, CacheRead: 800}},
		"gemini":        {geminiSaid, `{"vote":"approve"}`, llm.Usage{Input: 1200, Output: 94, CacheRead: 600}},
		"claude stream": {claudeStream, "All tests pass.", llm.Usage{Input: 20, Output: 5, Dollars: 0.1}},
		"other":         {`{"vote":"approve"}`, `{"vote":"approve"}`, llm.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := agent("print", tc.print).Ask(t.Context(), request, nil)
			if err != nil || got.Message.Text != tc.text || !cmp.Equal(got.Usage, tc.usage) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// The reason of a failure is what the program says, wherever it says it, and what was used up counts.
func TestAskTellsWhyAProgramFailed(t *testing.T) {
	t.Parallel()
	for reason, printed := range map[string][2]string{
		"Reached maximum number of turns": {claudeTurns, ""}, "Not logged in": {claudeLogin, ""}, "Incorrect API key": {codexFailed, ""},
		"API key not valid": {"", geminiErr}, "unknown option": {"", "error: unknown option '--tols'\n\x1b[2J"}, "does not say why": {"", ""},
	} {
		got, err := agent("fail", printed[0], printed[1]).Ask(t.Context(), request, nil)
		if err == nil || !strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "\x1b") || strings.Contains(err.Error(), "256 colours") {
			t.Errorf("%s: %v", reason, err)
		}
		if printed[0] == claudeTurns && got.Usage.Dollars != 0.5 {
			t.Errorf("usage %+v", got.Usage)
		}
	}
	if _, err := agent("print", claudeLogin).Ask(t.Context(), request, nil); err == nil {
		t.Error("an error with exit status 0 is a reply")
	}
}

// asReport returns what the program has got.
func asReport(t *testing.T, a program.Agent) (r report) {
	t.Helper()
	got, err := a.Ask(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got.Message.Text), &r); err != nil {
		t.Fatalf("%v: %s", err, got.Message.Text)
	}
	if _, err := os.Stat(r.Dir); !os.IsNotExist(err) {
		t.Errorf("the folder %s is left: %v", r.Dir, err)
	}
	return r
}

func TestAskFillsPlaces(t *testing.T) {
	t.Parallel()
	r := asReport(t, agent("report"))
	if len(r.Files) > 0 || r.Stdin != "You are a panda.\n\nVote.\n\nThe JSON Schema of your reply:\n\n{\"type\":\"object\"}\n" {
		t.Errorf("%+v", r)
	}
	a := agent("report", "{schema}", "{system}", "{unknown}", "{reads}")
	a.Reads, a.Env = "/src", []string{"CACHE={folder}/x"}
	r = asReport(t, a)
	if want := []string{`{"type":"object"}`, r.Dir + "/system.md", "{unknown}", "/src"}; !cmp.Equal(r.Args, want) || r.Files["system.md"] != "You are a panda." {
		t.Errorf("%+v", r)
	}
	if !strings.HasPrefix(r.Stdin, "Vote.\n\nWith your tools you may read what is below /src.") || strings.Contains(r.Stdin, "Schema") || !strings.Contains(strings.Join(r.Env, " "), "CACHE="+r.Dir+"/x") {
		t.Errorf("%+v", r)
	}
}

// Gemini CLI gets a home of its own, with the login of the user.
func TestAskMakesAHomeForGemini(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.Mkdir(filepath.Join(home, ".gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"settings.json": "{ // mine\n\"security\": {\"auth\": {\"selectedType\": \"oauth-personal\"}}, \"mcpServers\": {\"theirs\": {}}}", "oauth_creds.json": "{}"} {
		if err := os.WriteFile(filepath.Join(home, ".gemini", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := agent("report")
	a.Env = []string{"GEMINI_CLI_HOME={gemini}"}
	r := asReport(t, a)
	settings := r.Files[".gemini/settings.json"]
	if !strings.Contains(settings, `"selectedType":"oauth-personal"`) || !strings.Contains(settings, `"core":["mcp_kioku_memory_search"]`) || strings.Contains(settings, "theirs") {
		t.Errorf("%s", settings)
	}
	if r.Link != filepath.Join(home, ".gemini", "oauth_creds.json") || !strings.Contains(strings.Join(r.Env, " "), "GEMINI_CLI_HOME="+r.Dir) {
		t.Errorf("%+v", r)
	}
}

// The tools of the request, and no others, are called through the socket of the turn.
func TestAskServesTools(t *testing.T) {
	t.Parallel()
	a := agent("tools", "{mcp}")
	if !a.TakesTools() || agent("tools").TakesTools() {
		t.Error("who takes tools")
	}
	got, err := a.Ask(t.Context(), request, func(_ context.Context, call llm.ToolCall) (string, bool) {
		return call.Name + string(call.Input), false
	})
	if want := `1 falsememory_search{"query":"heron"}`; err != nil || got.Message.Text != want {
		t.Errorf("%q, %v", got.Message.Text, err)
	}
	without := request
	without.Tools = nil
	if got, err := a.Ask(t.Context(), without, nil); err != nil || got.Message.Text != "none" {
		t.Errorf("without tools: %q, %v", got.Message.Text, err)
	}
}

func TestCheckFindsToolsThatAreOn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		command           string
		dangerous, unwise string
	}{
		{"/opt/bin/claude -p --dangerously-skip-permissions --permission-mode plan", "--dangerously-skip-permissions", ""},
		{"claude -p --permission-mode=bypassPermissions", "bypassPermissions", ""},
		{"claude -p --permission-mode=plan", "", ""},
		{"claude -p", "", "use preset: claude-think"},
		{"codex exec --sandbox=danger-full-access -", "danger-full-access", ""},
		{"codex exec -", "", "without --sandbox read-only"},
		{"gemini --approval-mode yolo", "yolo", ""},
		{"gemini -p", "", "without --approval-mode plan"},
		{"my-own-script --yolo", "", ""},
	} {
		dangerous, unwise := program.Check(strings.Fields(tc.command))
		for _, c := range []struct{ got, want string }{{dangerous, tc.dangerous}, {unwise, tc.unwise}} {
			if (c.got == "") != (c.want == "") || !strings.Contains(c.got, c.want) {
				t.Errorf("%s: %q, want %q", tc.command, c.got, c.want)
			}
		}
	}
	for _, p := range program.Presets {
		if dangerous, unwise := program.Check(p.Command); dangerous+unwise != "" || !p.TakesTools() {
			t.Errorf("%s: %s%s", p.Name, dangerous, unwise)
		}
	}
}
