package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// forwarding serves sidecars of agents, and forwards the services of memories to a server of these.
func forwarding(t *testing.T, of server.Options, tokens *server.Tokens) string {
	t.Helper()
	sidecars := map[string]server.Sidecar{}
	for id := range of.Agents {
		sidecars[id] = &fakeSidecar{Sidecar: withFlushes(t, t.TempDir(), nil)}
	}
	s := newServer(t, server.Options{Memory: onSocket(t, of), Tokens: tokens})
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

// The sidecar's port serves MemoryService and HistoryService too, with the same rights: each method answers each caller
// for each agent as the memory service itself does with the same tokens, for secrets too.
func TestForwardedMethodsHaveTheSameRights(t *testing.T) {
	t.Parallel()
	tokens := func() *server.Tokens {
		return openTokens(t, tokenLine("writer", "tok-w", "[ann]", true), tokenLine("reader", "tok-r", "[ann]", false))
	}
	memories := func() map[string]server.Memory {
		return map[string]server.Memory{"ann": &fakeMemory{history: noHistory{}}, "bob": &fakeMemory{history: noHistory{}}}
	}
	direct := dial(t, onTCP(t, server.Options{Agents: memories(), Tokens: tokens()}))
	forwarded := dial(t, forwarding(t, server.Options{Agents: memories()}, tokens()))
	for _, service := range []protoreflect.ServiceDescriptor{
		kiokuv1.File_kioku_v1_memory_proto.Services().ByName("MemoryService"),
		kiokuv1.File_kioku_v1_history_proto.Services().ByName("HistoryService"),
	} {
		implemented := 0
		for i := range service.Methods().Len() {
			implemented += sameRights(t, service.Methods().Get(i), direct, forwarded)
		}
		if implemented == 0 {
			t.Errorf("no method of %s was compared", service.Name())
		}
	}
	listed, err := kiokuv1.NewMemoryServiceClient(forwarded).ListAgents(with(t, "tok-r"), &kiokuv1.ListAgentsRequest{})
	if err != nil || len(listed.GetAgents()) != 1 || listed.GetAgents()[0].GetId() != "ann" {
		t.Errorf("ListAgents = %v, %v; want ann alone", listed, err)
	}
}

// sameRights reports each caller of a method whom two servers answer differently, and returns how many calls were compared.
func sameRights(t *testing.T, method protoreflect.MethodDescriptor, direct, forwarded *grpc.ClientConn) (compared int) {
	t.Helper()
	for _, token := range []string{"tok-w", "tok-r", "wrong"} {
		for _, agent := range []string{"ann", "bob", "nobody", "../x"} {
			for _, ceiling := range []string{"", "normal", "secret", "all"} {
				call := func(conn *grpc.ClientConn, patience time.Duration) codes.Code { // which ends streams without end
					ctx, cancel := context.WithTimeout(with(t, token), patience)
					defer cancel()
					_, err := askUpTo(ctx, conn, method, agent, ceiling)
					if code := status.Code(err); token != "wrong" || code != codes.ResourceExhausted { // after too many wrong tokens
						return code
					}
					return codes.Unauthenticated
				}
				want := call(direct, 300*time.Millisecond)
				if want == codes.Unimplemented {
					continue
				}
				compared++
				got := call(forwarded, 300*time.Millisecond)
				if got != want { // or one of them was slow
					want, got = call(direct, 10*time.Second), call(forwarded, 10*time.Second)
				}
				if got != want {
					t.Errorf("%s of %s for %s up to %q: %v; directly: %v", method.Name(), token, agent, ceiling, got, want)
				}
				if !hasCeiling(method.Input()) {
					break
				}
			}
		}
	}
	return compared
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
	wantServices(t, conn, "kioku.v1.AgentService", "kioku.v1.HistoryService", "kioku.v1.MemoryService")
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
