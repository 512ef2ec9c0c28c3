package server_test

import (
	"context"
	"kioku/memory"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"kioku"
	"kioku/agent/bootstrap"
	"kioku/agent/flush"
	"kioku/agent/recall"
	"kioku/agent/sidecar"
	"kioku/derive"
	"kioku/derive/rule"
	"kioku/internal/testkit"
	"kioku/llm/echo"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// callable is a method of a client that takes one request and returns one answer.
type callable struct {
	name string
	call reflect.Value
}

// request returns a new request of the method.
func (c callable) request() proto.Message {
	return reflect.New(c.call.Type().In(1).Elem()).Interface().(proto.Message)
}

// ask calls the method.
func (c callable) ask(ctx context.Context, req proto.Message) error {
	err, _ := c.call.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(req)})[1].Interface().(error)
	return err
}

// callables returns the methods without streams of clients, in the order of their names.
func callables(clients ...any) []callable {
	var out []callable
	answer := reflect.TypeFor[proto.Message]()
	for _, client := range clients {
		v := reflect.ValueOf(client)
		for i := range v.NumMethod() {
			if m := v.Method(i); m.Type().Out(0).Implements(answer) {
				out = append(out, callable{name: v.Type().Method(i).Name, call: m})
			}
		}
	}
	return out
}

// serveEverything returns the methods of a server with a real memory and a real sidecar, that of "main".
func serveEverything(f *testing.F) []callable {
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
	local, stop := mustLocal(f, s)
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
	agentClient, stopAgents, err := s.LoopbackAgents()
	if err != nil {
		f.Fatal(err)
	}
	historyClient, stopHistory, err := s.LoopbackHistory()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		for _, end := range []func() error{stopHistory, stopAgents, stop, m.Close} {
			if err := end(); err != nil {
				f.Error(err)
			}
		}
	})
	return callables(local, historyClient, agentClient)
}

// FuzzAnyRequest sends foreign requests to every method: each is answered, or refused with a reason, and none is an internal
// error.
func FuzzAnyRequest(f *testing.F) {
	methods := serveEverything(f)
	for i, m := range methods {
		for _, text := range []string{
			"", `agent: "main"`, `agent: "main" query: "tea" max_results: -1 ask_time {seconds: -99999999999 nanos: -5}`,
			`search {agent: "main" query: "key" since: "2026-02-30"} path: "MEMORY.md" line: 1`, `agent: "main" path: "MEMORY.md" from_line: 1 line_count: 1`,
			`agent: "main" text: "a note" target: "long_term" source: "user" idempotency_key: "k"`,
			`agent: "main" session: "s" cycle: 1 holder: "h" messages {role: "tool" tool_call_id: "c"}`,
			`agent: "main" id: "9f3c21" text: "Porto" valid_from: "2026-13" note: "why" into: "e5a1b2" max_sensitivity: "secret"`,
			`agent: "main" path: "MEMORY.md" at {time {seconds: -5} revision: "--all"} from {revision: "HEAD^{/x}"} search {query: "tea"}`,
			`agent: "main" session: "s" since_time {seconds: 1} sources: "flush"`,
			`agent: "main" messages {id: "1" role: "user" text: "hello"} window_tokens: 1 keep_tokens: 1`,
		} {
			req := m.request()
			if (prototext.UnmarshalOptions{DiscardUnknown: true}).Unmarshal([]byte(text), req) != nil {
				continue // a field of this name has another type here
			}
			data, err := proto.Marshal(req)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), data)
		}
	}
	f.Fuzz(func(t *testing.T, method uint8, data []byte) {
		m := methods[int(method)%len(methods)]
		req := m.request()
		if proto.Unmarshal(data, req) != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		switch err := m.ask(ctx, req); status.Code(err) {
		case codes.Internal, codes.Unknown, codes.DeadlineExceeded:
			t.Errorf("%s(%v): %v", m.name, req, err)
		}
	})
}

// TestCallablesAreTheMethodsWithoutStreams keeps FuzzAnyRequest from missing a method.
func TestCallablesAreTheMethodsWithoutStreams(t *testing.T) {
	t.Parallel()
	got := make(map[string]bool)
	for _, c := range callables(kiokuv1.NewMemoryServiceClient(nil), kiokuv1.NewHistoryServiceClient(nil), kiokuv1.NewAgentServiceClient(nil)) {
		got[c.name] = true
	}
	unary := 0
	for _, m := range agentMethods() {
		if m.IsStreamingServer() {
			continue
		}
		if unary++; !got[string(m.Name())] {
			t.Errorf("%s is missing", m.Name())
		}
	}
	if want := unary + 1; len(got) != want || !got["ListAgents"] {
		t.Errorf("%d methods, want %d", len(got), want)
	}
}
