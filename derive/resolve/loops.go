package resolve

import (
	"cmp"
	"slices"
	"time"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

const (
	// expiresAfter is how long an open loop without a day when it is due stays open after it was last mentioned.
	expiresAfter = 30 * 24 * time.Hour
	// graceDays is how many days an open loop stays open after it was due.
	graceDays = 7
)

// LoopUID returns the UID of the loop with a key.
func LoopUID(key string) string { return vocab.UnitUID(memory.KindLoop, key) }

// Loops returns the loop that the claims of a slot and the decisions about it make; none if there are no claims, or it is forgotten.
//
// A loop is closed if the newest word about it is that it is done; at the same time, done wins. What a tool said closes nothing, and
// a pinned loop is closed by a person only. What a person decides holds against all that was said up to that day. A loop that was
// only ever done, such as a box that is ticked now, is closed too. An open loop expires a week after it was due, or 30 days after it
// was last mentioned; one without a date, in a file of what stays true, or pinned, does not.
func Loops(s unit.Slot) []memory.Unit {
	if forgotten(s.Decisions, memory.KindLoop)[s.Name] {
		return nil
	}
	uid := LoopUID(s.Name)
	var about []unit.Decision
	for _, d := range s.Decisions {
		if d.Kind == memory.KindLoop && d.Target == uid {
			about = append(about, d)
		}
	}
	opens, closes := loopClaims(s.Claims, isPinned(about))
	if len(opens)+len(closes) == 0 {
		return nil
	}
	l := loop{opens: opens, closes: closes, decided: lastDecision(about), zone: s.Now.Location()}
	u := evidenced(memory.KindLoop, uid, slices.Concat(opens, closes))
	u.Loop = l.payload(s.Name)
	if corrected := fold(about); len(corrected) > 0 {
		u.Loop.Text = cmp.Or(corrected["text"], u.Loop.Text)
		if due, ok := corrected["due"]; ok {
			u.Loop.Due = due
		}
		u.Source, u.Trust = "person", memory.SpeakerNote
	}
	l.expire(u.Loop, isPinned(about), s.Now)
	u.State = memory.StateValidated
	if u.Loop.Status != memory.LoopOpen {
		u.State = memory.StateArchived
	}
	if l.decidedNow() {
		u.Source = "person"
	}
	return []memory.Unit{decideUnit(u, about)}
}

// loop is what decides about one.
type loop struct {
	// opens and closes are the claims, by time.
	opens, closes []unit.Claim
	// decided is the last decision to close or reopen it, nil if there is none.
	decided *unit.Decision
	// zone of the user.
	zone *time.Location
}

// loopClaims returns the claims that a loop is open and that it is done, by time.
func loopClaims(claims []unit.Claim, pinned bool) (opens, closes []unit.Claim) {
	for _, c := range claims {
		switch c.Kind {
		case unit.ClaimLoop:
			opens = append(opens, c)
		case unit.ClaimClose:
			if c.Speaker != memory.SpeakerTool && (!pinned || vocab.ByOwner(c.Speaker)) {
				closes = append(closes, c)
			}
		}
	}
	for _, list := range [][]unit.Claim{opens, closes} {
		slices.SortFunc(list, func(a, b unit.Claim) int { return cmp.Or(a.At.Compare(b.At), compareClaims(a, b)) })
	}
	return opens, closes
}

// lastDecision returns the last decision to close or reopen a loop, nil if there is none.
func lastDecision(decisions []unit.Decision) *unit.Decision {
	var last *unit.Decision
	for i, d := range decisions {
		if d.Verb == unit.DecideClose || d.Verb == unit.DecideReopen {
			last = &decisions[i]
		}
	}
	return last
}

// newest returns the time of the newest of claims that are sorted by time.
func newest(claims []unit.Claim) time.Time {
	if len(claims) == 0 {
		return time.Time{}
	}
	return claims[len(claims)-1].At
}

// decidedNow reports whether the last decision holds: nobody has opened the loop again, or closed it, on a later day.
func (l loop) decidedNow() bool {
	if l.decided == nil {
		return false
	}
	against := l.closes
	if l.decided.Verb == unit.DecideClose {
		against = nil
		for _, c := range l.opens {
			if vocab.ByOwner(c.Speaker) {
				against = append(against, c)
			}
		}
	}
	return !newest(against).After(dayEnd(l.decided.Day, l.zone))
}

// decidedAt returns the beginning of the day of the last decision.
func (l loop) decidedAt() time.Time {
	return dayEnd(l.decided.Day, l.zone).Add(time.Nanosecond).AddDate(0, 0, -1).UTC()
}

// closed reports whether the loop is closed, and since when; zero if that is not known.
func (l loop) closed() (bool, time.Time) {
	if l.decidedNow() {
		return l.decided.Verb == unit.DecideClose, l.decidedAt()
	}
	if len(l.closes) == 0 {
		return false, time.Time{}
	}
	at := newest(l.closes)
	opened := newest(l.opens)
	if opened.IsZero() || !at.Before(opened) {
		return true, at
	}
	return false, time.Time{}
}

// payload returns the loop before it expires.
func (l loop) payload(key string) *memory.Loop {
	p := &memory.Loop{Key: key, Status: memory.LoopOpen}
	closed, at := l.closed()
	if closed {
		p.Status, p.ClosedAt = memory.LoopClosed, at.UTC()
	}
	said := l.opens
	if len(said) == 0 {
		said = l.closes
	}
	best := slices.MaxFunc(said, func(a, b unit.Claim) int {
		return cmp.Or(cmp.Compare(trust(a.Speaker), trust(b.Speaker)), a.At.Compare(b.At), -compareClaims(a, b))
	})
	p.Text = vocab.TrimLoopMark(best.LoopText)
	lastClose := newest(l.closes)
	for _, c := range l.opens {
		if p.OpenedAt.IsZero() && (closed || c.At.After(lastClose)) {
			p.OpenedAt = c.At.UTC()
		}
		if c.Due != "" {
			p.Due = c.Due // the newest that names one
		}
	}
	return p
}

// expire sets when an open loop expires, and expires it.
func (l loop) expire(p *memory.Loop, pinned bool, now time.Time) {
	if p.Status != memory.LoopOpen || pinned {
		return
	}
	due := dayEnd(p.Due, l.zone)
	for _, c := range l.opens {
		if c.LongTerm || due.IsZero() && c.At.IsZero() {
			return
		}
	}
	p.ExpiresAt = newest(l.opens).Add(expiresAfter)
	if !due.IsZero() {
		p.ExpiresAt = due.AddDate(0, 0, graceDays)
	}
	if l.decidedNow() { // it was opened again by a person
		if again := l.decidedAt().Add(expiresAfter); again.After(p.ExpiresAt) {
			p.ExpiresAt = again
		}
	}
	p.ExpiresAt = p.ExpiresAt.Truncate(time.Second).UTC()
	if !now.IsZero() && !now.Before(p.ExpiresAt) {
		p.Status = memory.LoopExpired
	}
}
