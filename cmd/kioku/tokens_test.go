package main

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	kiokuv1 "kioku/proto/kioku/v1"
)

// A container gets its tokens in KIOKU_TOKENS, and needs no file then.
func TestServeTakesTokensFromTheEnvironment(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.env = append(s.env, "KIOKU_TOKENS=tokens: [{name: laptop, sha256: "+hashToken("correct horse")+", agents: [main]}]")
	s.run("serve", "--token-file", "tokens.yaml", "--listen", "none").wants(t, exitUsage, "tokens and tokenFile are both set")
	if out := s.must("config", "list"); !strings.Contains(out, "tokens=(hidden)") {
		t.Errorf("got %s", out)
	}
	p, address := s.serve()
	_, service := dial(t, address)
	req := &kiokuv1.MemorySearchRequest{Agent: "main", Query: "boiler"}
	if _, err := service.MemorySearch(t.Context(), req); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without a token: %v", err)
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer correct horse")
	if _, err := service.MemorySearch(ctx, req); err != nil {
		t.Errorf("with the token: %v", err)
	}
	p.terminates()
}

// An embedding server that refuses connections costs no time: the words are indexed, and the answer says what it lacks.
func TestIndexGoesOnWithWordsWithoutAServer(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.run("index", "--provider", "openai", "--model", "m", "--base-url", "http://127.0.0.1:9").wants(t, exitOK, "provider_down", "refused")
	if out := s.must("search", "boiler"); !strings.Contains(out, "boiler") {
		t.Errorf("got %s", out)
	}
}

// A token has a name on one line, and a time that is to come.
func TestTokenAddRefusesWhatNobodyCouldUse(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	for want, args := range map[string][]string{
		"must be on one line": {"a\nb: c", "--agents", "main"}, "without control characters": {"a\x1b[31m", "--agents", "main"},
		"is past": {"laptop", "--agents", "main", "--expires", "2020-01-01"}, "no agent nope, only main; kioku config set agents.nope.workspace": {"x", "--agents", "main,nope"},
	} {
		if got := s.raw(append([]string{"token", "add"}, args...)...); got.code == exitOK || !strings.Contains(got.stderr, want) {
			t.Errorf("%q: %+v", args, got)
		}
	}
	s.raw("token", "add", "Laptop von Ines 日本", "--agents", "main").wants(t, exitOK, "Laptop von Ines")
	s.raw("token", "add", "Laptop von Ines 日本", "--agents", "main").wants(t, exitError, "kioku token revoke", "another name")
}
