package speed

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

func TestServeMemoryAnswersAsInTheProcess(t *testing.T) {
	e := newEnv(t)
	m, err := e.fixtures.index(t.Context(), 300, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := serveMemory(t.Context(), m, e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var over, within []string
	for _, q := range questions(5) {
		resp, err := s.client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: m.Agent(), Query: q})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range resp.GetResults() {
			over = append(over, r.GetPath())
		}
		a, err := m.Search(t.Context(), memory.Query{Text: q})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range a.Hits {
			within = append(within, h.Path)
		}
	}
	if diff := cmp.Diff(within, over); diff != "" || len(over) == 0 {
		t.Errorf("%d results %s", len(over), diff)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if _, err := s.client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: m.Agent(), Query: "x"}); err == nil {
		t.Error("it answers after its end")
	}
}

func TestGRPCOverheadEndsWithItsContext(t *testing.T) {
	e := newEnv(t)
	ctx, cancel := context.WithCancel(t.Context())
	e.Step = func(done, _ int) {
		if done == 1 {
			cancel()
		}
	}
	if _, _, err := grpcOverhead(ctx, e); err == nil || ctx.Err() == nil {
		t.Errorf("got %v, context %v", err, ctx.Err())
	}
}

// Every door answers what gRPC answers before it is measured.
func TestDoorsAnswerAsGRPC(t *testing.T) {
	e := newEnv(t)
	m, err := e.fixtures.index(t.Context(), 300, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := serveMemory(t.Context(), m, e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	session, err := s.openMCP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := questions(1)[0]
	if err := errors.Join(s.askGRPC(t.Context(), q), s.askHTTP(t.Context(), q), askMCP(t.Context(), session, q)); err != nil {
		t.Error(err)
	}
	if s.askHTTP(t.Context(), "") == nil || askMCP(t.Context(), session, "") == nil {
		t.Error("an error counts as an answer")
	}
	if err := errors.Join(session.Close(), s.stop()); err != nil {
		t.Error(err)
	}
}
