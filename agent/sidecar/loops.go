package sidecar

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"kioku/agent/prompt"
	"kioku/agent/recall"
	"kioku/derive/vocab"
	"kioku/memory"
)

const (
	// loopsTime is how long a session waits for open loops at its start.
	loopsTime = 500 * time.Millisecond
	// loopDays is how many days before it is due an open loop is shown at the start of a session, and maxLoops how many are.
	loopDays, maxLoops = 14, 5
)

// DueLoops returns the open loops that are overdue or due soon, the first to be due first, for the start of a private session; none if
// derivation is off.
func (s *Sidecar) DueLoops(ctx context.Context) (found []prompt.Memory) {
	ctx, cancel := context.WithTimeout(ctx, loopsTime)
	defer cancel()
	list, err := memory.UnitsOf(ctx, s.opt.Memories(s.opt.Agent), memory.UnitQuery{Kinds: []string{memory.KindLoop}, MaxSensitivity: memory.Private, Limit: 1000}, "")
	if err != nil {
		if !errors.Is(err, memory.ErrDeriveOff) {
			s.opt.Log.Debug("no open loops", "agent", s.opt.Agent, "err", err)
		}
		return nil
	}
	last := s.opt.Now().AddDate(0, 0, loopDays).Format(time.DateOnly)
	due := slices.DeleteFunc(list.Units, func(u memory.Unit) bool {
		return u.Loop == nil || u.Loop.Status != memory.LoopOpen || u.Loop.Due == "" || u.Loop.Due > last || len(u.Evidence) == 0 || vocab.OrdersProgram(vocab.Text(u))
	})
	slices.SortStableFunc(due, func(a, b memory.Unit) int { return cmp.Compare(a.Loop.Due, b.Loop.Due) })
	for _, u := range due[:min(len(due), maxLoops)] {
		m := recall.OfUnit(s.opt.Agent, u, vocab.Text(u))
		m.Score = u.Confidence
		found = append(found, m)
	}
	return found
}
