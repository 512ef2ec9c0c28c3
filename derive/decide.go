package derive

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kioku/derive/decision"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

// maxText is the maximum number of characters of a corrected text.
const maxText = 600

// Decide appends a line to derived/decisions.md and applies it before it returns. The verbs are the constants memory.Decide.... It returns memory.ErrNoUnit for a unit or entity that is not known, and a
// *memory.InputError for what does not fit, such as closing a fact.
func (s *Service) Decide(ctx context.Context, r unit.DecisionRequest) (unit.Decided, error) {
	if utf8.RuneCountInString(r.Note) > 500 {
		return unit.Decided{}, &memory.InputError{Field: "note", Problem: "must have at most 500 characters"}
	}
	switch r.Verb {
	case unit.DecideMerge, unit.DecideSplit:
		return s.decideEntity(ctx, r)
	case unit.DecideForget:
		return s.forget(ctx, r)
	}
	u, err := s.Unit(ctx, r.ID, memory.Secret)
	if err != nil {
		return unit.Decided{}, err
	}
	d, err := decisionOf(r, u)
	if err != nil {
		return unit.Decided{}, err
	}
	if r.Verb == unit.DecideUndo {
		if err := s.checkUndo(ctx, u); err != nil {
			return unit.Decided{}, err
		}
	}
	line, err := s.recordDecision(ctx, d)
	if err != nil {
		return unit.Decided{}, err
	}
	if u.Kind == memory.KindSummary { // one whose correction is undone is made anew
		if err := s.summarize(ctx, s.opt.Now()); err != nil {
			return unit.Decided{Line: line}, err
		}
	}
	now, err := s.Unit(ctx, u.UID, memory.Secret)
	if err != nil {
		return unit.Decided{Line: line}, err
	}
	return unit.Decided{Unit: &now, Line: line}, nil
}

// checkUndo returns a *memory.InputError if there is no decision about a unit.
func (s *Service) checkUndo(ctx context.Context, u memory.Unit) error {
	if err := s.applyDecisions(ctx, passOptions{}); err != nil {
		return err
	}
	if !slices.ContainsFunc(s.recall().decisions, func(d unit.Decision) bool { return d.Target == u.UID }) {
		return &memory.InputError{Field: "id", Problem: "has no decision that could be undone; pin or correct it, or change the notes"}
	}
	return nil
}

// decisionOf returns the decision that a request makes about a unit.
func decisionOf(r unit.DecisionRequest, u memory.Unit) (d unit.Decision, err error) {
	d = unit.Decision{Verb: r.Verb, Kind: u.Kind, Target: u.UID, Note: r.Note}
	switch r.Verb {
	case unit.DecidePin:
		if u.Fact != nil {
			d.Other = strings.Join(u.Fact.Opposes, ",")
		}
	case unit.DecideUnpin, unit.DecideUndo:
	case unit.DecideClose, unit.DecideReopen:
		if u.Kind != memory.KindLoop {
			return d, &memory.InputError{Field: "id", Problem: fmt.Sprintf("is a %s; only loops are closed and opened again", u.Kind)}
		}
	case unit.DecideCorrect:
		if err := checkCorrection(r.Set, u); err != nil {
			return d, err
		}
		d.Change, err = decision.Change(r.Set)
	default:
		err = &memory.InputError{Field: "verb", Problem: fmt.Sprintf("%q is none of pin, unpin, forget, correct, close, reopen, merge, split and undo", r.Verb)}
	}
	return d, err
}

// checkCorrection returns a *memory.InputError if a unit cannot be corrected like that.
func checkCorrection(c unit.Correction, u memory.Unit) error {
	for _, bound := range []struct {
		field string
		text  *string
		kind  string
	}{{"valid_from", c.From, memory.KindFact}, {"valid_to", c.To, memory.KindFact}, {"due", c.Due, memory.KindLoop}} {
		if bound.text == nil {
			continue
		}
		_, _, isPeriod := text.Period(*bound.text)
		switch isDay := isPeriod && len(*bound.text) == len(time.DateOnly); {
		case u.Kind != bound.kind:
			return &memory.InputError{Field: bound.field, Problem: fmt.Sprintf("is for a %s, and this is a %s", bound.kind, u.Kind)}
		case *bound.text == "" || isDay:
		case bound.kind == memory.KindLoop:
			return &memory.InputError{Field: bound.field, Problem: "must be a day such as 2026-10-05"}
		case !isPeriod:
			return &memory.InputError{Field: bound.field, Problem: "must be a day such as 2026-10-05, a month such as 2026-10 or a year"}
		}
	}
	if utf8.RuneCountInString(c.Text) > maxText {
		return &memory.InputError{Field: "text", Problem: fmt.Sprintf("must have at most %d characters", maxText)}
	}
	if u.Kind == memory.KindFact && c.Text != "" && vocab.NormObject(c.Text) == "" {
		return &memory.InputError{Field: "text", Problem: "must contain a letter or a digit"}
	}
	if c.Sensitivity != nil && (*c.Sensitivity < memory.Normal || *c.Sensitivity > memory.Secret) {
		return &memory.InputError{Field: "sensitivity", Problem: "must be normal, private or secret"}
	}
	from, to := bounds(c, u)
	if from != "" && to != "" && !beforePeriod(from, to) {
		return &memory.InputError{Field: "valid_to", Problem: fmt.Sprintf("%s is not after %s, from which it holds", to, from)}
	}
	return nil
}

