package derive

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kioku/derive/decision"
	"kioku/derive/resolve"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

// forget forgets a unit: a decision with the hash of what it says, so that it never comes back, not even from other notes that say
// the same. The views are written anew at once. It returns the lines that still do, those of decisions.md among them, and where older versions of these notes are kept.
func (s *Service) forget(ctx context.Context, r unit.DecisionRequest) (unit.Decided, error) {
	u, err := s.Unit(ctx, r.ID, memory.Secret)
	if err != nil {
		return unit.Decided{}, err
	}
	remaining, quotes, err := s.saying(ctx, u)
	if err != nil {
		return unit.Decided{}, err
	}
	line, err := s.recordDecision(ctx, unit.Decision{Verb: unit.DecideForget, Kind: u.Kind, Target: forgetKey(u), Note: r.Note})
	if err != nil {
		return unit.Decided{}, err
	}
	if s.writesViews() {
		if err := s.makePages(context.WithoutCancel(ctx), s.opt.Now()); err != nil {
			return unit.Decided{}, err
		}
	}
	older, err := s.notes.ForgetPast(ctx, pathsOf(remaining), quotes)
	return unit.Decided{Line: line, Remaining: slices.Concat(remaining, s.correcting(u.UID), older)}, err
}

// correcting returns the lines of decisions.md with what a person has corrected a unit to. They stay, because the file is only
// appended to.
func (s *Service) correcting(uid string) []string {
	var lines []string
	for _, d := range s.recall().decisions {
		if d.Verb == unit.DecideCorrect && d.Target == uid {
			lines = append(lines, place(decision.Path, d.Line, d.Line))
		}
	}
	return lines
}

// pathsOf returns the files of places.
func pathsOf(places []string) []string {
	var paths []string
	for _, p := range places {
		path, _, _ := strings.Cut(p, "#")
		paths = append(paths, path)
	}
	return slices.Compact(paths)
}

// forgetKey returns the hash by which a unit is recognised after it is forgotten.
func forgetKey(u memory.Unit) string {
	switch {
	case u.Fact != nil:
		return u.Fact.Key
	case u.Loop != nil:
		return u.Loop.Key
	}
	return resolve.SummaryKey(u.Summary.Scope, u.Summary.Key)
}

// saying returns the lines of notes that say what a unit says, "path#L3-L9", in order, and what they say: the evidence of all units with
// its key.
func (s *Service) saying(ctx context.Context, u memory.Unit) (lines, quotes []string, err error) {
	same := []memory.Unit{u}
	if u.Fact != nil {
		list, err := s.store.Units(ctx, memory.UnitQuery{
			Kinds: []string{memory.KindFact}, Entity: vocab.EntityUID(u.Fact.Subject), Predicate: u.Fact.Predicate,
			IncludeSuperseded: true, MaxSensitivity: memory.Secret, Limit: 1000,
		})
		if err != nil {
			return nil, nil, err
		}
		for _, other := range list.Units {
			if other.Fact != nil && other.Fact.Key == u.Fact.Key {
				same = append(same, other)
			}
		}
	}
	var places []memory.Evidence
	for _, other := range same {
		places = append(places, other.Evidence...)
	}
	slices.SortFunc(places, func(a, b memory.Evidence) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return a.StartLine - b.StartLine
	})
	for _, e := range places {
		lines = append(lines, place(e.Path, e.StartLine, e.EndLine))
		if q := strings.TrimSpace(e.Quote); q != "" {
			quotes = append(quotes, q)
		}
	}
	return slices.Compact(lines), quotes, nil
}

// place returns lines of a file as people cite them.
func place(path string, start, end int) string {
	if end <= start {
		return fmt.Sprintf("%s#L%d", path, start)
	}
	return fmt.Sprintf("%s#L%d-L%d", path, start, end)
}
