package resolve

import (
	"slices"
	"time"

	"kioku/memory"
)

// run is one fact: an object in a row.
type run struct {
	group, value string
	list         []*assertion
	// start is zero if it is not known.
	start time.Time
	// from and to bound it, to excluded; empty if they are not known. end is to as a time.
	from, to string
	end      time.Time
	// closedBy is the run that has taken its place, nil if none has. contested reports that others contradict it, of which opposes
	// are some, and beaten that one of them has as much authority.
	closedBy *run
	closer   authority // of the assertions with which closedBy did
	// endLevel is the least sensitivity of those of them that tell the same end.
	endLevel          memory.Sensitivity
	opposes           []*run
	contested, beaten bool
	// uid names it, and names are also those that it had before corrections and merges.
	uid   string
	names []string
}

func (r *run) rank() authority { return rankOf(r.list) }

// rankOf returns the most authority that one of assertions has.
func rankOf(list []*assertion) authority {
	rank := machine
	for _, a := range list {
		rank = max(rank, a.rank)
	}
	return rank
}

func (r *run) pinned() bool {
	return slices.ContainsFunc(r.list, func(a *assertion) bool { return a.pinned })
}

// yields reports whether a person has preferred another fact.
func (r *run) yields() bool {
	return !r.pinned() && !slices.ContainsFunc(r.list, func(a *assertion) bool { return !a.yields })
}

// predicate of all its assertions.
func (r *run) predicate() string { return r.list[0].Predicate }

// timeline returns the runs of one group of assertions, by start.
func timeline(list []*assertion) []*run {
	var t line
	undated := 0
	for undated < len(list) && list[undated].at.IsZero() {
		undated++ // the zero time is the first
	}
	for rest := list[undated:]; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].at.Equal(rest[0].at) {
			n++
		}
		t.say(rest[:n])
		rest = rest[n:]
	}
	for _, a := range list[:undated] {
		t.sayUndated(a)
	}
	t.settle()
	return t.runs
}

// line is a timeline that is being made.
type line struct {
	// runs by start, and those among them that are open.
	runs, open []*run
}

// say adds the assertions of one moment.
func (t *line) say(now []*assertion) {
	at := now[0].at
	t.open = slices.DeleteFunc(t.open, func(r *run) bool { return !r.end.IsZero() && !r.end.After(at) })
	first := len(t.runs) == 0
	var said []*run
	for len(now) > 0 {
		n := 1
		for n < len(now) && now[n].value == now[0].value {
			n++
		}
		said = append(said, t.extend(now[:n], first))
		now = now[n:]
	}
	for _, r := range slices.Clone(t.open) {
		if slices.Contains(said, r) {
			continue
		}
		for _, by := range said {
			if canEnd(r, by.at(at)) {
				t.end(r, by, at)
				break
			}
		}
	}
}

// extend adds assertions of one moment and value to the open run with this value, or to a new one.
func (t *line) extend(now []*assertion, first bool) *run {
	i := slices.IndexFunc(t.open, func(r *run) bool { return r.value == now[0].value })
	var r *run
	if i >= 0 {
		r = t.open[i]
	} else {
		r = &run{group: now[0].group, value: now[0].value, start: now[0].at, from: boundary(now)}
		if first && !now[0].stated {
			r.from = "" // it may have held before
		}
		t.runs, t.open = append(t.runs, r), append(t.open, r)
	}
	for _, a := range now {
		r.add(a)
	}
	return r
}

// add adds an assertion. What it says of the end replaces what was said before.
func (r *run) add(a *assertion) {
	r.list = append(r.list, a)
	if end := start(a.To); end.After(r.start) {
		r.to, r.end = a.To, end
	}
}

// at returns the assertions of a moment.
func (r *run) at(t time.Time) []*assertion {
	var list []*assertion
	for _, a := range r.list {
		if a.at.Equal(t) {
			list = append(list, a)
		}
	}
	return list
}

// boundary returns the day on which assertions of one moment begin to hold, as precisely as they say.
func boundary(now []*assertion) string {
	for _, a := range now {
		if a.stated {
			return a.From
		}
	}
	return now[0].at.Format(time.DateOnly)
}

// canEnd reports whether assertions of one moment with another value end a run.
func canEnd(r *run, now []*assertion) bool {
	if r.pinned() || rankOf(now) < r.rank() {
		return false
	}
	if slices.ContainsFunc(now, func(a *assertion) bool { return a.stated }) {
		return true
	}
	// "In Lisbon", said in November, does not end "in Porto since October", said in December.
	return !slices.ContainsFunc(r.list, func(a *assertion) bool { return a.stated && a.To == "" && a.said.After(now[0].at) })
}

