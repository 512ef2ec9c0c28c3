package derive

import (
	"context"
	"fmt"
	"strings"

	"kioku/derive/decision"
	"kioku/derive/resolve"
	"kioku/derive/unit"
	"kioku/memory"
)

// undo gives a unit what it said in the version before its last change: by the opposite of a pin that was set or taken away since, else by
// corrections of the fields that differ. First those that a person had corrected, and if claims have changed since, or a state or an end
// is to be taken back, the rest as it was.
func (s *Service) undo(ctx context.Context, u memory.Unit, note string) (lines []string, err error) {
	if err := s.applyDecisions(ctx, passOptions{}); err != nil {
		return nil, err
	}
	now, then, err := s.versionBefore(ctx, u)
	if err != nil {
		return nil, err
	}
	before, err := unit.Version{Payload: then}.Was()
	if err != nil {
		return nil, fmt.Errorf("read a version of %s: %w", u.UID, err)
	}
	d := unit.Decision{Verb: unit.DecideCorrect, Kind: u.Kind, Target: u.UID, Note: note}
	if u.Pinned != before.Pinned {
		d.Verb = map[bool]string{true: unit.DecidePin, false: unit.DecideUnpin}[before.Pinned]
		line, err := s.recordDecision(ctx, d)
		return []string{line}, err
	}
	change, err := s.uncorrecting(u, before)
	if err != nil {
		return nil, err
	}
	d.Change = change
	if change != "" {
		line, err := s.recordDecision(ctx, d)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
		if now, err = s.lastVersion(ctx, u.UID); err != nil {
			return lines, err
		}
	}
	if u.Kind == memory.KindSummary { // its text is all that a person sets
		return lines, nil
	}
	if d.Change, err = resolve.Was(now, then); err != nil || d.Change == "" {
		return lines, err
	}
	line, err := s.recordDecision(ctx, d)
	return append(lines, line), err
}

// versionBefore returns what a unit says, and what it said before that, as payloads.
func (s *Service) versionBefore(ctx context.Context, u memory.Unit) (now, then string, err error) {
	versions, err := s.store.History(ctx, u.UID)
	if err != nil {
		return "", "", err
	}
	for _, v := range versions {
		if v.Version < u.Version && v.Payload != versions[0].Payload {
			return versions[0].Payload, v.Payload, nil
		}
	}
	return "", "", &memory.InputError{Field: "id", Problem: "has no earlier version"}
}

// lastVersion returns what a unit says, as a payload.
func (s *Service) lastVersion(ctx context.Context, uid string) (string, error) {
	versions, err := s.store.History(ctx, uid)
	if err != nil || len(versions) == 0 {
		return "", fmt.Errorf("read the last version of %s: %w", uid, err)
	}
	return versions[0].Payload, nil
}

// uncorrecting returns the change that sets corrected fields of a unit to what they were: what a person had corrected it to, or
// what the notes say. It is empty if none differ.
func (s *Service) uncorrecting(u, then memory.Unit) (string, error) {
	var about []unit.Decision
	for _, d := range s.recall().decisions {
		if d.Target == u.UID {
			about = append(about, d)
		}
	}
	before, fields := fieldsOf(then), map[string]*string{}
	for name, value := range resolve.Corrected(about) {
		if was, ok := before[name]; u.Kind == memory.KindSummary || then.Source == "person" && ok && strings.TrimSpace(was) != "" {
			if was != value {
				fields[name] = &was
			}
			continue
		}
		fields[name] = nil
	}
	if then.Sensitivity != u.Sensitivity {
		level := then.Sensitivity.String()
		fields["sensitivity"] = &level
	}
	return decision.ChangeOf(fields)
}

// fieldsOf returns the fields of a unit that a person can correct, by name.
func fieldsOf(u memory.Unit) map[string]string {
	switch {
	case u.Fact != nil:
		return map[string]string{"text": u.Fact.Object, "from": u.Fact.From, "to": u.Fact.To}
	case u.Loop != nil:
		return map[string]string{"text": u.Loop.Text, "due": u.Loop.Due}
	case u.Summary != nil:
		return map[string]string{"text": u.Summary.Text}
	}
	return nil
}
