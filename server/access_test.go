package server_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// writeTokens writes a token file and returns its path.
func writeTokens(t *testing.T, path, yaml string) string {
	t.Helper()
	if path == "" {
		path = filepath.Join(t.TempDir(), "tokens.yaml")
	}
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func tokenLine(name, token, agents string, write bool) string {
	return fmt.Sprintf("  - {name: %s, sha256: %s, agents: %s, write: %v}\n", name, hashToken(token), agents, write)
}

func openTokens(t *testing.T, lines ...string) *server.Tokens {
	t.Helper()
	tokens, err := server.OpenTokens(writeTokens(t, "", "tokens:\n"+strings.Join(lines, "")), nil)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func with(t *testing.T, token string) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
}

// Hazard C06: an agent id that is a path, SQL, empty or huge never gets near a file.
func TestNewRefusesAnIdThatIsNoAgents(t *testing.T) {
	t.Parallel()
	client := local(t, server.Options{Agents: map[string]server.Memory{"main": &fakeMemory{}, "other": &fakeMemory{}}})
	bad := []string{"", ".", "..", "../b", "a/b", `a\b`, "/etc", "Main", "-a", "_a", "a b", "a\x00", "a\n", "日本", "'; drop table files; --", "main\n",
		strings.Repeat("a", 65), strings.Repeat("a", 10<<10)}
	for _, id := range bad {
		_, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: id, Query: "tea"})
		wantViolation(t, err, "agent")
	}
	_, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: strings.Repeat("a", 64), Query: "tea"})
	wantCode(t, err, codes.NotFound)
	for _, id := range bad {
		if _, err := server.New(server.Options{Agents: map[string]server.Memory{id: &fakeMemory{}}}); err == nil {
			t.Errorf("an agent may be called %q", id)
		}
	}
}

func TestServeRefusesAServerWithoutAgents(t *testing.T) {
	t.Parallel()
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := newServer(t, server.Options{}).Serve(t.Context(), l); err == nil || !strings.Contains(err.Error(), "no agent") {
		t.Errorf("Serve returned %v", err)
	}
}

func TestMissingAgentIsAnsweredWithTheReachableOnes(t *testing.T) {
	t.Parallel()
	opt := server.Options{Agents: map[string]server.Memory{"ann": &fakeMemory{}, "bob": &fakeMemory{}, "zoe": &fakeMemory{}}}
	_, err := local(t, opt).MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Query: "tea"})
	if !strings.Contains(err.Error(), "ann, bob, zoe") {
		t.Errorf("the owner is told %v", err)
	}
	opt.Tokens = openTokens(t, tokenLine("a", "tok-a", "[ann, zoe]", false))
	client := kiokuv1.NewMemoryServiceClient(dial(t, onTCP(t, opt)))
	_, err = client.MemorySearch(with(t, "tok-a"), &kiokuv1.MemorySearchRequest{Query: "tea"})
	if !strings.Contains(err.Error(), "ann, zoe") || strings.Contains(err.Error(), "bob") {
		t.Errorf("a token for ann and zoe is told %v", err)
	}
}

// Hazard C08: a call over TCP needs a known token, whole and in the header; a refusal does not tell the token.
func TestTokenIsNeededForACallOverTCP(t *testing.T) {
	t.Parallel()
	var log buffer
	client := kiokuv1.NewMemoryServiceClient(dial(t, onTCP(t, server.Options{
		Agents: map[string]server.Memory{"ann": &fakeMemory{}}, Log: logTo(&log),
		Tokens: openTokens(t, tokenLine("a", "tok-abcdef", `"*"`, false)),
	})))
	hash := hashToken("tok-abcdef")
	headers := [][]string{
		nil, {""}, {"Bearer"}, {"Bearer "}, {"tok-abcdef"}, {"Basic tok-abcdef"}, {"Bearer tok-abcde"}, {"Bearer tok-abcdefg"},
		{"Bearer TOK-ABCDEF"}, {"Bearer " + hash}, {"Bearer tok-abcdef", "Bearer tok-abcdef"},
	}
	for _, h := range headers {
		ctx := t.Context()
		for _, v := range h {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", v)
		}
		_, err := client.ListAgents(ctx, &kiokuv1.ListAgentsRequest{})
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("%q: %v, want Unauthenticated", h, err)
		}
	}
	for _, v := range []string{"Bearer tok-abcdef", "bearer tok-abcdef"} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", v)
		if _, err := client.ListAgents(ctx, &kiokuv1.ListAgentsRequest{}); err != nil {
			t.Errorf("%q: %v", v, err)
		}
	}
	if strings.Contains(strings.ToLower(log.String()), "tok-abc") || !strings.Contains(log.String(), "Unauthenticated") {
		t.Errorf("the log holds a token, or no refusal:\n%s", log.String())
	}
}