// end ends a run where another one has something to say.
func (t *line) end(r, by *run, at time.Time) {
	said := by.at(at)
	r.closedBy, r.closer, r.to, r.endLevel = by, rankOf(said), boundary(said), memory.Secret
	for _, a := range said {
		if boundary([]*assertion{a}) == r.to {
			r.endLevel = min(r.endLevel, a.Sensitivity)
		}
	}
	if from := start(r.from); !start(r.to).After(from) {
		r.to = from.AddDate(0, 0, 1).Format(time.DateOnly) // it held for a part of that day
	}
	r.end = start(r.to)
	t.open = slices.DeleteFunc(t.open, func(o *run) bool { return o == r })
}

// sayUndated adds an assertion whose time is not known. A line of what stays true holds now, and what a person said is not over
// because a machine says so.
func (t *line) sayUndated(a *assertion) {
	var last *run
	for _, r := range t.runs {
		if r.value == a.value {
			last = r
		}
	}
	if last == nil {
		last = &run{group: a.group, value: a.value}
		t.runs, t.open = append(t.runs, last), append(t.open, last)
	}
	last.add(a)
	if (a.rank >= standing || last.closedBy != nil && a.rank > last.closer) && !slices.Contains(t.open, last) {
		last.closedBy, last.to, last.end, last.endLevel = nil, a.To, start(a.To), memory.Normal
		t.open = append(t.open, last)
	}
}

// settle finds out which of the open runs are in conflict.
func (t *line) settle() { oppose(unsettled(t.open, overlap), overlap) }

// unsettled returns the open runs without those that a person has settled: they end where the pinned run starts that contradicts them.
func unsettled(open []*run, contradict func(a, b *run) bool) []*run {
	return slices.DeleteFunc(slices.Clone(open), func(r *run) bool {
		i := slices.IndexFunc(open, func(o *run) bool { return o.pinned() && r.yields() && contradict(r, o) })
		if i < 0 {
			return false
		}
		r.closedBy = open[i]
		if r.to == "" && r.start.Before(open[i].start) {
			r.to, r.end = open[i].from, open[i].start
		}
		return true
	})
}

// maxOpposes bounds the facts that one is said to be in conflict with.
const maxOpposes = 20

// oppose finds out which runs contradict each other, and which of them hold nevertheless.
func oppose(open []*run, contradict func(a, b *run) bool) {
	ranks := make([]authority, len(open))
	for i, r := range open {
		ranks[i] = r.rank()
	}
	// What contradicts a fact that holds is in conflict with that one first.
	order := make([]int, len(open))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(ranks[j] - ranks[i]) })
	for _, i := range order {
		for _, j := range order {
			if i == j || !contradict(open[i], open[j]) {
				continue
			}
			r := open[i]
			r.contested, r.beaten = true, r.beaten || ranks[j] >= ranks[i]
			if len(r.opposes) < maxOpposes {
				r.opposes = append(r.opposes, open[j])
			}
		}
	}
}

// overlap reports whether two open runs hold at the same time. What has ended does not contradict what has no known time.
func overlap(a, b *run) bool {
	if a.start.IsZero() || b.start.IsZero() {
		return a.end.IsZero() && b.end.IsZero()
	}
	return (a.end.IsZero() || b.start.Before(a.end)) && (b.end.IsZero() || a.start.Before(b.end))
}

// events returns the runs of one group of which the earliest is the fact.
func events(list []*assertion) []*run {
	var runs []*run
	for _, a := range list {
		i := slices.IndexFunc(runs, func(r *run) bool { return r.value == a.value })
		if i < 0 {
			i = len(runs)
			runs = append(runs, &run{group: a.group, value: a.value})
		}
		r := runs[i]
		if r.list = append(r.list, a); r.start.IsZero() {
			r.start = a.at
		}
		if r.from == "" {
			r.from = a.From
		}
	}
	var first *run
	for _, r := range runs {
		if !r.start.IsZero() && (first == nil || r.start.Before(first.start)) {
			first = r
		}
	}
	var open []*run
	for _, r := range runs {
		if first != nil && r.start.After(first.start) && !r.pinned() && r.rank() <= first.rank() {
			r.closedBy = first
			continue
		}
		open = append(open, r)
	}
	always := func(a, b *run) bool { return true }
	oppose(unsettled(open, always), always)
	slices.SortStableFunc(runs, func(a, b *run) int { return a.start.Compare(b.start) })
	return runs
}
