package speed

import (
	"context"
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
	c, stop, err := serveMemory(t.Context(), m, e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var over, within []string
	for _, q := range questions(5) {
		resp, err := c.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: m.Agent(), Query: q})
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
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := c.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: m.Agent(), Query: "x"}); err == nil {
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
