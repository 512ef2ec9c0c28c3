package server_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
	"kioku/server/op"
)

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
	address := onTCP(t, opt)
	remote := kiokuv1.NewMemoryServiceClient(dial(t, address))
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
	_, err = server.Notes.Agents.Call(t.Context(), overHTTP{address, "tok-a"}, server.None{})
	if said, ok := errors.AsType[*op.Error](err); !ok || said.Code != "RESOURCE_EXHAUSTED" || said.RetryAfter != 1 {
		t.Errorf("over HTTP: %v", err)
	}
	_, err = remote.ListAgents(with(t, "tok-b"), req)
	wantCode(t, err, codes.OK)
}

// Hazards C08, D12: A machine that sends many wrong tokens has to wait, whatever it speaks. Right tokens of the same machine are not
// held up, also not at their first call, nor are other machines.
func TestGuessesOfTokensAreLimitedForEachMachine(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{})
	opt.Tokens = openTokens(t, tokenLine("a", "tok-a", "main", false), tokenLine("b", "tok-b", "main", false))
	address := onTCP(t, opt)
	remote := kiokuv1.NewMemoryServiceClient(dial(t, address))
	req := &kiokuv1.ListAgentsRequest{}
	call := func(token string) error {
		_, err := remote.ListAgents(with(t, token), req)
		return err
	}
	for i := range 40 {
		_, _ = server.Notes.Agents.Call(t.Context(), overHTTP{address, fmt.Sprint("guess", i)}, server.None{})
	}
	wantCode(t, call("guess"), codes.ResourceExhausted)
	wantCode(t, call("tok-a"), codes.OK)
	other := dial(t, address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
		return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext(ctx, "tcp", addr)
	}))
	_, err := kiokuv1.NewMemoryServiceClient(other).ListAgents(with(t, "guess"), req)
	wantCode(t, err, codes.Unauthenticated)
}
