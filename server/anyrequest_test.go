package server_test

import (
	"context"
	"encoding/json"
	"kioku/memory"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"kioku"
	"kioku/agent/bootstrap"
	"kioku/agent/flush"
	"kioku/agent/recall"
	"kioku/agent/sidecar"
	"kioku/derive"
	"kioku/derive/rule"
	"kioku/internal/testkit"
	"kioku/llm/echo"
	"kioku/server"
)

// serveEverything reaches a server with a real memory and a real sidecar, that of "main".
func serveEverything(f *testing.F) http.RoundTripper {
	f.Helper()
	workspace, state := filepath.Join(f.TempDir(), "workspace"), filepath.Join(f.TempDir(), "state")
	for name, text := range notes {
		testkit.WriteFile(f, workspace, name, text)
	}
	rules, err := rule.New(rule.Options{Location: time.UTC})
	if err != nil {
		f.Fatal(err)
	}
	m, err := kioku.Open(context.Background(), kioku.Options{Agent: "main", Workspace: workspace, StateDir: state, Location: time.UTC,
		Episodes: rules.Episodes})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := m.Sync(context.Background(), kioku.SyncOptions{}, nil); err != nil {
		f.Fatal(err)
	}
	deriver, err := derive.New(derive.Options{Store: m.Derived(), Notes: m, Rules: rules})
	if err != nil {
		f.Fatal(err)
	}
	if err := deriver.ByRule(context.Background()); err != nil {
		f.Fatal(err)
	}
	opt := agents(m)
	opt.Derivers = map[string]server.Deriver{"main": deriver}
	s, err := server.New(opt)
	if err != nil {
		f.Fatal(err)
	}
	car, err := sidecar.New(sidecar.Options{
		Agent: "main", State: state, Memories: func(string) memory.Service { return m }, Model: &echo.Model{},
		Settings: sidecar.Settings{Bootstrap: bootstrap.Options{Workspace: workspace}, Recall: recall.Options{Deadline: soon}, Flush: flush.Defaults()},
	})
	if err != nil {
		f.Fatal(err)
	}
	if err := s.AddSidecars(map[string]server.Sidecar{"main": car}); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := m.Close(); err != nil {
			f.Error(err)
		}
	})
	return s.LocalOperations()
}

// FuzzAnyRequest sends foreign requests to every operation: each is answered, or refused with a reason, and none is an internal error.
func FuzzAnyRequest(f *testing.F) {
	conn, ops := serveEverything(f), agentOps()
	for i := range ops {
		for _, text := range []string{
			`{}`, `{"agent":"main"}`, `{"agent":"main","query":"tea","max_results":-1,"ask_time":"0001-01-01T00:00:00Z","at":"--all"}`,
			`{"query":"key","since":"2026-02-30","path":"MEMORY.md","line":1,"from":1,"lines":1}`,
			`{"text":"a note","target":"long_term","source":"user","idempotency_key":"k"}`,
			`{"session":"s","messages":[{"role":"tool","tool_call_id":"c"}]}`, `{"session":"s","messages":[{"id":"1","role":"user","text":"hello"}],"window_tokens":1}`,
			`{"id":"9f3c21","text":"Porto","valid_from":"2026-13","note":"why","into":"e5a1b2","max_sensitivity":"secret"}`,
		} {
			f.Add(uint8(i), []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		a := ops[int(which)%len(ops)]
		var values map[string]any
		if a.Stream || json.Unmarshal(data, &values) != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		switch code, told := askAny(ctx, conn, a, values); code {
		case "INTERNAL", "UNKNOWN", "DEADLINE_EXCEEDED":
			t.Errorf("%s(%s): %s %s", a.Name, data, code, told)
		}
	})
}
