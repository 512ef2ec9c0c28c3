package server_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	"kioku"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// asking serves a server and returns a function that has a request over HTTP answered by ask, with a context of the request.
func asking(t *testing.T, opt server.Options, prepare func(*server.Server)) (p ported, do func(ask func(context.Context), header ...string)) {
	t.Helper()
	asks := make(chan func(context.Context), 1)
	p = onPort(t, opt, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { (<-asks)(r.Context()) }), prepare)
	client := httpClient(t, false, "")
	return p, func(ask func(context.Context), header ...string) {
		t.Helper()
		asks <- ask
		get(t, client, p.url("/"), header...)
	}
}

// A call of a door has the status of the same call over gRPC, details included: for bad input, unknown agents, missing rights,
// failures, panics, deadlines, and messages that are too large. (D13)
func TestConnAnswersAsGRPCDoes(t *testing.T) {
	t.Parallel()
	m := &fakeMemory{
		search: func(ctx context.Context, q memory.Query) (memory.Answer, error) {
			switch q.Text {
			case "panic":
				panic("spilled milk")
			case "slow":
				<-ctx.Done()
				return memory.Answer{}, ctx.Err()
			case "large":
				return memory.Answer{Hits: []memory.Hit{{Path: "a.md", Snippet: strings.Repeat("x", 5<<20)}}}, nil
			case "busy":
				return memory.Answer{}, memory.ErrBusy
			case "fire":
				return memory.Answer{}, errBoom
			}
			return memory.Answer{Hits: []memory.Hit{{Path: "a.md", Snippet: "bad \xff byte"}}}, nil
		},
	}
	opt := server.Options{
		Agents:        map[string]server.Memory{"ann": m, "bob": m},
		Tokens:        openTokens(t, tokenLine("a", "tok-a", "ann", false)),
		SearchTimeout: 300 * time.Millisecond,
	}
	p, do := asking(t, opt, nil)
	conn := p.Conn()
	remote := dial(t, p.address, grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(8<<20), grpc.MaxCallRecvMsgSize(8<<20)))
	for name, ask := range map[string]func(context.Context, kiokuv1.MemoryServiceClient) (any, error){
		"answer": search("ann", "tea"), "panic": search("ann", "panic"), "deadline": search("ann", "slow"), "large response": search("ann", "large"),
		"busy": search("ann", "busy"), "failure": search("ann", "fire"), "no query": search("ann", ""), "foreign agent": search("bob", "tea"),
		"no agent": search("", "tea"), "bad agent": search("../b", "tea"), "large request": search("ann", strings.Repeat("x", 5<<20)),
		"no right": func(ctx context.Context, c kiokuv1.MemoryServiceClient) (any, error) {
			return c.MemoryAppend(ctx, &kiokuv1.MemoryAppendRequest{Agent: "ann", Text: "x"})
		},
		"stream without a right": func(ctx context.Context, c kiokuv1.MemoryServiceClient) (any, error) {
			return last(c.Rebuild(ctx, &kiokuv1.RebuildRequest{Agent: "ann"}))
		},
		"stream": func(ctx context.Context, c kiokuv1.MemoryServiceClient) (any, error) {
			return last(c.Sync(ctx, &kiokuv1.SyncRequest{Agent: "ann"}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			const id = "one-id"
			want, wantErr := ask(metadata.AppendToOutgoingContext(with(t, "tok-a"), "x-request-id", id), kiokuv1.NewMemoryServiceClient(remote))
			do(func(ctx context.Context) {
				got, err := ask(ctx, kiokuv1.NewMemoryServiceClient(conn))
				if diff := cmp.Diff(status.Convert(wantErr).Proto(), status.Convert(err).Proto(), protocmp.Transform()); diff != "" {
					t.Errorf("status (-gRPC +Conn):\n%s", diff)
				}
				if diff := cmp.Diff(want, got, protocmp.Transform(), protocmp.IgnoreFields(&kiokuv1.SyncReport{}, "took")); wantErr == nil && diff != "" {
					t.Errorf("answer (-gRPC +Conn):\n%s", diff)
				}
			}, "Authorization", "Bearer tok-a", "X-Request-Id", id)
		})
	}
	do(func(ctx context.Context) {
		_, err := search("ann", "bad \xff byte")(ctx, kiokuv1.NewMemoryServiceClient(conn))
		wantViolation(t, err, "request")
	}, "Authorization", "Bearer tok-a")
}

