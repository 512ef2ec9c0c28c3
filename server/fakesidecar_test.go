package server_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/recall"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/agent/turns"
	"kioku/llm"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

var _ server.Sidecar = (*sidecar.Sidecar)(nil)

// fakeSidecar answers with what its fields say, and with zero values if they say nothing. Flushes are begun and ended by
// its Sidecar.
type fakeSidecar struct {
	server.Sidecar
	shared   []string
	orders   sidecar.Orders
	assemble func(sidecar.Turn) sidecar.Prompt
	recall   func(sidecar.Turn) (recall.Outcome, string)
	prune    func([]llm.Message, prune.State, time.Time) prune.Plan
	check    func(session string, v session.View, st flush.State) (sidecar.Check, error)
	compact  func(ctx context.Context, v session.View, keep, window int) (session.Compaction, error)
	turns    *turns.Log
	// resumed are the sessions whose commits the server has had continued.
	resumed []string

	mu sync.Mutex
	// idle is the time after which its sessions are idle. Guarded by mu.
	idle time.Duration
	// spooled are the sessions that the server has had on disk, with the numbers of their messages. Guarded by mu.
	spooled []string
}

func (f *fakeSidecar) Shared() []string { return f.shared }

func (f *fakeSidecar) Obey(_ context.Context, t sidecar.Turn) (sidecar.Turn, error) {
	t.Directives = f.orders.Directives
	if !f.orders.PausedUntil.IsZero() {
		return t, &sidecar.PausedError{Agent: "main", Until: f.orders.PausedUntil, Reason: f.orders.Reason}
	}
	return t, nil
}

func (f *fakeSidecar) Assemble(_ context.Context, t sidecar.Turn) sidecar.Prompt {
	if f.assemble == nil {
		return sidecar.Prompt{}
	}
	return f.assemble(t)
}

func (f *fakeSidecar) Recall(_ context.Context, t sidecar.Turn) (recall.Outcome, string) {
	if f.recall == nil {
		return recall.Outcome{}, ""
	}
	return f.recall(t)
}

func (f *fakeSidecar) Prune(messages []llm.Message, st prune.State, now time.Time) prune.Plan {
	if f.prune == nil {
		return prune.Plan{}
	}
	return f.prune(messages, st, now)
}

func (f *fakeSidecar) Check(sessionID string, v session.View, st flush.State) (sidecar.Check, error) {
	if f.check == nil {
		return sidecar.Check{}, nil
	}
	return f.check(sessionID, v, st)
}

func (f *fakeSidecar) Resume(_ context.Context, session string) error {
	f.resumed = append(f.resumed, session)
	return nil
}

func (f *fakeSidecar) Turns() *turns.Log {
	if f.turns == nil {
		return turns.New(turns.Options{Folder: "/nonexistent", Off: true})
	}
	return f.turns
}

func (f *fakeSidecar) IdleAfter() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.idle
}

func (f *fakeSidecar) Spool(_ context.Context, sessions []flush.Request) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range sessions {
		f.spooled = append(f.spooled, fmt.Sprintf("%s: %d", s.Session, len(s.Messages)))
	}
	return nil
}

func (f *fakeSidecar) MarkGroup(context.Context, string, string) error { return nil }

func (f *fakeSidecar) GroupOf(string) (string, error) { return "", nil }

func (f *fakeSidecar) FlushOff() string { return "" }

// Count counts bytes, so that a test can tell it from an estimate.
func (f *fakeSidecar) Count(text string) int { return len(text) }

func (f *fakeSidecar) Compact(ctx context.Context, _ string, v session.View, space sidecar.Space) (made session.Compaction, used llm.Usage, err error) {
	if f.compact != nil {
		made, err = f.compact(ctx, v, space.Keep, space.Window)
	}
	return made, used, err
}

// withFlushes returns a real sidecar of "main" whose flushes are below a state folder.
func withFlushes(t *testing.T, state string, edit func(*sidecar.Options)) *sidecar.Sidecar {
	t.Helper()
	opt := sidecar.Options{
		Agent: "main", State: state, Settings: sidecar.Settings{Recall: recall.Options{Deadline: soon}, Flush: flush.Defaults()}, Memories: func(string) memory.Service { return &noted{} },
	}
	if edit != nil {
		edit(&opt)
	}
	s, err := sidecar.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// beside makes a server with a memory and a sidecar for each agent.
func beside(t *testing.T, opt server.Options, sidecars map[string]server.Sidecar) *server.Server {
	t.Helper()
	if opt.Agents == nil {
		opt.Agents = make(map[string]server.Memory)
		for id := range sidecars {
			opt.Agents[id] = &fakeMemory{}
		}
	}
	s := newServer(t, opt)
	if err := s.AddSidecars(sidecars); err != nil {
		t.Fatal(err)
	}
	return s
}

// localAgents returns a client of a server's sidecars in this process.
func localAgents(t *testing.T, s *server.Server) kiokuv1.AgentServiceClient {
	t.Helper()
	client, stop, err := s.LoopbackAgents()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return client
}

// agentClient returns a client of one sidecar, that of "main".
func agentClient(t *testing.T, car server.Sidecar) kiokuv1.AgentServiceClient {
	t.Helper()
	return localAgents(t, beside(t, server.Options{}, map[string]server.Sidecar{"main": car}))
}

// besideOnTCP serves sidecars on a loopback port and returns its address.
func besideOnTCP(t *testing.T, opt server.Options, sidecars map[string]server.Sidecar) string {
	t.Helper()
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{Tokens: opt.Tokens})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, beside(t, opt, sidecars), l)
	return l.Addr().String()
}

// overHTTP reaches the operations of a server at an address with a token.
type overHTTP struct{ address, token string }

// RoundTrip implements http.RoundTripper.
func (o overHTTP) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host, r.Host = o.address, o.address
	r.Header.Set("Authorization", "Bearer "+o.token)
	return http.DefaultTransport.RoundTrip(r)
}

// noted is a memory that takes notes.
type noted struct {
	memory.Service // which neither searches nor reads
	texts          []string
}

// Append implements memory.Service.
func (n *noted) Append(_ context.Context, note memory.Note) (memory.Appended, error) {
	if i := slices.Index(n.texts, note.Text); i >= 0 {
		return memory.Appended{Path: "memory/day.md", StartLine: i + 1, Deduplicated: true}, nil
	}
	n.texts = append(n.texts, note.Text)
	return memory.Appended{Path: "memory/day.md", StartLine: len(n.texts)}, nil
}
