package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// forwarding serves sidecars of agents, and forwards operations on memories to a server of these.
func forwarding(t *testing.T, of server.Options, tokens *server.Tokens) string {
	t.Helper()
	sidecars := map[string]server.Sidecar{}
	for id := range of.Agents {
		sidecars[id] = &fakeSidecar{Sidecar: withFlushes(t, t.TempDir(), nil)}
	}
	s := newServer(t, server.Options{Memory: newServer(t, of).LocalOperations(), Tokens: tokens})
	if err := s.AddSidecars(sidecars); err != nil {
		t.Fatal(err)
	}
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s, l)
	return l.Addr().String()
}

// The sidecar's port answers operations on memories too, and nodes of a cluster those on memories of others, with the same rights: each one answers
// each caller for each agent as the server of the memories itself does with the same tokens, for secrets too.
func TestForwardedOperationsHaveTheSameRights(t *testing.T) {
	t.Parallel()
	tokens := func() *server.Tokens {
		return openTokens(t, tokenLine("writer", "tok-w", "[ann]", true), tokenLine("reader", "tok-r", "[ann]", false))
	}
	memories := func() map[string]server.Memory {
		return map[string]server.Memory{"ann": &fakeMemory{history: noHistory{}}, "bob": &fakeMemory{history: noHistory{}}}
	}
	direct := onTCP(t, server.Options{Agents: memories(), Tokens: tokens()})
	owner, err := server.New(server.Options{Agents: memories()})
	if err != nil {
		t.Fatal(err)
	}
	others := map[string]string{
		"forwarded":           forwarding(t, server.Options{Agents: memories()}, tokens()),
		"by a node":           onTCP(t, server.Options{Cluster: fakeCluster{memories(), nil, nil}, Tokens: tokens()}),
		"by the node's owner": onTCP(t, server.Options{Cluster: fakeCluster{memories(), owner.LocalOperations(), nil}, Tokens: tokens()}),
	}
	beside := map[string]bool{}
	for _, a := range agentOps() {
		if strings.HasPrefix(a.Path(), "/v1/flush") || takes(a, "messages") || takes(a, "shared_agents") || takes(a, "lease") || strings.Contains(a.Path(), "/tools") || a.Name == "turns" {
			beside[a.Name] = true // of a sidecar
			continue
		}
		for _, token := range []string{"tok-w", "tok-r", "wrong"} {
			for _, agent := range []string{"ann", "bob", "nobody", "../x"} {
				for _, ceiling := range []string{"", "normal", "secret", "all"} {
					values := filled(agent)
					values["max_sensitivity"] = ceiling
					ask := func(address string, limit time.Duration) string {
						ctx, cancel := context.WithTimeout(t.Context(), limit)
						defer cancel()
						code, _ := askAny(ctx, overHTTP{address, token}, a, values)
						if token == "wrong" && code == "RESOURCE_EXHAUSTED" { // after too many wrong tokens
							code = "UNAUTHENTICATED"
						}
						return code
					}
					limit := soon
					if a.Stream { // some have no end
						limit = 300 * time.Millisecond
					}
					want := ask(direct, limit)
					for how, address := range others {
						got := ask(address, limit)
						if got != want { // a refusal may take longer on a busy machine
							want, got = ask(direct, soon), ask(address, soon)
						}
						if want != got {
							t.Errorf("%s of %s for %s up to %q, %s: %q; directly: %q", a.Name, token, agent, ceiling, how, got, want)
						}
					}
					if !takes(a, "max_sensitivity") {
						break
					}
				}
			}
		}
	}
	if len(beside) < 10 {
		t.Errorf("%d operations are of sidecars: %v", len(beside), beside)
	}
	for how, address := range others {
		listed, err := server.Notes.Agents.Call(t.Context(), overHTTP{address, "tok-r"}, server.None{})
		if err != nil || len(listed) != 1 || listed[0].ID != "ann" {
			t.Errorf("agents %s: %v, %v; want ann alone", how, listed, err)
		}
	}
}

// Answers, errors with their details, and streams come through as they are, over gRPC too.
func TestForwardedCallsAnswerAsTheMemoryDoes(t *testing.T) {
	t.Parallel()
	events := make(chan kioku.Event)
	m := &fakeMemory{
		search: func(_ context.Context, q memory.Query) (memory.Answer, error) {
			if q.Text == "" {
				return memory.Answer{}, &memory.InputError{Field: "query", Problem: "must not be blank"}
			}
			return memory.Answer{Mode: "keyword", Hits: []memory.Hit{{Path: "MEMORY.md", Snippet: q.Text}}}, nil
		},
		events: events,
	}
	conn := dial(t, forwarding(t, server.Options{Agents: map[string]server.Memory{"main": m}}, nil))
	client := kiokuv1.NewMemoryServiceClient(conn)
	found, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Query: "お茶"})
	if err != nil || len(found.GetResults()) != 1 || found.GetResults()[0].GetSnippet() != "お茶" {
		t.Errorf("search: %v, %v", found, err)
	}
	_, err = client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{})
	wantViolation(t, err, "query")
	stream, err := client.WatchEvents(t.Context(), &kiokuv1.WatchEventsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if header, err := stream.Header(); err != nil || header == nil {
		t.Fatalf("header %v, %v", header, err)
	}
	events <- kioku.Event{Event: indexer.Event{Kind: indexer.SyncDone}}
	if e, err := stream.Recv(); err != nil || e.GetEvent().GetKind() != indexer.SyncDone {
		t.Errorf("event %v, %v", e, err)
	}
	wantServices(t, conn, "kioku.v1.AgentService", "kioku.v1.MemoryService")
}

// nowhere is a connection to a service that is away.
type nowhere struct{}

// RoundTrip implements http.RoundTripper.
func (nowhere) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("dial unix /nonexistent/kioku.sock: no such file")
}

// A memory service that is away is told as such, without the address of its socket.
func TestForwardedCallsTellThatTheMemoryIsAway(t *testing.T) {
	t.Parallel()
	s := newServer(t, server.Options{Memory: nowhere{}})
	if err := s.AddSidecars(map[string]server.Sidecar{"main": &fakeSidecar{}}); err != nil {
		t.Fatal(err)
	}
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s, l)
	_, err = server.Notes.Status.Call(t.Context(), overHTTP{address: l.Addr().String()}, server.OfAgent{})
	if codeOf(err) != "UNAVAILABLE" || strings.Contains(fmt.Sprint(err), "nonexistent") {
		t.Errorf("%v", err)
	}
}

// noHistory is the history of a folder that has none.
type noHistory struct{}

func (noHistory) Log(context.Context, memory.LogQuery) ([]memory.FileChange, error) {
	return nil, memory.ErrNoHistory
}

func (noHistory) Show(context.Context, string, memory.Moment, *memory.Sensitivity) (memory.PastFile, error) {
	return memory.PastFile{}, memory.ErrNoHistory
}

func (noHistory) Diff(context.Context, memory.DiffQuery) (memory.Diff, error) {
	return memory.Diff{}, memory.ErrNoHistory
}

func (noHistory) SearchPast(context.Context, memory.Query, memory.Moment) (memory.PastAnswer, error) {
	return memory.PastAnswer{}, memory.ErrNoHistory
}

func (noHistory) UndoWrites(context.Context, memory.UndoWrites) (memory.UndoneWrites, error) {
	return memory.UndoneWrites{}, memory.ErrNoHistory
}

func (noHistory) PurgeHistory(context.Context, string) (memory.Purged, error) {
	return memory.Purged{}, memory.ErrNoHistory
}
