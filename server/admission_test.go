package server_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// blocked is a memory whose searches and appends, once admitted, report that and wait for release.
type blocked struct {
	fakeMemory
	admitted chan string
	release  chan struct{}
}

func newBlocked(limits server.Limits) *blocked {
	b := &blocked{admitted: make(chan string, 1000), release: make(chan struct{})}
	searches := server.NewSearches(limits)
	b.search = func(ctx context.Context, q memory.Query) (memory.Answer, error) {
		done, err := searches.Admit(ctx)
		if err != nil {
			return memory.Answer{}, fmt.Errorf("search: %w", err)
		}
		defer done()
		return memory.Answer{}, b.wait(ctx, q.Text)
	}
	b.append = func(ctx context.Context, note memory.Note) (memory.Appended, error) {
		return memory.Appended{}, b.wait(ctx, note.Key)
	}
	return b
}

func (b *blocked) wait(ctx context.Context, what string) error {
	b.admitted <- what
	select {
	case <-b.release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tokenClients serves a memory over TCP to the tokens greedy and quiet.
func tokenClients(t *testing.T, m server.Memory, limits server.Limits) kiokuv1.MemoryServiceClient {
	t.Helper()
	opt := agents(m)
	opt.Limits = limits
	opt.Tokens = openTokens(t, tokenLine("greedy", "greedy", "main", true), tokenLine("quiet", "quiet", "main", true))
	return kiokuv1.NewMemoryServiceClient(dial(t, onTCP(t, opt)))
}

// wantAdmitted waits for one of the calls that is admitted.
func wantAdmitted(t *testing.T, b *blocked, want string) {
	t.Helper()
	select {
	case got := <-b.admitted:
		if got != want {
			t.Fatalf("%s is admitted, want %s", got, want)
		}
	case <-time.After(soon):
		t.Fatalf("%s is not admitted", want)
	}
}

// Hazard D12: the searches of a client with many wait for each other and are refused beyond a limit, with the pause before
// the next attempt, while another client's are admitted at once and light calls do not wait.
func TestSearchesOfAGreedyClientWaitForEachOther(t *testing.T) {
	t.Parallel()
	limits := server.Limits{Searches: 2, Waiting: 20}
	t.Run("tokens", func(t *testing.T) {
		t.Parallel()
		b := newBlocked(limits)
		client := tokenClients(t, b, limits)
		testGreedySearches(t, b, client, client)
	})
	t.Run("connections", func(t *testing.T) {
		t.Parallel()
		b := newBlocked(limits)
		opt := agents(b)
		opt.Limits = limits
		addr := onTCP(t, opt)
		testGreedySearches(t, b, kiokuv1.NewMemoryServiceClient(dial(t, addr)), kiokuv1.NewMemoryServiceClient(dial(t, addr)))
	})
}

// testGreedySearches lets a greedy client send 60 searches, of which 2 run and 20 wait, and then a quiet one.
func testGreedySearches(t *testing.T, b *blocked, client, quiet kiokuv1.MemoryServiceClient) {
	t.Helper()
	var running sync.WaitGroup
	errs := make(chan error, 60)
	for range 60 {
		running.Go(func() {
			_, err := client.MemorySearch(with(t, "greedy"), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "greedy"})
			errs <- err
		})
	}
	for range 60 - 2 - 20 {
		err := <-errs
		if !hasRetryInfo(err) || status.Code(err) != codes.ResourceExhausted {
			t.Fatalf("a search beyond the limit: %v", err)
		}
	}
	for range 2 {
		wantAdmitted(t, b, "greedy")
	}
	running.Go(func() {
		_, err := quiet.MemorySearch(with(t, "quiet"), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "quiet"})
		errs <- err
	})
	wantAdmitted(t, b, "quiet")
	for token, c := range map[string]kiokuv1.MemoryServiceClient{"greedy": client, "quiet": quiet} {
		if _, err := c.Status(with(t, token), &kiokuv1.StatusRequest{Agent: "main"}); err != nil {
			t.Errorf("status for %s: %v", token, err)
		}
	}
	if len(b.admitted) != 0 {
		t.Errorf("%d more searches run", len(b.admitted))
	}
	close(b.release)
	running.Wait()
	for range 23 {
		if err := <-errs; err != nil {
			t.Errorf("an admitted search: %v", err)
		}
	}
}

// hasRetryInfo reports whether an error says when to try again.
func hasRetryInfo(err error) bool {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok && info.GetRetryDelay().AsDuration() > 0 {
			return true
		}
	}
	return false
}

// Hazard D12: a search that waits for its turn keeps its deadline.
func TestSearchKeepsItsDeadlineWhileItWaits(t *testing.T) {
	t.Parallel()
	limits := server.Limits{Searches: 1, Waiting: 20}
	b := newBlocked(limits)
	client := tokenClients(t, b, limits)
	held := make(chan error, 1)
	go func() {
		_, err := client.MemorySearch(with(t, "greedy"), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "held"})
		held <- err
	}()
	wantAdmitted(t, b, "held")
	ctx, cancel := context.WithTimeout(with(t, "greedy"), 30*time.Millisecond)
	defer cancel()
	_, err := client.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: "main", Query: "late"})
	wantCode(t, err, codes.DeadlineExceeded)
	close(b.release)
	if err := <-held; err != nil {
		t.Error(err)
	}
}

