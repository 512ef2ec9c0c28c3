package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// forwarding serves sidecars of agents, and forwards MemoryService to a server of their memories.
func forwarding(t *testing.T, memories map[string]server.Memory, tokens *server.Tokens) string {
	t.Helper()
	sidecars := map[string]server.Sidecar{}
	for id := range memories {
		sidecars[id] = &fakeSidecar{Sidecar: withFlushes(t, t.TempDir(), nil)}
	}
	s := newServer(t, server.Options{Memory: onSocket(t, server.Options{Agents: memories}), Tokens: tokens})
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

// The sidecar's port serves MemoryService too, with the same rights: each method answers each caller for each agent as the
// memory service itself does with the same tokens.
func TestForwardedMethodsHaveTheSameRights(t *testing.T) {
	t.Parallel()
	tokens := func() *server.Tokens {
		return openTokens(t, tokenLine("writer", "tok-w", "[ann]", true), tokenLine("reader", "tok-r", "[ann]", false))
	}
	memories := func() map[string]server.Memory {
		return map[string]server.Memory{"ann": &fakeMemory{}, "bob": &fakeMemory{}}
	}
	direct := dial(t, onTCP(t, server.Options{Agents: memories(), Tokens: tokens()}))
	forwarded := dial(t, forwarding(t, memories(), tokens()))
	methods := kiokuv1.File_kioku_v1_memory_proto.Services().ByName("MemoryService").Methods()
	for i := range methods.Len() {
		for _, token := range []string{"tok-w", "tok-r", "wrong"} {
			for _, agent := range []string{"ann", "bob", "nobody", "../x"} {
				ctx, cancel := context.WithTimeout(with(t, token), 300*time.Millisecond) // for streams without end
				_, want := ask(ctx, direct, methods.Get(i), agent, true)
				cancel()
				ctx, cancel = context.WithTimeout(with(t, token), 300*time.Millisecond)
				_, got := ask(ctx, forwarded, methods.Get(i), agent, true)
				cancel()
				if status.Code(want) == codes.Unimplemented {
					continue
				}
				if status.Code(got) != status.Code(want) {
					t.Errorf("%s of %s for %s: %v; directly: %v", methods.Get(i).Name(), token, agent, got, want)
				}
			}
		}
	}
	listed, err := kiokuv1.NewMemoryServiceClient(forwarded).ListAgents(with(t, "tok-r"), &kiokuv1.ListAgentsRequest{})
	if err != nil || len(listed.GetAgents()) != 1 || listed.GetAgents()[0].GetId() != "ann" {
		t.Errorf("ListAgents = %v, %v; want ann alone", listed, err)
	}
}

// Answers, errors with their details, and streams come through as they are.
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
	conn := dial(t, forwarding(t, map[string]server.Memory{"main": m}, nil))
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

// A memory service that is away is told as such, without the address of its socket.
func TestForwardedCallsTellThatTheMemoryIsAway(t *testing.T) {
	t.Parallel()
	away := dial(t, "unix:///nonexistent/kioku.sock")
	s := newServer(t, server.Options{Memory: away})
	if err := s.AddSidecars(map[string]server.Sidecar{"main": &fakeSidecar{}}); err != nil {
		t.Fatal(err)
	}
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s, l)
	_, err = kiokuv1.NewMemoryServiceClient(dial(t, l.Addr().String())).Status(t.Context(), &kiokuv1.StatusRequest{})
	wantCode(t, err, codes.Unavailable)
	if strings.Contains(fmt.Sprint(err), "nonexistent") {
		t.Errorf("the path is told: %v", err)
	}
}
