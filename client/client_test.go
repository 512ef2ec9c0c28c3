package client_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/client"
	"kioku/memory"
)

func TestClientSearchSendsQueryAndReturnsHits(t *testing.T) {
	want := memory.Answer{
		Mode: "keyword", Degraded: []memory.Degradation{{Code: "provider_down", Text: "no vectors"}}, Index: memory.IndexStats{PendingFiles: 2},
		Took: 1500 * time.Microsecond,
		Hits: []memory.Hit{{
			Path: "MEMORY.md", StartLine: 3, EndLine: 5, Score: 0.5, Snippet: "緑茶", SnippetStart: 4, SnippetEnd: 4,
			Source: "memory", Headings: "# 好み", Date: "2026-01-02", Weak: true, Citation: "MEMORY.md#L3-L5",
			Origin: &memory.Origin{Channel: "discord", Authors: []memory.Author{{ID: "7", Name: "Ana"}}},
		}},
	}
	f := &fakeService{answer: want}
	c := connect(t, f, client.Options{Agent: "ann", Token: "tok"})
	score, ceiling := 0.3, memory.Normal
	got, err := c.Search(t.Context(), memory.Query{
		Text: "お茶", MaxResults: 7, MinScore: &score, MaxSensitivity: &ceiling,
		Filter: memory.Filter{Sources: []string{"memory"}, PathPrefix: "mem", Since: "2026-01-01", Where: []memory.Condition{{Field: "status", Values: []string{"done"}}}},
		Now:    time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Context: []memory.Turn{{Speaker: "user", Text: "hello"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	const body = `{"agent":"ann","ask_time":"2026-03-01T10:00:00Z","context":[{"speaker":"user","text":"hello"}],"filter":[{"field":"status","values":["done"]}],` +
		`"max_results":7,"max_sensitivity":"normal","min_score":0.3,"path_prefix":"mem","query":"お茶","since":"2026-01-01","sources":["memory"]}`
	if f.route != "POST /v1/search" || f.body != body || f.token != "Bearer tok" {
		t.Errorf("%s %s with %s", f.route, f.body, f.token)
	}
}

func TestGetAppendAndUpdateCarryEveryField(t *testing.T) {
	f := &fakeService{}
	c := connect(t, f, client.Options{})
	for _, call := range []struct {
		route, body string
		answer      any
		call        func() (any, error)
	}{
		{"GET /v1/notes/memory/a%20b.md?agent=main&from=3&lines=1", "", memory.Excerpt{Path: "a", Text: "a\n", From: 3, Lines: 1, TotalLines: 9, Truncated: true, NextFrom: 4},
			func() (any, error) {
				return c.Get(t.Context(), memory.GetRequest{Path: "memory/a b.md", From: 3, Lines: 1})
			}},
		{"POST /v1/notes", `{"agent":"main","category":"fact","idempotency_key":"k","target":"long_term","text":"x"}`,
			memory.Appended{Path: "MEMORY.md", StartLine: 7, Deduplicated: true, Similar: &memory.SimilarNote{Path: "a", Line: 2, Text: "b"}},
			func() (any, error) {
				return c.Append(t.Context(), memory.Note{Text: "x", Target: memory.TargetLongTerm, Category: "fact", Key: "k"})
			}},
		{"POST /v1/notes:update", `{"agent":"main","new_text":"b","old_text":"a"}`,
			memory.Updated{Path: "MEMORY.md", StartLine: 7, Revision: "r", Secrets: []memory.ReplacedSecret{{Kind: "key", Reference: "ref"}}},
			func() (any, error) { return c.Update(t.Context(), memory.Update{OldText: "a", NewText: "b"}) }},
	} {
		f.answer = call.answer
		got, err := call.call()
		if diff := cmp.Diff(call.answer, got); err != nil || diff != "" || f.route != call.route || f.body != call.body {
			t.Errorf("%s: %s %s, %v\n%s", call.route, f.route, f.body, err, diff)
		}
	}
}

// An error can be tested for: by the name that the service gives it, else by its code. It says what the service says.
func TestClientReturnsErrorsThatCanBeTestedFor(t *testing.T) {
	for _, c := range []struct {
		status int
		answer string
		reason string
		want   error
	}{
		{404, "NOT_FOUND", "", memory.ErrNotFound}, {403, "PERMISSION_DENIED", "", memory.ErrDenied}, {401, "UNAUTHENTICATED", "", memory.ErrDenied},
		{429, "RESOURCE_EXHAUSTED", "", memory.ErrBusy}, {503, "UNAVAILABLE", "", memory.ErrUnreachable},
		{504, "DEADLINE_EXCEEDED", "", context.DeadlineExceeded}, {499, "CANCELLED", "", context.Canceled},
		{400, "FAILED_PRECONDITION", "READ_ONLY", memory.ErrReadOnly}, {400, "FAILED_PRECONDITION", "NOT_WRITABLE", memory.ErrNotWritable},
		{404, "NOT_FOUND", "NO_AGENT", memory.ErrNoAgent}, {503, "UNAVAILABLE", "WORKSPACE_UNAVAILABLE", memory.ErrUnavailable},
	} {
		f := &fakeService{status: c.status, answer: map[string]any{"code": c.answer, "reason": c.reason, "message": "details"}}
		_, err := connect(t, f, client.Options{}).Append(t.Context(), memory.Note{Text: "x"})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), "details") {
			t.Errorf("%s %s: %v is not %v", c.answer, c.reason, err, c.want)
		}
	}
}

func TestClientReturnsInputErrorForBadField(t *testing.T) {
	for _, c := range []struct {
		status int
		answer map[string]any
		want   memory.InputError
	}{
		{400, map[string]any{"code": "INVALID_ARGUMENT", "message": "since: is no day", "fields": []any{map[string]string{"field": "since", "problem": "is no day"}}},
			memory.InputError{Field: "since", Problem: "is no day"}},
		{400, map[string]any{"code": "INVALID_ARGUMENT", "message": "no details"}, memory.InputError{Field: "request", Problem: "no details"}},
		{413, map[string]any{"code": "RESOURCE_EXHAUSTED", "message": "the body is too large", "hint": "send less at a time"},
			memory.InputError{Field: "request", Problem: "is too large: send less at a time"}},
	} {
		_, err := connect(t, &fakeService{status: c.status, answer: c.answer}, client.Options{}).Search(t.Context(), memory.Query{Text: "x"})
		var input *memory.InputError
		if !errors.As(err, &input) || *input != c.want {
			t.Errorf("err = %v, want %+v", err, c.want)
		}
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
