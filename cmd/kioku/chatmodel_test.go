package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"kioku/agent/session"
)

// provider is a server that speaks the format of OpenAI's chat completions and answers what a test says.
type provider struct {
	*httptest.Server
	t *testing.T

	mu sync.Mutex
	// steps are the answers to come, requests what was asked.
	steps    []func(http.ResponseWriter, *http.Request)
	requests []completionRequest
}

// completionRequest is what of a request the tests look at.
type completionRequest struct {
	Messages []completionMessage
	Tools    []struct{ Function struct{ Name string } }
}

type completionMessage struct {
	Role, Content string
	ToolCallID    string `json:"tool_call_id"`
}

func newProvider(t *testing.T, steps ...func(http.ResponseWriter, *http.Request)) *provider {
	t.Helper()
	p := &provider{t: t, steps: steps}
	p.Server = httptest.NewServer(http.HandlerFunc(p.answer))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) answer(w http.ResponseWriter, r *http.Request) {
	var req completionRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		p.t.Errorf("the request is no JSON: %v", err)
	}
	p.mu.Lock()
	p.requests = append(p.requests, req)
	if len(p.steps) == 0 {
		p.mu.Unlock()
		http.Error(w, `{"error":{"message":"the script is over"}}`, http.StatusBadRequest)
		return
	}
	step := p.steps[0]
	p.steps = p.steps[1:]
	p.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	step(w, r)
}

// asked returns the requests so far.
func (p *provider) asked() []completionRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// flags have a command use this provider, and ask it nothing when a chat ends.
func (p *provider) flags() []string {
	return []string{"--set", "compaction.memoryFlush.onEnd=false", "--set", "llm.provider=openai", "--set", "llm.model=scripted", "--set", "llm.baseUrl=" + p.URL, "--set", "llm.window=32000"}
}

// send writes one event of a stream.
func send(w http.ResponseWriter, delta any) {
	text, _ := json.Marshal(delta)
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", text)
	w.(http.Flusher).Flush()
}

func finish(w http.ResponseWriter, reason string) {
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\n"+
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":10}}\n\ndata: [DONE]\n\n", reason)
}

// says is an answer that comes in pieces.
func says(pieces ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, text := range pieces {
			send(w, map[string]string{"content": text})
		}
		finish(w, "stop")
	}
}

// calls is an answer that calls a tool.
func calls(tool, arguments string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		send(w, map[string]any{"tool_calls": []any{map[string]any{
			"index": 0, "id": "call_1", "type": "function", "function": map[string]string{"name": tool, "arguments": arguments},
		}}})
		finish(w, "tool_calls")
	}
}

// hangs is an answer that begins and goes no further, until the client goes away. gone is closed then.
func hangs(begin string, gone chan struct{}) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		send(w, map[string]string{"content": begin})
		<-r.Context().Done()
		close(gone)
	}
}

func TestChatModelSearchesAndStores(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p := newProvider(t,
		calls("memory_search", `{"query":"boiler pressure","max_results":1}`),
		says("It was ", "0.8 bar."),
		calls("memory_append", `{"text":"Ines looks after the boiler."}`),
		says("Noted."),
	)
	s.stdin = "How low was it?\nInes looks after the boiler.\n"
	got := s.run(append([]string{"chat"}, p.flags()...)...)
	if got.code != exitOK || got.stdout != "It was 0.8 bar.\nNoted.\n" {
		t.Errorf("exit %d: %q\n%s", got.code, got.stdout, got.stderr)
	}
	for _, want := range []string{
		"· agent main, model scripted with a window of 32,000 tokens\n",
		"· memory_search max_results=1 query=\"boiler pressure\" → 1 result: memory/2026-01-10.md#L",
		"· memory_append text=\"Ines looks after the boiler.\" → memory/",
	} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, got.stderr)
		}
	}
	asked := p.asked()
	if len(asked) != 4 || len(asked[0].Tools) < 3 {
		t.Fatalf("%d requests: %+v", len(asked), asked)
	}
	if last := asked[1].Messages[len(asked[1].Messages)-1]; last.Role != "tool" || last.ToolCallID != "call_1" || !strings.Contains(last.Content, "0.8 bar") {
		t.Errorf("the model reads %+v", last)
	}
	if !strings.Contains(s.days(), "Ines looks after the boiler.") {
		t.Errorf("today's file holds %q", s.days())
	}
}