// search returns a function that searches.
func search(agent, query string) func(context.Context, kiokuv1.MemoryServiceClient) (any, error) {
	return func(ctx context.Context, c kiokuv1.MemoryServiceClient) (any, error) {
		resp, err := c.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: agent, Query: query})
		return resp, err
	}
}

// The trace of a request over HTTP is that of the calls of its door.
func TestConnHasTheTraceOfItsRequest(t *testing.T) {
	t.Parallel()
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	var got []string
	p, do := asking(t, agents(&fakeMemory{search: func(ctx context.Context, _ memory.Query) (memory.Answer, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		got = append(md.Get("traceparent"), md.Get("tracestate")...)
		return memory.Answer{}, nil
	}}), nil)
	client := kiokuv1.NewMemoryServiceClient(p.Conn())
	do(func(ctx context.Context) {
		if _, err := search("main", "tea")(ctx, client); err != nil {
			t.Error(err)
		}
	}, "Traceparent", parent, "Tracestate", "a=b")
	if diff := cmp.Diff([]string{parent, "a=b"}, got); diff != "" {
		t.Error(diff)
	}
}

// A client that goes away ends the call that a door makes for it.
func TestConnEndsACallWithItsRequest(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan error, 1)
	opt := agents(&fakeMemory{search: func(ctx context.Context, _ memory.Query) (memory.Answer, error) {
		close(began)
		<-ctx.Done()
		return memory.Answer{}, ctx.Err()
	}})
	opt.SearchTimeout = time.Hour
	s := newServer(t, opt)
	client := kiokuv1.NewMemoryServiceClient(s.Conn())
	s.HandleHTTP(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := client.MemorySearch(r.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"})
		ended <- err
	}))
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s, l)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+l.Addr().String()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := httpClient(t, false, "").Do(req); !errors.Is(err, context.Canceled) {
		t.Errorf("the client gets %v", err)
	}
	wantCode(t, <-ended, codes.Canceled)
}

// Hazard C08: A call that a door has under way ends when the token of its client is revoked; so does the stream.
func TestConnEndsCallsOfARevokedToken(t *testing.T) {
	t.Parallel()
	path := writeTokens(t, "", "tokens:\n"+tokenLine("a", "tok-a", "main", false))
	tokens, err := server.OpenTokens(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{})
	opt := agents(&fakeMemory{events: make(chan kioku.Event), search: func(ctx context.Context, _ memory.Query) (memory.Answer, error) {
		close(began)
		<-ctx.Done()
		return memory.Answer{}, ctx.Err()
	}})
	opt.Tokens, opt.SearchTimeout = tokens, time.Hour
	p, do := asking(t, opt, nil)
	client := kiokuv1.NewMemoryServiceClient(p.Conn())
	do(func(ctx context.Context) {
		events, err := client.WatchEvents(ctx, &kiokuv1.WatchEventsRequest{Agent: "main"})
		if err != nil {
			t.Error(err)
			return
		}
		go func() {
			<-began
			writeTokens(t, path, "tokens: []\n")
		}()
		_, err = client.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: "main", Query: "tea"})
		wantCode(t, err, codes.Unauthenticated)
		_, err = events.Recv()
		wantCode(t, err, codes.Unauthenticated)
	}, "Authorization", "Bearer tok-a")
}

// A stream that a door does not read ends, and what it was admitted for is given back.
func TestConnEndsAStreamThatIsNotRead(t *testing.T) {
	t.Parallel()
	events := make(chan kioku.Event)
	p, do := asking(t, agents(&fakeMemory{events: events}), func(s *server.Server) { s.SetSendTimeout(50 * time.Millisecond) })
	client := kiokuv1.NewMemoryServiceClient(p.Conn())
	do(func(ctx context.Context) {
		stream, err := client.WatchEvents(ctx, &kiokuv1.WatchEventsRequest{Agent: "main"})
		if err != nil {
			t.Error(err)
			return
		}
		stream.Header()
		events <- kioku.Event{}
		eventually(t, func() bool { return p.CallBytes() == 0 })
		_, err = stream.Recv()
		wantCode(t, err, codes.Aborted)
	})
}

