package sidecar

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"kioku/agent/bootstrap"
	"kioku/agent/prompt"
	"kioku/agent/recall"
	"kioku/derive/vocab"
	"kioku/memory"
)

// preferencesTime is how long a turn waits for derived preferences.
const preferencesTime = 500 * time.Millisecond

// preferences returns what was derived about the wishes of the user, best worth first, for a resolved turn; none if derivation is off.
func (s *Sidecar) preferences(ctx context.Context, t Turn) (found []prompt.Memory) {
	if t.Mode != bootstrap.Full || *t.Group {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, preferencesTime)
	defer cancel()
	list, err := memory.UnitsOf(ctx, s.opt.Memories(s.opt.Agent), memory.UnitQuery{
		Kinds: []string{memory.KindFact}, Entity: vocab.EntityUID(vocab.User()), States: []string{memory.StateValidated}, MaxSensitivity: memory.Private, Limit: 1000,
	}, "")
	if err != nil {
		if !errors.Is(err, memory.ErrDeriveOff) {
			s.opt.Log.Debug("no derived preferences", "agent", s.opt.Agent, "err", err)
		}
		return nil
	}
	slices.SortStableFunc(list.Units, func(a, b memory.Unit) int { return cmp.Compare(b.Worth(t.Now), a.Worth(t.Now)) })
	for _, u := range list.Units {
		if u.Fact == nil || !vocab.IsPreference(u.Fact.Predicate) || !vocab.IsUser(u.Fact.Subject) || len(u.Evidence) == 0 {
			continue
		}
		if said := vocab.Text(u); !vocab.OrdersProgram(said) {
			m := recall.OfUnit(s.opt.Agent, u, said)
			m.Score = u.Confidence
			found = append(found, m)
		}
	}
	return found
}

// FrameInput returns the input of [prompt.Frame] for memories of a turn, with the standing instructions and preferences if Turn.Standing
// is set.
func (s *Sidecar) FrameInput(ctx context.Context, t Turn, memories []prompt.Memory) prompt.Input {
	t.Mode = bootstrap.Full
	t = s.resolve(t)
	in := s.input(t, memories)
	in.MaxRecalled = 0
	if t.Standing {
		in.Files, in.Preferences = s.files.Load(t.Mode, *t.Group), s.preferences(ctx, t)
	}
	return in
}
