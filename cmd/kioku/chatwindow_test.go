package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The first line of a chat says how large the model's window is and how that is known, or that it is not known.
func TestChatTellsTheWindowAtItsStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		models string // the server's list
		set    string
		want   string
	}{
		"unknown": {`{"data":[]}`, "llm.window=0", "model scripted, whose window is unknown: it is learnt when the server refuses a request, or set with llm.window"},
		"told":    {`{"data":[{"id":"scripted","max_model_len":12000}]}`, "llm.window=0", "model scripted with a window of 12,000 tokens (told by the server)"},
		"set":     {`{"data":[{"id":"scripted","max_model_len":12000}]}`, "llm.window=9000", "model scripted with a window of 9,000 tokens\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/models" {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				io.WriteString(w, c.models)
			}))
			t.Cleanup(server.Close)
			s := newSandbox(t, notes())
			got := s.run("chat", "--set", "llm.provider=openai", "--set", "llm.model=scripted", "--set", "llm.baseUrl="+server.URL, "--set", c.set)
			if !strings.Contains(got.stderr, c.want) {
				t.Errorf("want %q in\n%s", c.want, got.stderr)
			}
		})
	}
}
