package resolve

import (
	"encoding/json"
	"slices"
	"strings"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

// SummaryKey returns the key by which a summary is forgotten, 64 hexadecimal digits.
func SummaryKey(scope, key string) string {
	return vocab.UnitUID(memory.KindSummary, scope, key) + vocab.UnitUID("key", memory.KindSummary, scope, key)
}

// forgotten returns the keys of one kind that are forgotten.
func forgotten(decisions []unit.Decision, kind string) map[string]bool {
	var keys map[string]bool
	for _, d := range decisions {
		if d.Verb == unit.DecideForget && d.Kind == kind {
			if keys == nil {
				keys = map[string]bool{}
			}
			keys[d.Target] = true
		}
	}
	return keys
}

// decisionsAbout returns the decisions about a run, also under the names that it had before, unless another run has that name now.
func decisionsAbout(decisions []unit.Decision, kind string, r *run, runs []*run) []unit.Decision {
	var about []unit.Decision
	for _, d := range decisions {
		if d.Kind != kind || d.Verb == unit.DecideForget {
			continue
		}
		other := func(o *run) bool { return o != r && o.uid == d.Target }
		if d.Target == r.uid || slices.Contains(r.names, d.Target) && !slices.ContainsFunc(runs, other) {
			about = append(about, d)
		}
	}
	return about
}

// corrections returns what a decision corrects by the names of the fields; none if it corrects nothing.
func corrections(d unit.Decision) (fields map[string]string) {
	if d.Verb == unit.DecideCorrect {
		_ = json.Unmarshal([]byte(d.Change), &fields) // decisions.md is checked before it comes here
	}
	return fields
}

// fold returns the fields that corrections set together, the later ones outranking the earlier ones.
func fold(decisions []unit.Decision) map[string]string {
	fields := map[string]string{}
	for _, d := range decisions {
		for name, value := range corrections(d) {
			if isField(name, value) {
				fields[name] = value
			}
		}
	}
	return fields
}

// isField reports whether a correction may set a field to a value that claims have too.
func isField(name, value string) bool {
	switch name {
	case "text":
		return value != ""
	case "from", "to", "due":
		return value == "" || !start(value).IsZero()
	}
	return false
}

// isPinned reports whether the last decision about the pin is that there is one.
func isPinned(decisions []unit.Decision) bool {
	pinned := false
	for _, d := range decisions {
		if d.Verb == unit.DecidePin || d.Verb == unit.DecideUnpin {
			pinned = d.Verb == unit.DecidePin
		}
	}
	return pinned
}

// settledBy returns the UIDs of the facts over which the last pin of a fact holds; none if it is not pinned.
func settledBy(decisions []unit.Decision) []string {
	if !isPinned(decisions) {
		return nil
	}
	var over []string
	for _, d := range decisions {
		if d.Verb == unit.DecidePin {
			over = strings.Split(d.Other, ",")
		}
	}
	return over
}

// applyDecisions changes the assertions of runs as people have decided, and reports whether it has changed any.
func applyDecisions(v *vocab.Vocabulary, s unit.Slot, runs []*run) bool {
	changed := false
	var settled []string
	for _, r := range runs {
		about := decisionsAbout(s.Decisions, memory.KindFact, r, runs)
		settled = append(settled, settledBy(about)...)
		pin, fields := isPinned(about), fold(about)
		for _, a := range r.list {
			a.names = append([]string{r.uid}, r.names...)
			if pin {
				a.pinned, a.rank = true, pinned
			}
			if len(fields) > 0 {
				a.correct(v, s.Name, fields)
			}
		}
		changed = changed || pin || len(fields) > 0
	}
	for _, r := range runs {
		for _, a := range r.list {
			a.yields = slices.ContainsFunc(a.names, func(name string) bool { return slices.Contains(settled, name) })
		}
	}
	return changed
}

// correct replaces what a person has corrected. Then the claim is that person's.
func (a *assertion) correct(v *vocab.Vocabulary, slot string, fields map[string]string) {
	if t, ok := fields["text"]; ok {
		a.Object, a.ObjectEntity = t, nil
	}
	if from, ok := fields["from"]; ok {
		a.From = from
	}
	if to, ok := fields["to"]; ok {
		a.To = to
	}
	a.corrected, a.rank = true, max(a.rank, human)
	a.place(v, slot)
}

// decideUnit applies decisions to a unit, in their order.
func decideUnit(u memory.Unit, decisions []unit.Decision) memory.Unit {
	if isPinned(decisions) {
		u.Pinned, u.Salience = true, 1
	}
	for _, d := range decisions {
		if level, ok := memory.ParseSensitivity(corrections(d)["sensitivity"]); ok {
			u.Sensitivity = level
		}
	}
	return u
}