func TestUnixSocketNeedsNoToken(t *testing.T) {
	t.Parallel()
	opt := agents(&fakeMemory{})
	opt.Tokens = openTokens(t, tokenLine("a", "tok-a", "[other]", false))
	client := kiokuv1.NewMemoryServiceClient(onSocket(t, opt))
	if _, err := client.MemoryAppend(t.Context(), &kiokuv1.MemoryAppendRequest{Agent: "main", Text: "x"}); err != nil {
		t.Errorf("append: %v", err)
	}
}

// Hazard C12: reflection is there on the unix socket, on loopback only for those who have a token, if tokens are
// set; health needs none.
func TestReflectionIsNotForOtherMachines(t *testing.T) {
	t.Parallel()
	services, err := list(t.Context(), onSocket(t, agents(&fakeMemory{})))
	if err != nil || !slices.Contains(services, "kioku.v1.MemoryService") {
		t.Errorf("on the socket: %v, %v", services, err)
	}
	services, err = list(t.Context(), dial(t, onTCP(t, agents(&fakeMemory{}))))
	if err != nil || !slices.Contains(services, "kioku.v1.MemoryService") {
		t.Errorf("on loopback: %v, %v", services, err)
	}
	opt := agents(&fakeMemory{})
	opt.Tokens = openTokens(t, tokenLine("a", "tok-a", `"*"`, false))
	conn := dial(t, onTCP(t, opt))
	if _, err := list(t.Context(), conn); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without the token: %v", err)
	}
	if _, err := list(with(t, "tok-a"), conn); err != nil {
		t.Errorf("with the token: %v", err)
	}
	resp, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: "kioku.v1.MemoryService"})
	if err != nil || resp.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health = %v, %v", resp, err)
	}

	l, err := server.ListenTCP("0.0.0.0:0", server.TCPOptions{Tokens: opt.Tokens, InsecurePlaintext: true})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, newServer(t, opt), l)
	_, port, _ := strings.Cut(l.Addr().String(), "]:")
	if port == "" {
		_, port, _ = strings.Cut(l.Addr().String(), ":")
	}
	if _, err := list(with(t, "tok-a"), dial(t, "127.0.0.1:"+port)); status.Code(err) != codes.Unimplemented {
		t.Errorf("on an open address: %v, want Unimplemented", err)
	}
}

// list returns the services that reflection tells of.
func list(ctx context.Context, conn *grpc.ClientConn) ([]string, error) {
	stream, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		return nil, err
	}
	defer stream.CloseSend()
	req := &reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}
	// A refused stream may end before the request is out; then Recv has the reason.
	if err := stream.Send(req); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	resp, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range resp.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	return names, nil
}

// Hazard C07: an address that other machines can reach is refused without tokens, before it is listened on.
func TestListenTCPNeedsTokensForAnOpenAddress(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:7600"} {
		l, err := server.ListenTCP(addr, server.TCPOptions{})
		if err == nil {
			l.Close()
			t.Errorf("%s: listens without tokens", addr)
		} else if !strings.Contains(err.Error(), "token") || !strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v does not say what to do", addr, err)
		}
	}
	for _, addr := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := server.ListenTCP(addr, server.TCPOptions{})
		if err != nil {
			t.Errorf("%s: %v", addr, err)
			continue
		}
		l.Close()
	}
	if _, err := server.ListenTCP("nonsense", server.TCPOptions{}); err == nil {
		t.Error("an address without a port is no error")
	}
}

// Hazard C07: a server without tokens does not serve an open listener that was made with some.
func TestServeRefusesAnOpenListenerWithoutTokens(t *testing.T) {
	t.Parallel()
	l, err := server.ListenTCP("0.0.0.0:0", server.TCPOptions{Tokens: openTokens(t, tokenLine("a", "tok-a", `"*"`, false)), InsecurePlaintext: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := newServer(t, agents(&fakeMemory{})).Serve(t.Context(), l); err == nil {
		t.Error("Serve returned no error")
	}
}

func TestServeReportsAListenerThatFails(t *testing.T) {
	t.Parallel()
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := newServer(t, agents(&fakeMemory{})).Serve(t.Context(), l); err == nil {
		t.Error("Serve returned no error for a closed listener")
	}
	if err := newServer(t, agents(&fakeMemory{})).Serve(t.Context()); err == nil {
		t.Error("Serve returned no error without a listener")
	}
}

// hashToken returns the hash of a token as a token file contains it.
func hashToken(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }
