package resolve

import (
	"maps"
	"slices"
	"strconv"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

// Version is the number of these rules of resolution. Units that were made by rules of another version are made anew.
const Version = 3

// Units returns a function that resolves slots of facts and of loops, with a vocabulary.
func Units(v *vocab.Vocabulary) func(unit.Slot) []memory.Unit {
	return func(s unit.Slot) []memory.Unit {
		if s.Kind == memory.KindLoop {
			return Loops(s)
		}
		return Facts(v, s)
	}
}

// Facts returns the facts that the claims of a slot and the decisions about it make, by the time from which they hold. It returns
// none if there are no claims, or all are forgotten.
func Facts(v *vocab.Vocabulary, s unit.Slot) []memory.Unit {
	class, _ := v.Class(s.Name)
	list := assertions(v, s)
	runs := slotRuns(class, list)
	nameRuns(s.Subject, runs)
	if applyDecisions(v, s, runs) {
		runs = slotRuns(class, list)
		nameRuns(s.Subject, runs)
	}
	units := make([]memory.Unit, 0, len(runs))
	for _, r := range runs {
		units = append(units, decideUnit(r.unit(s), decisionsAbout(s.Decisions, memory.KindFact, r, runs)))
	}
	return units
}

// slotRuns returns the runs of all groups of a slot.
func slotRuns(class vocab.Class, list []*assertion) []*run {
	groups := map[string][]*assertion{}
	for _, a := range list {
		groups[a.group] = append(groups[a.group], a)
	}
	var runs []*run
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		members := groups[group]
		slices.SortFunc(members, compareAssertions)
		if class == vocab.Event {
			runs = append(runs, events(members)...)
		} else {
			runs = append(runs, timeline(members)...)
		}
	}
	return runs
}

// nameRuns gives runs their UIDs: of subject, predicate, object and the ordinal among runs with the same ones. A run keeps the UID
// that its first assertion had before corrections and pins. The day from which a fact holds is no part of it, so that a later note
// that knows the day does not make another fact of it.
func nameRuns(subject memory.EntityRef, runs []*run) {
	used := map[string]bool{}
	for _, r := range runs {
		for _, a := range preferred(r.list) {
			if len(a.names) == 0 {
				continue
			}
			r.names = append(r.names, a.names...)
			if r.uid == "" && !used[a.names[0]] {
				r.uid, used[a.names[0]] = a.names[0], true
			}
		}
	}
	ordinals := map[string]int{}
	for _, r := range runs {
		object := objectNorm(r.list[0].Object)
		for r.uid == "" {
			ordinal := ordinals[r.predicate()+"\x00"+object]
			ordinals[r.predicate()+"\x00"+object]++
			if uid := factUID(subject, r.predicate(), object, ordinal); !used[uid] {
				r.uid, used[uid] = uid, true
				r.names = append(r.names, aliases(r, subject, object, ordinal)...)
			}
		}
	}
}

// preferred returns assertions with those first whose fact a person has corrected or pinned.
func preferred(list []*assertion) []*assertion {
	byPeople := func(a *assertion) bool { return a.corrected || a.pinned }
	var first, rest []*assertion
	for _, a := range list {
		if byPeople(a) {
			first = append(first, a)
		} else {
			rest = append(rest, a)
		}
	}
	return append(first, rest...)
}

func factUID(subject memory.EntityRef, predicate, object string, ordinal int) string {
	return vocab.UnitUID(memory.KindFact, vocab.EntityUID(subject), predicate, object, strconv.Itoa(ordinal))
}

// aliases returns the UIDs of a run under the names that its subject had before entities were merged.
func aliases(r *run, subject memory.EntityRef, object string, ordinal int) []string {
	var uids []string
	for _, a := range r.list {
		if a.Subject == subject || a.Subject == (memory.EntityRef{}) {
			continue
		}
		if uid := factUID(a.Subject, r.predicate(), object, ordinal); uid != r.uid && !slices.Contains(uids, uid) {
			uids = append(uids, uid)
		}
	}
	return uids
}