// Hazard C08: A token at /readyz is checked as everywhere: a wrong one is told no names and counts as one.
func TestReadinessChecksTokensAsCallsDo(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{}) // not in sync, so not ready
	opt.Tokens = openTokens(t, tokenLine("a", "tok-a", "main", false))
	p := onPort(t, opt, nil, nil)
	reasons := func(token string) string {
		_, body := get(t, httpClient(t, false, ""), p.url("/readyz"), "Authorization", "Bearer "+token)
		return body
	}
	for i := range 40 {
		if body := reasons(fmt.Sprint("guess", i)); strings.Contains(body, "main") || !strings.Contains(body, "an agent") {
			t.Errorf("a wrong token gets %s", body)
		}
	}
	if body := reasons("tok-a"); !strings.Contains(body, "agent main") {
		t.Errorf("the right token gets %s", body)
	}
	_, err := kiokuv1.NewMemoryServiceClient(dial(t, p.address)).ListAgents(with(t, "guess"), &kiokuv1.ListAgentsRequest{})
	wantCode(t, err, codes.ResourceExhausted)
}

// A client that makes more calls than it may is told when to come back, whatever it speaks; another client is not refused. (D12)
func TestRateOfCallsIsLimitedForEachClient(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{})
	opt.Tokens = openTokens(t, tokenLine("a", "tok-a", "main", false), tokenLine("b", "tok-b", "main", false))
	opt.Limits.RequestsPerSecond, opt.Limits.Burst = 1, 3
	p, do := asking(t, opt, nil)
	remote, inside := kiokuv1.NewMemoryServiceClient(dial(t, p.address)), kiokuv1.NewMemoryServiceClient(p.Conn())
	req := &kiokuv1.ListAgentsRequest{}
	for range 3 {
		if _, err := remote.ListAgents(with(t, "tok-a"), req); err != nil {
			t.Fatal(err)
		}
	}
	wantRetry := func(err error) {
		t.Helper()
		wantCode(t, err, codes.ResourceExhausted)
		for _, d := range status.Convert(err).Details() {
			if retry, ok := d.(*errdetails.RetryInfo); ok && retry.GetRetryDelay().AsDuration() > 0 && retry.GetRetryDelay().AsDuration() <= time.Second {
				return
			}
		}
		t.Errorf("%v does not say when to come back", err)
	}
	_, err := remote.ListAgents(with(t, "tok-a"), req)
	wantRetry(err)
	do(func(ctx context.Context) {
		_, err := inside.ListAgents(ctx, req)
		wantRetry(err)
	}, "Authorization", "Bearer tok-a")
	_, err = remote.ListAgents(with(t, "tok-b"), req)
	wantCode(t, err, codes.OK)
}

// Hazards C08, D12: A machine that sends many wrong tokens has to wait, whatever it speaks. Right tokens of the same machine are not
// held up, also not at their first call, nor are other machines.
func TestGuessesOfTokensAreLimitedForEachMachine(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{})
	opt.Tokens = openTokens(t, tokenLine("a", "tok-a", "main", false), tokenLine("b", "tok-b", "main", false))
	p, do := asking(t, opt, nil)
	remote, inside := kiokuv1.NewMemoryServiceClient(dial(t, p.address)), kiokuv1.NewMemoryServiceClient(p.Conn())
	req := &kiokuv1.ListAgentsRequest{}
	call := func(token string) error {
		_, err := remote.ListAgents(with(t, token), req)
		return err
	}
	for i := range 40 {
		do(func(ctx context.Context) { _, _ = inside.ListAgents(ctx, req) }, "Authorization", fmt.Sprint("Bearer guess", i))
	}
	wantCode(t, call("guess"), codes.ResourceExhausted)
	wantCode(t, call("tok-a"), codes.OK)
	other := dial(t, p.address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
		return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext(ctx, "tcp", addr)
	}))
	_, err := kiokuv1.NewMemoryServiceClient(other).ListAgents(with(t, "guess"), req)
	wantCode(t, err, codes.Unauthenticated)
}