// Hazard D12: requests of one client hold a bounded number of bytes, and another client's are read meanwhile.
func TestCallsHoldABoundedNumberOfBytes(t *testing.T) {
	t.Parallel()
	limits := server.Limits{Bytes: 48 << 20}
	b := newBlocked(limits)
	client := tokenClients(t, b, limits)
	var running sync.WaitGroup
	text := strings.Repeat("x", 3<<20)
	for range 20 {
		running.Go(func() {
			if _, err := client.MemoryAppend(with(t, "greedy"), &kiokuv1.MemoryAppendRequest{Agent: "main", Text: text, IdempotencyKey: "greedy"}); err != nil {
				t.Error(err)
			}
		})
	}
	// Of 12 MiB, a quarter, three requests of 3 MiB leave no room to read another of up to 4 MiB.
	for range 3 {
		wantAdmitted(t, b, "greedy")
	}
	running.Go(func() {
		if _, err := client.MemoryAppend(with(t, "quiet"), &kiokuv1.MemoryAppendRequest{Agent: "main", Text: text, IdempotencyKey: "quiet"}); err != nil {
			t.Error(err)
		}
	})
	wantAdmitted(t, b, "quiet")
	if len(b.admitted) != 0 {
		t.Errorf("%d more requests are in flight", len(b.admitted))
	}
	close(b.release)
	running.Wait()
}

// Hazard D12: a client that reads a stream makes other calls meanwhile, also with the least bytes in flight.
func TestCallsRunBesideAStreamWithSmallLimits(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{})
	opt.Limits.Bytes = 16 << 20
	client := kiokuv1.NewMemoryServiceClient(onSocket(t, opt))
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	stream, err := client.WatchEvents(ctx, &kiokuv1.WatchEventsRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Header(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.ListAgents(ctx, &kiokuv1.ListAgentsRequest{}); err != nil {
		t.Error(err)
	}
}

// Hazard D12: whoever has no token shares with all connections of its machine, and health checks without the token that other
// calls need take nothing from clients with one.
func TestConnectionsWithoutATokenLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{events: make(chan kioku.Event)})
	opt.Limits.Bytes = 32 << 20
	path := filepath.Join(t.TempDir(), "s", "kioku.sock")
	unix, err := server.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, newServer(t, opt), unix, tcp)
	beginCalls(t, tcp.Addr().String(), kiokuv1.MemoryService_WatchEvents_FullMethodName)
	wantAnswers(t, dial(t, "unix://"+path))

	opt.Tokens = openTokens(t, tokenLine("quiet", "quiet", "main", true))
	address := onTCP(t, opt)
	beginCalls(t, address, healthpb.Health_Watch_FullMethodName)
	wantAnswers(t, dial(t, address))
}

// beginCalls begins calls of a method on 16 connections and sends no request, for which the server keeps 4 MiB free.
func beginCalls(t *testing.T, address, method string) {
	t.Helper()
	for range 16 {
		conn := dial(t, address)
		for range 4 {
			if _, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, method); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// wantAnswers checks that calls of the token quiet are answered.
func wantAnswers(t *testing.T, conn *grpc.ClientConn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(with(t, "quiet"), soon/4)
	defer cancel()
	for range 100 {
		if _, err := kiokuv1.NewMemoryServiceClient(conn).ListAgents(ctx, &kiokuv1.ListAgentsRequest{}); err != nil {
			t.Fatal(err)
		}
	}
}

// Hazard D12: connections are bounded; one too many is told so, and there is room again when another ends.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{})
	opt.Limits.Connections = 12
	addr := onTCP(t, opt)
	call := func() (close func() error, err error) {
		conn := dial(t, addr)
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		_, err = kiokuv1.NewMemoryServiceClient(conn).ListAgents(ctx, &kiokuv1.ListAgentsRequest{})
		return conn.Close, err
	}
	var last func() error
	for range 3 {
		var err error
		if last, err = call(); err != nil {
			t.Fatal(err)
		}
	}
	closeRefused, err := call()
	closeRefused()
	if status.Code(err) != codes.ResourceExhausted || !hasRetryInfo(err) || !strings.Contains(err.Error(), "this client has 3 connections and may have no more") {
		t.Errorf("the connection beyond the limit: %v", err)
	}
	last()
	for end := time.Now().Add(soon); ; time.Sleep(time.Millisecond) {
		_, err := call()
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("there is no room after a connection has ended: %v", err)
		}
	}
}

// Hazard D12: the last event of a reader that did not keep up is told, and the stream ends.
func TestWatchEventsEndsAReaderThatDoesNotKeepUp(t *testing.T) {
	t.Parallel()
	fake := &fakeMemory{events: make(chan kioku.Event)}
	stream, err := local(t, agents(fake)).WatchEvents(t.Context(), &kiokuv1.WatchEventsRequest{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	fake.events <- kioku.Event{Event: indexer.Event{Kind: kioku.EventsLost}}
	got, err := stream.Recv()
	if err != nil || got.GetEvent().GetKind() != "events_lost" {
		t.Errorf("the last event is %v, %v", got, err)
	}
	_, err = stream.Recv()
	wantCode(t, err, codes.Aborted)
}
