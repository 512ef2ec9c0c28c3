package client_test

import (
	"context"
	"errors"
	"math"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku/client"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

func TestClientSearchSendsQueryAndReturnsHits(t *testing.T) {
	f := &fakeService{found: &kiokuv1.MemorySearchResponse{
		Mode: "keyword", Degraded: []*kiokuv1.Degradation{{Code: "provider_down", Text: "no vectors"}}, Index: &kiokuv1.IndexState{PendingFileCount: 2},
		Results: []*kiokuv1.SearchResult{{
			Path: "MEMORY.md", StartLine: 3, EndLine: 5, Score: 0.5, Snippet: "緑茶", SnippetStartLine: 4, SnippetEndLine: 4,
			Source: "memory", Citation: "MEMORY.md#L3-L5", Heading: "# 好み", Date: "2026-01-02", Weak: true,
		}},
	}}
	c := connect(t, f, client.Options{Agent: "ann", Token: "tok"})
	score := 0.3
	got, err := c.Search(t.Context(), memory.Query{
		Text: "お茶", MaxResults: math.MaxInt, MinScore: &score,
		Filter: memory.Filter{Sources: []string{"memory"}, PathPrefix: "mem", Since: "2026-01-01", Until: "2026-02-01"},
		Now:    time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := memory.Answer{
		Mode: "keyword", Degraded: []memory.Degradation{{Code: "provider_down", Text: "no vectors"}}, Index: memory.IndexStats{PendingFiles: 2},
		Hits: []memory.Hit{{
			Path: "MEMORY.md", StartLine: 3, EndLine: 5, Score: 0.5, Snippet: "緑茶", SnippetStart: 4, SnippetEnd: 4,
			Source: "memory", Headings: "# 好み", Date: "2026-01-02", Weak: true,
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	wantReq := &kiokuv1.MemorySearchRequest{
		Agent: "ann", Query: "お茶", MaxResults: math.MaxInt32, MinScore: &score, Sources: []string{"memory"}, PathPrefix: "mem",
		Since: "2026-01-01", Until: "2026-02-01", AskTime: timestamppb.New(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)),
	}
	if diff := cmp.Diff(wantReq, f.searched, protocmp.Transform()); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Bearer tok"}, f.header.Get("authorization")); diff != "" {
		t.Errorf("authorization (-want +got):\n%s", diff)
	}
}

func TestGetAndAppendCarryEveryField(t *testing.T) {
	f := &fakeService{
		lines: &kiokuv1.MemoryGetResponse{Path: "MEMORY.md", Text: "a\n", FromLine: 3, LineCount: 1, TotalLineCount: 9, Truncated: true, NextLine: 4},
		added: &kiokuv1.MemoryAppendResponse{Path: "MEMORY.md", StartLine: 7, Outcome: "deduplicated"},
	}
	c := connect(t, f, client.Options{})
	got, err := c.Get(t.Context(), memory.GetRequest{Path: "MEMORY.md", From: 3, Lines: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := memory.Excerpt{Path: "MEMORY.md", Text: "a\n", From: 3, Lines: 1, TotalLines: 9, Truncated: true, NextFrom: 4}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("excerpt (-want +got):\n%s", diff)
	}
	wantGet := &kiokuv1.MemoryGetRequest{Agent: "main", Path: "MEMORY.md", FromLine: 3, LineCount: 1}
	if diff := cmp.Diff(wantGet, f.got, protocmp.Transform()); diff != "" {
		t.Errorf("get request (-want +got):\n%s", diff)
	}
	added, err := c.Append(t.Context(), memory.Note{Text: "x", Target: memory.TargetLongTerm, Category: "fact", Key: "k"})
	if err != nil || !cmp.Equal(added, memory.Appended{Path: "MEMORY.md", StartLine: 7, Deduplicated: true}) {
		t.Errorf("appended = %+v, %v", added, err)
	}
	wantAppend := &kiokuv1.MemoryAppendRequest{Agent: "main", Text: "x", Target: "long_term", Category: "fact", IdempotencyKey: "k"}
	if diff := cmp.Diff(wantAppend, f.appended, protocmp.Transform()); diff != "" {
		t.Errorf("append request (-want +got):\n%s", diff)
	}
}

func TestEachStatusBecomesAnErrorThatCanBeTestedFor(t *testing.T) {
	cases := []struct {
		code codes.Code
		want error
	}{
		{codes.NotFound, memory.ErrNotFound}, {codes.PermissionDenied, memory.ErrDenied}, {codes.Unauthenticated, memory.ErrDenied},
		{codes.ResourceExhausted, memory.ErrBusy}, {codes.Unavailable, memory.ErrUnreachable},
		{codes.DeadlineExceeded, context.DeadlineExceeded}, {codes.Canceled, context.Canceled},
	}
	for _, c := range cases {
		client := connect(t, &fakeService{err: status.Error(c.code, "details")}, client.Options{})
		if _, err := client.Search(t.Context(), memory.Query{Text: "x"}); !errors.Is(err, c.want) {
			t.Errorf("search, %v: %v is not %v", c.code, err, c.want)
		}
		if _, err := client.Get(t.Context(), memory.GetRequest{Path: "x"}); !errors.Is(err, c.want) {
			t.Errorf("get, %v: %v is not %v", c.code, err, c.want)
		}
		if _, err := client.Append(t.Context(), memory.Note{Text: "x"}); !errors.Is(err, c.want) {
			t.Errorf("append, %v: %v is not %v", c.code, err, c.want)
		}
	}
	client := connect(t, &fakeService{err: status.Error(codes.Internal, "internal error (id 1)")}, client.Options{})
	if _, err := client.Search(t.Context(), memory.Query{Text: "x"}); err == nil || !strings.Contains(err.Error(), "id 1") {
		t.Errorf("internal: %v", err)
	}
}

// A service names the error, because several have the same code.
func TestClientReturnsTheErrorThatTheServiceNames(t *testing.T) {
	for _, c := range []struct {
		code   codes.Code
		reason string
		want   error
	}{
		{codes.FailedPrecondition, "READ_ONLY", memory.ErrReadOnly}, {codes.FailedPrecondition, "NOT_WRITABLE", memory.ErrNotWritable},
		{codes.NotFound, "NO_AGENT", memory.ErrNoAgent}, {codes.Unavailable, "WORKSPACE_UNAVAILABLE", memory.ErrUnavailable},
	} {
		st, err := status.New(c.code, "details").WithDetails(&errdetails.ErrorInfo{Domain: "kioku", Reason: c.reason})
		if err != nil {
			t.Fatal(err)
		}
		client := connect(t, &fakeService{err: st.Err()}, client.Options{})
		if _, err := client.Append(t.Context(), memory.Note{Text: "x"}); !errors.Is(err, c.want) || !strings.Contains(err.Error(), "details") {
			t.Errorf("%s: %v is not %v", c.reason, err, c.want)
		}
	}
	client := connect(t, &fakeService{err: status.Error(codes.FailedPrecondition, "no model")}, client.Options{})
	if _, err := client.Append(t.Context(), memory.Note{Text: "x"}); err == nil || errors.Is(err, memory.ErrReadOnly) {
		t.Errorf("another precondition: %v", err)
	}
}

func TestClientReturnsInputErrorForBadField(t *testing.T) {
	st, err := status.New(codes.InvalidArgument, "since: is no day").WithDetails(&errdetails.BadRequest{
		FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "since", Description: "is no day"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err  error
		want memory.InputError
	}{
		{st.Err(), memory.InputError{Field: "since", Problem: "is no day"}},
		{status.Error(codes.InvalidArgument, "no details"), memory.InputError{Field: "request", Problem: "no details"}},
	} {
		_, err := connect(t, &fakeService{err: c.err}, client.Options{}).Search(t.Context(), memory.Query{Text: "x"})
		var input *memory.InputError
		if !errors.As(err, &input) || *input != c.want {
			t.Errorf("err = %v, want %+v", err, c.want)
		}
	}
}

// A request that is larger than gRPC takes never succeeds: the error is that of an input, and says what to do.
func TestClientSaysThatARequestIsTooLarge(t *testing.T) {
	c := connect(t, &fakeService{}, client.Options{})
	_, err := c.Append(t.Context(), memory.Note{Text: strings.Repeat("a", 5<<20)})
	if _, bad := errors.AsType[*memory.InputError](err); !bad || !strings.Contains(err.Error(), "send less at a time") {
		t.Errorf("%v", err)
	}
}

func TestClientNamesServiceThatIsUnreachable(t *testing.T) {
	target := "unix://" + filepath.Join(t.TempDir(), "none.sock")
	_, err := dial(t, target, client.Options{}).Search(t.Context(), memory.Query{Text: "x"})
	if !errors.Is(err, memory.ErrUnreachable) || !strings.Contains(err.Error(), target) || !strings.Contains(err.Error(), "kioku serve") {
		t.Errorf("err = %v; want ErrUnavailable, the target and what to do", err)
	}
}

func TestClientCallEndsAfterTimeout(t *testing.T) {
	c := connect(t, &fakeService{hang: true}, client.Options{Timeout: 20 * time.Millisecond})
	if _, err := c.Search(t.Context(), memory.Query{Text: "x"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v, want DeadlineExceeded", err)
	}
}

func TestClientTargetIsSocketOrAddress(t *testing.T) {
	for _, bad := range []string{"", "unix:", "unix://", "localhost", ":7600", "http://localhost:7600/x", "dns:///x", "localhost:"} {
		if c, err := client.Dial(bad, client.Options{}); err == nil {
			c.Close()
			t.Errorf("Dial(%q) returned no error", bad)
		}
	}
	for _, good := range []string{"unix:///run/kioku.sock", "unix:kioku.sock", "localhost:7600", "[::1]:7600", "memory.example:7600"} {
		c, err := client.Dial(good, client.Options{})
		if err != nil {
			t.Errorf("Dial(%q): %v", good, err)
			continue
		}
		c.Close()
	}
}

func TestClientTokenDoesNotCrossNetworkInTheClear(t *testing.T) {
	for target, want := range map[string]bool{
		"memory.example:7600": false, "192.0.2.1:7600": false, "127.0.0.1:7600": true, "[::1]:7600": true, "localhost:7600": true, "unix:///s": true,
	} {
		c, err := client.Dial(target, client.Options{Token: "tok-secret"})
		if (err == nil) != want {
			t.Errorf("Dial(%s) with a token: %v", target, err)
		}
		if err != nil && strings.Contains(err.Error(), "tok-secret") {
			t.Errorf("the error tells the token: %v", err)
		}
		if c != nil {
			c.Close()
		}
	}
}

func TestClientIgnoresProxy(t *testing.T) {
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	t.Setenv("HTTPS_PROXY", "http://"+proxy.Addr().String())
	// A name that cannot be resolved: with a proxy it would be the proxy's to resolve.
	c := dial(t, "memory.invalid:7600", client.Options{Timeout: time.Minute})
	asked := make(chan struct{}, 1)
	go func() {
		if conn, err := proxy.Accept(); err == nil {
			asked <- struct{}{}
			conn.Close()
		}
	}()
	c.Search(t.Context(), memory.Query{Text: "x"})
	select {
	case <-asked:
		t.Error("the proxy was asked")
	default:
	}
}

// A client dials by the dialer of its options, which also looks the name up, so that an offline process asks no name server.
func TestClientDialsByItsOptions(t *testing.T) {
	offline := errors.New("offline is set")
	var dialled string
	c := dial(t, "memory.invalid:7600", client.Options{Timeout: time.Minute, Dial: func(_ context.Context, network, address string) (net.Conn, error) {
		dialled = network + " " + address
		return nil, offline
	}})
	if _, err := c.Search(t.Context(), memory.Query{Text: "x"}); err == nil || !strings.Contains(err.Error(), offline.Error()) || dialled != "tcp memory.invalid:7600" {
		t.Errorf("%q was dialled: %v", dialled, err)
	}
}