// bounds returns the bounds of a fact after a correction.
func bounds(c unit.Correction, u memory.Unit) (from, to string) {
	if u.Fact == nil {
		return "", ""
	}
	from, to = u.Fact.From, u.Fact.To
	if c.From != nil {
		from = *c.From
	}
	if c.To != nil {
		to = *c.To
	}
	return from, to
}

// beforePeriod reports whether one day, month or year lies before another one, compared at the shorter of the two.
func beforePeriod(a, b string) bool {
	n := min(len(a), len(b))
	return a[:n] < b[:n] || a[:n] == b[:n] && len(a) < len(b)
}

// decideEntity merges or splits entities.
func (s *Service) decideEntity(ctx context.Context, r unit.DecisionRequest) (unit.Decided, error) {
	e, err := s.entity(ctx, "id", r.ID, memory.Secret)
	if err != nil {
		return unit.Decided{}, err
	}
	d := unit.Decision{Verb: r.Verb, Kind: decision.KindEntity, Target: e.UID, Note: r.Note}
	switch {
	case r.Verb == unit.DecideSplit && e.MergedInto == "":
		return unit.Decided{}, &memory.InputError{Field: "id", Problem: "is not merged into another entity"}
	case r.Verb == unit.DecideMerge:
		into, err := s.entity(ctx, "into", r.Into, memory.Secret)
		if err != nil {
			return unit.Decided{}, err
		}
		if err := s.checkMerge(ctx, e, into); err != nil {
			return unit.Decided{}, err
		}
		d.Other = into.UID
	}
	line, err := s.recordDecision(ctx, d)
	if err != nil {
		return unit.Decided{}, err
	}
	now, err := s.entity(ctx, "id", e.UID, memory.Secret)
	if err != nil {
		return unit.Decided{Line: line}, err
	}
	return unit.Decided{Entity: &now, Line: line}, nil
}

// checkMerge returns a *memory.InputError if one entity cannot become another name of a second one.
func (s *Service) checkMerge(ctx context.Context, e, into unit.Entity) error {
	user := vocab.EntityUID(vocab.User())
	for hops := 0; into.UID != e.UID; hops++ {
		if into.MergedInto == "" || hops > 100 {
			if e.UID == user {
				return &memory.InputError{Field: "id", Problem: "is the owner of the memory, who cannot be another name; merge the other way round"}
			}
			return nil
		}
		next, err := s.entity(ctx, "into", into.MergedInto, memory.Secret)
		if err != nil {
			return err
		}
		into = next
	}
	return &memory.InputError{Field: "into", Problem: "is the same entity, or already another name of it"}
}

// withRoot runs f with the open folder of the notes.
func (s *Service) withRoot(f func(*os.Root) error) error {
	root, err := os.OpenRoot(s.notes.Workspace())
	if err != nil {
		return fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	return f(root)
}

// reapplyEvery is how often decisions.md is applied although it has not changed: the index may have been replaced.
const reapplyEvery = time.Hour

// applyDecisions reads decisions.md, and applies it if it has changed since, or was not applied for a while.
func (s *Service) applyDecisions(ctx context.Context, o passOptions) error {
	leave, err := enter(ctx, s.deciding)
	if err != nil {
		return err
	}
	defer leave()
	return s.readDecisions(ctx, o.now)
}

// readDecisions is applyDecisions for who has the token of s.deciding. With always the file is applied even if it has not changed.
func (s *Service) readDecisions(ctx context.Context, always bool) error {
	var file decision.File
	err := s.withRoot(func(root *os.Root) (err error) {
		file, err = decision.Read(root)
		return err
	})
	if err != nil {
		return err
	}
	now, st, sum := s.opt.Now(), s.recall(), fmt.Sprintf("%x", file.SHA256)
	if !always && sum == st.decisionsSum && now.Sub(st.appliedAt) < reapplyEvery {
		return nil
	}
	if err := s.store.PutDecisions(ctx, file.Decisions); err != nil {
		return err
	}
	changed := sum != st.decisionsSum
	s.remember(func(st *state) {
		st.decisions, st.decisionsSum, st.appliedAt = file.Decisions, sum, now
		if changed {
			st.viewsStale = true
		}
	})
	return nil
}

// recordDecision appends a decision to decisions.md, applies the file, and makes anew what depends on it. It returns the line.
func (s *Service) recordDecision(ctx context.Context, d unit.Decision) (line string, err error) {
	leave, err := enter(ctx, s.deciding)
	if err != nil {
		return "", err
	}
	defer leave()
	d.Day = s.opt.Now().Format(time.DateOnly)
	err = s.withRoot(func(root *os.Root) (err error) {
		line, err = decision.Append(ctx, root, d)
		return err
	})
	if err != nil {
		return "", err
	}
	// What is written counts, so that a caller who goes away does not keep it from being applied.
	ctx = context.WithoutCancel(ctx)
	if err := s.readDecisions(ctx, true); err != nil {
		return line, err
	}
	if err := s.resolveSlots(ctx, passOptions{}); err != nil {
		return line, err
	}
	s.Wake()
	return line, nil
}
