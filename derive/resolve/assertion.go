package resolve

import (
	"cmp"
	"strings"
	"time"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

// authority says whose words a claim can end.
type authority int

const (
	// machine is an assistant, a tool, a quotation, or somebody else.
	machine authority = iota
	// human is the owner, who said it or wrote it by hand, or has corrected it.
	human
	// standing is a line that a person wrote into a file of what stays true.
	standing
	// pinned by a person.
	pinned
)

// assertion is a claim with what is compared of it.
type assertion struct {
	unit.Claim
	// said is when it was said, by the clock on the wall.
	said time.Time
	// at is the effective time, zero if it is not known.
	at time.Time
	// stated reports that at is from From.
	stated bool
	// group are the assertions that can contradict each other, and value what they contradict each other about.
	group, value string
	rank         authority
	// pinned and corrected by a person.
	pinned, corrected bool
	// yields to the pinned fact that a person has preferred to it.
	yields bool
	// names are the UIDs of the fact that it was evidence of before corrections and pins; the first is the present one.
	names []string
}

// trusts are what speakers are trusted with, by rank. Somebody else counts as a tool.
var trusts = []string{memory.SpeakerTool, memory.SpeakerAssistant, memory.SpeakerUser, memory.SpeakerNote}

// trust returns the index of a speaker in trusts.
func trust(speaker string) int {
	for i, t := range trusts {
		if t == speaker {
			return i
		}
	}
	return 0
}

// assertions returns the facts that the claims of a slot assert, without what is forgotten and without what somebody said about the
// owner who is not entitled to.
func assertions(v *vocab.Vocabulary, s unit.Slot) []*assertion {
	gone := forgotten(s.Decisions, memory.KindFact)
	aboutUser := vocab.IsUser(s.Subject)
	var list []*assertion
	for _, c := range s.Claims {
		if c.Kind != unit.ClaimFact || v.Slot(c.Predicate) != s.Name || strings.TrimSpace(c.Object) == "" {
			continue
		}
		if aboutUser && !vocab.ByOwner(c.Speaker) {
			continue
		}
		if gone[vocab.FactKey(s.Subject, c.Predicate, c.Object)] || gone[vocab.FactKey(c.Subject, c.Predicate, c.Object)] {
			continue
		}
		list = append(list, newAssertion(v, s.Name, c, s.Now.Location()))
	}
	return list
}

// newAssertion fills in what is compared of a claim.
func newAssertion(v *vocab.Vocabulary, slot string, c unit.Claim, zone *time.Location) *assertion {
	a := &assertion{Claim: c, said: wall(c.At, zone)}
	a.place(v, slot)
	if vocab.ByOwner(c.Speaker) {
		a.rank = human
	}
	if c.Speaker == memory.SpeakerNote && (c.LongTerm || a.at.IsZero()) || c.Speaker == memory.SpeakerUser && c.LongTerm {
		a.rank = standing
	}
	return a
}

// place fills in the time, the group and the value.
func (a *assertion) place(v *vocab.Vocabulary, slot string) {
	a.at, a.stated = effective(a.Claim, a.said)
	object := objectNorm(a.Object)
	if class, _ := v.Class(slot); class == vocab.Set {
		a.group, a.value = object, a.Predicate
	} else {
		a.group, a.value = "", object
	}
}

// objectNorm is what tells the objects of facts apart.
func objectNorm(object string) string {
	return cmp.Or(vocab.NormObject(object), strings.TrimSpace(object))
}

// effective returns since when a claim says that something holds, and whether it says so itself. Something that ended before it
// was said held on the day before its end.
func effective(c unit.Claim, said time.Time) (at time.Time, stated bool) {
	if from := start(c.From); !from.IsZero() {
		return from, true
	}
	if to := start(c.To); !to.IsZero() && (said.IsZero() || !said.Before(to)) {
		return to.AddDate(0, 0, -1), false
	}
	return said, false
}

// start returns the first moment of a day, month or year, zero if s is none of them.
func start(s string) time.Time {
	first, _, _ := text.Period(s)
	t, _ := time.Parse(time.DateOnly, first)
	return t
}

// wall returns what the clock on the wall of a zone showed at t, so that it can be compared with days.
func wall(t time.Time, zone *time.Location) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	t = t.In(zone)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// compareAssertions orders assertions by time, and then by all that tells them apart.
func compareAssertions(a, b *assertion) int {
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.group, b.group), cmp.Compare(a.value, b.value), compareClaims(a.Claim, b.Claim))
}

// compareClaims orders claims by what tells them apart, not by time.
func compareClaims(a, b unit.Claim) int {
	return cmp.Or(cmp.Compare(a.EpisodeUID, b.EpisodeUID), cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.EndLine, b.EndLine),
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Predicate, b.Predicate), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Quote, b.Quote),
		cmp.Compare(a.Maker, b.Maker), cmp.Compare(a.Speaker, b.Speaker), cmp.Compare(a.Confidence, b.Confidence),
		cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.LoopText, b.LoopText), cmp.Compare(a.Due, b.Due),
		a.At.Compare(b.At), cmp.Compare(a.Sensitivity, b.Sensitivity), cmp.Compare(a.Subject.Name, b.Subject.Name))
}
