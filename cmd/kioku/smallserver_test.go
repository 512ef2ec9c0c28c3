package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// lockerFact matches a fact that the small server stores.
var lockerFact = regexp.MustCompile(`The code of locker [a-h] is blue [0-9]+`)

// smallServer answers like an OpenAI-compatible server that takes 8,000 tokens of four bytes. refusal is what it says about a
// longer request. In a flush it stores each fact that it is shown.
func smallServer(t *testing.T, refusal string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		var req completionRequest
		if err := json.Unmarshal(body, &req); err != nil {
			t.Errorf("the request is no JSON: %v", err)
		}
		if len(body) > 8000*4 {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error","code":"context_length_exceeded"}}`, refusal)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		last := req.Messages[len(req.Messages)-1]
		if last.Role != "user" || !strings.Contains(string(body), "NO_REPLY") || !strings.Contains(string(body), "## Saving memories") {
			send(w, map[string]any{"content": "Noted."})
			finish(w, "stop")
			return
		}
		for i, fact := range lockerFact.FindAllString(string(body), -1) {
			input, _ := json.Marshal(map[string]string{"text": fact})
			send(w, map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": fmt.Sprint("c", i), "type": "function",
				"function": map[string]string{"name": "memory_append", "arguments": string(input)}}}})
		}
		finish(w, "tool_calls")
	}))
	t.Cleanup(server.Close)
	return server
}

// Hazard F06: a server takes 8,000 tokens while its window is believed to be 200,000, or is unknown. All facts are in notes,
// whether or not the refusal says how much the server takes.
func TestChatKeepsEveryFactOfAServerWithASmallerWindow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refusal string
		flags   []string
	}{
		"told":       {"This model's maximum context length is 8000 tokens. Please reduce the length of the messages.", nil},
		"not told":   {"The prompt is too long, the context length is exceeded.", nil},
		"set larger": {"The prompt is too long, the context length is exceeded.", []string{"--set", "llm.window=200000"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, notes())
			server := smallServer(t, c.refusal)
			var lines, facts []string
			for i := range 8 {
				facts = append(facts, fmt.Sprintf("The code of locker %c is blue %d", 'a'+i, i*i))
				lines = append(lines, facts[i]+". "+strings.Repeat("Is it calm? ", 500))
			}
			s.stdin = strings.Join(append(lines, "/flush"), "\n") + "\n"
			args := append([]string{"chat", "--set", "llm.provider=openai", "--set", "llm.model=small", "--set", "llm.baseUrl=" + server.URL}, c.flags...)
			s.run(args...).shows(t, exitOK, "Noted.", "· flush done: stored ")
			for _, fact := range facts {
				if n := strings.Count(s.days(), fact+" <!--"); n != 1 {
					t.Errorf("%q is in %d notes", fact, n)
				}
			}
		})
	}
}
