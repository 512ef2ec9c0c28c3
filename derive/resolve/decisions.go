package resolve

import (
	"encoding/json"
	"slices"
	"strings"

	"kioku/derive/seam"
	"kioku/derive/vocab"
	"kioku/memory"
)

// SummaryKey returns the key by which a summary is forgotten, 64 hexadecimal digits.
func SummaryKey(scope, key string) string {
	return vocab.UnitUID(memory.KindSummary, scope, key) + vocab.UnitUID("key", memory.KindSummary, scope, key)
}

// forgotten returns the keys of one kind that are forgotten.
func forgotten(decisions []memory.Decision, kind string) map[string]bool {
	var keys map[string]bool
	for _, d := range decisions {
		if d.Verb == memory.DecideForget && d.Kind == kind {
			if keys == nil {
				keys = map[string]bool{}
			}
			keys[d.Target] = true
		}
	}
	return keys
}

// decisionsAbout returns the decisions about a run, also under the names that it had before, unless another run has that name now.
func decisionsAbout(decisions []memory.Decision, kind string, r *run, runs []*run) []memory.Decision {
	var about []memory.Decision
	for _, d := range decisions {
		if d.Kind != kind || d.Verb == memory.DecideForget {
			continue
		}
		other := func(o *run) bool { return o != r && o.uid == d.Target }
		if d.Target == r.uid || slices.Contains(r.names, d.Target) && !slices.ContainsFunc(runs, other) {
			about = append(about, d)
		}
	}
	return about
}

// change is what a correction sets.
type change struct {
	// whole is the unit that takes the place of what the claims make; nil for single fields.
	whole *memory.Unit
	// fields by their names.
	fields map[string]string
}

func (c change) text() string { return c.fields["text"] }

// changeOf returns what a decision corrects; the zero value if it corrects nothing.
func changeOf(d memory.Decision) change {
	var c change
	if d.Verb != memory.DecideCorrect {
		return c
	}
	var probe map[string]json.RawMessage
	if json.Unmarshal([]byte(d.Change), &probe) != nil {
		return c
	}
	if _, ok := probe["Kind"]; ok {
		if u := new(memory.Unit); json.Unmarshal([]byte(d.Change), u) == nil && u.Kind == d.Kind {
			c.whole = u
		}
		return c
	}
	if json.Unmarshal([]byte(d.Change), &c.fields) != nil {
		c.fields = nil
	}
	return c
}

// fold returns the fields that corrections set together, the later ones outranking the earlier ones. A whole unit resets them.
func fold(decisions []memory.Decision) map[string]string {
	fields := map[string]string{}
	for _, d := range decisions {
		c := changeOf(d)
		if c.whole != nil {
			clear(fields)
		}
		if t := c.text(); t != "" {
			fields["text"] = t
		}
		for _, name := range []string{"from", "to", "due"} {
			if value, ok := c.fields[name]; ok && (value == "" || !start(value).IsZero()) {
				fields[name] = value
			}
		}
	}
	return fields
}

// restored reports whether a correction has set a unit as a whole.
func restored(decisions []memory.Decision) bool {
	return slices.ContainsFunc(decisions, func(d memory.Decision) bool { return changeOf(d).whole != nil })
}

// isPinned reports whether the last decision about the pin is that there is one.
func isPinned(decisions []memory.Decision) bool {
	pinned := false
	for _, d := range decisions {
		switch c := changeOf(d); {
		case d.Verb == memory.DecidePin:
			pinned = true
		case d.Verb == memory.DecideUnpin:
			pinned = false
		case c.whole != nil:
			pinned = c.whole.Pinned
		}
	}
	return pinned
}

// settledBy returns the UIDs of the facts over which the last pin of a fact holds; none if it is not pinned.
func settledBy(decisions []memory.Decision) []string {
	if !isPinned(decisions) {
		return nil
	}
	var over []string
	for _, d := range decisions {
		if d.Verb == memory.DecidePin {
			over = strings.Split(d.Other, ",")
		}
	}
	return over
}

// applyDecisions changes the assertions of runs as people have decided, and reports whether it has changed any.
func applyDecisions(v *vocab.Vocabulary, s seam.Slot, runs []*run) bool {
	changed := false
	var settled []string
	for _, r := range runs {
		about := decisionsAbout(s.Decisions, memory.KindFact, r, runs)
		settled = append(settled, settledBy(about)...)
		pin, fields := isPinned(about), map[string]string{}
		if !restored(about) {
			fields = fold(about)
		}
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
func decideUnit(u memory.Unit, decisions []memory.Decision) memory.Unit {
	salience := u.Salience
	for i, d := range decisions {
		switch d.Verb {
		case memory.DecidePin:
			u.Pinned, u.Salience = true, 1
		case memory.DecideUnpin:
			u.Pinned, u.Salience = false, salience
		case memory.DecideSensitivity:
			u.Sensitivity = level(d.Change, u.Sensitivity)
		case memory.DecideCorrect:
			c := changeOf(d)
			u.Sensitivity = level(c.fields["sensitivity"], u.Sensitivity)
			if c.whole != nil {
				u = restore(u, *c.whole)
				correctRestored(&u, fold(decisions[i+1:]))
			}
		}
	}
	return u
}

// restore returns a unit as a person wants it, with the evidence that there is now.
func restore(now, want memory.Unit) memory.Unit {
	want.UID, want.ID, want.Version = now.UID, 0, 0
	want.RecordedAt, want.ChangedAt = now.RecordedAt, now.ChangedAt
	want.Evidence = now.Evidence
	if now.Fact != nil && want.Fact != nil && want.Fact.Subject != now.Fact.Subject { // merged since
		fact := *want.Fact
		fact.Subject, fact.Key = now.Fact.Subject, vocab.FactKey(now.Fact.Subject, fact.Predicate, fact.Object)
		want.Fact = &fact
	}
	return want
}

// correctRestored sets the fields that were corrected after a unit was restored.
func correctRestored(u *memory.Unit, fields map[string]string) {
	for name, value := range fields {
		switch {
		case name == "text" && u.Fact != nil:
			u.Fact.Object, u.Fact.ObjectEntity = value, nil
			u.Fact.Key = vocab.FactKey(u.Fact.Subject, u.Fact.Predicate, value)
		case name == "from" && u.Fact != nil:
			u.Fact.From = value
		case name == "to" && u.Fact != nil:
			u.Fact.To = value
		case name == "text" && u.Loop != nil:
			u.Loop.Text = value
		case name == "due" && u.Loop != nil:
			u.Loop.Due = value
		case name == "text" && u.Summary != nil:
			u.Summary.Text = value
		}
	}
}

// level returns the sensitivity with a name, or another one if there is none.
func level(name string, otherwise memory.Sensitivity) memory.Sensitivity {
	if s, ok := memory.ParseSensitivity(name); ok {
		return s
	}
	return otherwise
}