func TestChatClaudeToolWritesNotesThatAreRecalled(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p := newProvider(t,
		calls("memory", `{"command":"create","path":"/memories/people.md","file_text":"# People\n\nInes looks after the boiler.\n"}`),
		says("Noted."), says("Ines."),
	)
	s.stdin = "Ines looks after the boiler.\nWho looks after the boiler?\n"
	got := s.run(append([]string{"chat", "--tools", "claude"}, p.flags()...)...)
	got.shows(t, exitOK, "Noted.\nInes.\n", "· memory command=\"create\" ", "memory/people.md#L")
	asked := p.asked()
	if len(asked) != 3 || len(asked[0].Tools) != 1 || asked[0].Tools[0].Function.Name != "memory" {
		t.Errorf("asked %+v", asked)
	}
	if text, err := os.ReadFile(filepath.Join(s.workspace, "memory", "people.md")); err != nil || !strings.Contains(string(text), "Ines") {
		t.Errorf("got %q, %v", text, err)
	}
}

// Hazard F04: escape sequences, links and bidi controls of a model and of notes do not reach the terminal, split or whole.
func TestChatModelCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n- The walrus \x1b]8;;http://x\x1b\\sleeps\x1b]8;;\x1b\\ \u202e here.\n"})
	p := newProvider(t,
		calls("memory_search", `{"query":"walrus \u001b[2J\u202e"}`),
		says("a \x1b", "]8;;http://evil", "\x1b", "\\link\x1b]8;;\x1b\\ ", "b\u202e \x1b[", "3", "1mc"),
	)
	s.stdin = "walrus\n/memory\n/search walrus\n/prompt walrus\n"
	got := s.run(append([]string{"chat"}, p.flags()...)...)
	if got.code != exitOK || !strings.HasPrefix(got.stdout, "a link b c\n") {
		t.Errorf("exit %d: %q\n%s", got.code, got.stdout, got.stderr)
	}
	if strings.ContainsAny(got.stdout+got.stderr, "\x1b\u202e") {
		t.Errorf("it gets through: %q %q", got.stdout, got.stderr)
	}
}

func TestChatGoesOnAfterAFailingProvider(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p := newProvider(t,
		func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":{"message":"that is too much"}}`, http.StatusBadRequest)
		},
		says("Here I am."),
	)
	s.stdin = "first\nsecond\n"
	got := s.run(append([]string{"chat"}, p.flags()...)...)
	if got.code != exitError || got.stdout != "Here I am.\n" {
		t.Errorf("exit %d: %q", got.code, got.stdout)
	}
	for _, want := range []string{"that is too much", "kioku: 1 line of the chat failed\n"} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, got.stderr)
		}
	}
}

func TestChatShowsNothingOfASilentAnswer(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p := newProvider(t, says("NO", "_REP", "LY"), says("Aloud."))
	s.stdin = "psst\nhello\n"
	got := s.run(append([]string{"chat"}, p.flags()...)...)
	if got.code != exitOK || got.stdout != "Aloud.\n" || !strings.Contains(got.stderr, "· the model has no answer to that\n") {
		t.Errorf("exit %d: %q\n%s", got.code, got.stdout, got.stderr)
	}
}

// Hazard F08: what was recalled into a chat is stored neither in its transcript nor by the tools of the model, which repeats
// all that it was shown.
func TestChatStoresNothingThatWasRecalled(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	_, frame, _ := strings.Cut(s.promptOf("boiler pressure").TurnBlock, "\n<recalled-memories")
	frame, _, _ = strings.Cut(frame, "\n</this-turn")
	frame = "<recalled-memories" + frame
	if !strings.Contains(frame, "boiler pressure fell") {
		t.Fatalf("nothing is recalled: %s", frame)
	}
	repeated := "The heron sleeps in the reeds.\n\n" + frame + "\n"
	create, err := json.Marshal(map[string]string{"command": "create", "path": "/memories/heron.md", "file_text": repeated})
	if err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, calls("memory", string(create)), says(repeated))
	s.stdin = "boiler pressure\n"
	got := s.run(append([]string{"chat", "--tools", "claude", "--session", "s"}, p.flags()...)...)
	got.shows(t, exitOK, "The heron sleeps in the reeds.")
	file, err := os.ReadFile(filepath.Join(s.workspace, "memory", "heron.md"))
	if err != nil {
		t.Fatal(err)
	}
	transcript, err := os.Open(filepath.Join(s.own(), "agents", "main", "sessions", "s.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer transcript.Close()
	var answer string
	if _, err := session.Read(transcript, func(l session.Line) error {
		if l.Message != nil {
			answer = l.Message.Text
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for name, kept := range map[string]string{"the file": string(file), "the transcript": answer} {
		if strings.TrimSpace(kept) != "The heron sleeps in the reeds." {
			t.Errorf("%s holds %s", name, kept)
		}
	}
}
