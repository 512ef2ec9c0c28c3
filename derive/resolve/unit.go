package resolve

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

const (
	// maxMachine is the most that a claim of an assistant, a tool or somebody else counts.
	maxMachine = .8
	// maxWithoutNote is the most that claims count together if no person has written any of them by hand.
	maxWithoutNote = .95
	// corrector is what the correction of a person adds.
	corrector = .9
)

// unit returns the fact that a run is, before decisions other than corrections and pins.
func (r *run) unit(s unit.Slot) memory.Unit {
	claims := make([]unit.Claim, len(r.list))
	corrected := false
	for i, a := range r.list {
		claims[i], corrected = a.Claim, corrected || a.corrected
	}
	u := evidenced(memory.KindFact, r.uid, claims)
	u.Sensitivity = max(u.Sensitivity, r.endLevel) // what ended it tells when
	best := bestClaim(r.list)
	u.Fact = &memory.Fact{
		Subject: s.Subject, Predicate: best.Predicate, Slot: s.Name, Key: vocab.FactKey(s.Subject, best.Predicate, best.Object),
		Object: best.Object, ObjectEntity: objectEntity(r.list), From: r.from, To: r.to, EffectiveAt: r.effectiveAt(),
	}
	u.State = memory.StateValidated
	if r.closedBy != nil {
		u.Fact.SupersededBy = r.closedBy.uid
		if s.Now.IsZero() || !r.closedBy.start.After(wall(s.Now, s.Now.Location())) {
			u.State = memory.StateSuperseded
		}
	}
	for _, o := range r.opposes {
		u.Fact.Opposes = append(u.Fact.Opposes, o.uid)
	}
	slices.Sort(u.Fact.Opposes)
	if r.contested && r.beaten {
		u.State = memory.StateConflict
	}
	if corrected {
		u.Source, u.Trust = "person", memory.SpeakerNote
		u.Confidence = round(1 - (1-u.Confidence)*(1-corrector))
	}
	return u
}

// effectiveAt returns the time of the first assertion of a run, unless it says a day.
func (r *run) effectiveAt() time.Time {
	for _, a := range r.list {
		if a.at.Equal(r.start) && a.at.Equal(a.said) && !a.stated {
			return a.At.UTC()
		}
	}
	return r.start
}

// bestClaim returns the claim whose words are shown: a corrected one, else the one with the best speaker, else the newest.
func bestClaim(list []*assertion) unit.Claim {
	return slices.MaxFunc(list, func(a, b *assertion) int {
		return cmp.Or(compareBool(a.corrected, b.corrected), cmp.Compare(trust(a.Speaker), trust(b.Speaker)), a.At.Compare(b.At),
			-compareClaims(a.Claim, b.Claim))
	}).Claim
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// objectEntity returns the entity that the object is, nil if no claim says it.
func objectEntity(list []*assertion) *memory.EntityRef {
	var best *memory.EntityRef
	for _, a := range list {
		if e := a.ObjectEntity; e != nil && (best == nil || cmp.Or(cmp.Compare(e.Type, best.Type), cmp.Compare(e.Name, best.Name), cmp.Compare(e.Qualifier, best.Qualifier)) < 0) {
			best = e
		}
	}
	if best == nil {
		return nil
	}
	copied := *best
	return &copied
}

// evidenced returns a unit with all that follows from its claims alone.
func evidenced(kind, uid string, claims []unit.Claim) memory.Unit {
	u := memory.Unit{Kind: kind, UID: uid, Trust: memory.SpeakerTool, Confidence: confidence(claims), Evidence: evidence(claims)}
	best := 0
	for _, c := range claims {
		best = max(best, trust(c.Speaker))
		u.Sensitivity = max(u.Sensitivity, c.Sensitivity)
		if c.At.After(u.OccurredAt) {
			u.OccurredAt = c.At.UTC()
		}
	}
	u.Trust = trusts[best]
	u.Source = source(claims)
	u.Salience = salience(best, claims)
	return u
}

// confidence returns 1 - prod(1-c) over distinct episodes.
func confidence(claims []unit.Claim) float64 {
	best, note := map[string]float64{}, false
	for _, c := range claims {
		value := min(max(c.Confidence, 0), 1)
		if !vocab.ByOwner(c.Speaker) {
			value = min(value, maxMachine)
		}
		best[c.EpisodeUID] = max(best[c.EpisodeUID], value)
		note = note || c.Speaker == memory.SpeakerNote
	}
	values := make([]float64, 0, len(best))
	for _, v := range best {
		values = append(values, v)
	}
	slices.Sort(values) // products of floating-point numbers depend on their order
	doubt := 1.
	for _, v := range values {
		doubt *= 1 - v
	}
	if !note {
		return round(min(1-doubt, maxWithoutNote))
	}
	return round(1 - doubt)
}

// round returns x with four decimals, so that equal sets of claims have equal bytes.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// salience returns how much a unit matters by rule: who has said it, and in how many episodes.
func salience(best int, claims []unit.Claim) float64 {
	episodes := map[string]bool{}
	longTerm := false
	for _, c := range claims {
		episodes[c.EpisodeUID] = true
		longTerm = longTerm || c.LongTerm
	}
	value := .2 + .1*float64(best) + .08*float64(min(len(episodes), 5)-1)
	if longTerm {
		value += .15
	}
	return round(min(value, 1))
}

// source returns "rule" or "model": who has made the newest claim.
func source(claims []unit.Claim) string {
	newest := slices.MaxFunc(claims, func(a, b unit.Claim) int { return cmp.Or(a.At.Compare(b.At), -compareClaims(a, b)) })
	if newest.Maker == "rule" || strings.HasPrefix(newest.Maker, "rule/") {
		return "rule"
	}
	return "model"
}

// evidence returns where claims are from, best first, each line of an episode once.
func evidence(claims []unit.Claim) []memory.Evidence {
	sorted := slices.Clone(claims)
	slices.SortFunc(sorted, func(a, b unit.Claim) int {
		return cmp.Or(cmp.Compare(trust(b.Speaker), trust(a.Speaker)), cmp.Compare(b.Confidence, a.Confidence), b.At.Compare(a.At), compareClaims(a, b))
	})
	type place struct {
		episode string
		line    int
	}
	seen := map[place]bool{}
	var list []memory.Evidence
	for _, c := range sorted {
		if at := (place{c.EpisodeUID, c.StartLine}); !seen[at] {
			seen[at] = true
			list = append(list, memory.Evidence{EpisodeUID: c.EpisodeUID, StartLine: c.StartLine, EndLine: c.EndLine, Quote: c.Quote,
				Speaker: c.Speaker, Maker: c.Maker, Confidence: c.Confidence, At: c.At})
		}
	}
	return list
}

// dayEnd returns the last moment of a day (YYYY-MM-DD) in a zone, zero if s is none.
func dayEnd(s string, zone *time.Location) time.Time {
	t, err := time.ParseInLocation(time.DateOnly, s, zone)
	if err != nil {
		return time.Time{}
	}
	return t.AddDate(0, 0, 1).Add(-time.Nanosecond)
}
