package sidecar_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"kioku/agent/sidecar"
)

// A council's pause ends by the clock, its directives are in the prompt, and a council that is away says what it has said last.
func TestObeyStopsAPausedAgent(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering())
	now := noon
	orders := sidecar.Orders{PausedUntil: noon.Add(5 * time.Minute), Reason: "too chatty", Directives: []string{"keep it\nshort"}}
	var away error
	opt.Now = func() time.Time { return now }
	opt.Orders = func(_ context.Context, agent string, _ bool) (sidecar.Orders, error) {
		if agent != "main" {
			t.Errorf("orders for %q", agent)
		}
		return orders, away
	}
	s := start(t, opt)
	stopped := func() *sidecar.PausedError {
		_, err := s.Obey(t.Context(), question)
		paused, _ := errors.AsType[*sidecar.PausedError](err)
		return paused
	}
	if p := stopped(); p == nil || p.Until != noon.Add(5*time.Minute) || !strings.Contains(p.Error(), "too chatty") {
		t.Errorf("at once: %v", p)
	}
	away, orders = errors.New("connection refused"), sidecar.Orders{}
	if stopped() == nil {
		t.Error("an agent whose council is away forgets its pause")
	}
	now = noon.Add(5 * time.Minute)
	turn, err := s.Obey(t.Context(), question)
	if err != nil {
		t.Fatalf("after the pause: %v", err)
	}
	if p := s.Assemble(t.Context(), turn); !strings.Contains(p.Prompt, "- Directive of the council that you belong to: keep it short\n") {
		t.Errorf("the prompt has no directive:\n%s", p.Prompt)
	}
	away = nil
	if turn, err := s.Obey(t.Context(), question); err != nil || turn.Directives != nil {
		t.Errorf("a council that says nothing: %v, %q", err, turn.Directives)
	}
}
