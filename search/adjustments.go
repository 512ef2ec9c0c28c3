package search

import (
	"slices"
)

// A rule changes what a candidate is worth beside its words and its meaning. The order of the rules is that of Searcher.adjustments; that of
// the re-ranker comes last.
const (
	ruleDays     = "days"      // it is of days that the query names
	ruleAge      = "age"       // it is old
	ruleNames    = "names"     // its file is called exactly as the query
	ruleReranker = "re-ranker" // the re-ranker has given it another place
)

// effect is what a rule makes of a candidate. The score becomes score x factor + bonus; confidence is what the rule gives by itself, and what
// words and meaning say fills up the rest.
type effect struct {
	rule                      string
	factor, bonus, confidence float64
}

// adjustment returns the effect of a rule on a candidate; ok is false if the rule says nothing about it.
type adjustment func(*candidate) (e effect, ok bool)

// adjustments returns the rules in the order in which they apply. Each may look at the candidates as those before it have ordered them.
func (s *Searcher) adjustments() []func(*searchState) adjustment {
	return []func(*searchState) adjustment{daysAdjustment, s.opt.ageAdjustment, namesAdjustment}
}

// adjust applies a rule to all candidates and orders them, best first.
func (r *searchState) adjust(rule adjustment) {
	for _, c := range r.candidates {
		if e, ok := rule(c); ok {
			c.effects = append(c.effects, e)
		}
	}
	r.sortByScore()
}

// sortByScore orders the candidates, best first.
func (r *searchState) sortByScore() {
	slices.SortFunc(r.candidates, func(a, b *candidate) int { return compareScores(a.score(), b.score(), a, b) })
}

// score is the order of the candidates: what words and meaning come to together, changed by the rules.
func (c *candidate) score() float64 { return c.scoreFrom(c.base) }

// scoreFrom returns what the rules make of a score, other than the re-ranker's.
func (c *candidate) scoreFrom(score float64) float64 {
	for _, e := range c.effects {
		score = score*e.factor + e.bonus
	}
	return score
}

// confidence, in [0,1], is the score of the candidate as a hit, which is comparable between queries.
func (c *candidate) confidence() float64 {
	confidence := c.sure
	for _, e := range c.effects {
		confidence = e.confidence + (1-e.confidence)*confidence
	}
	return confidence
}

// effect returns the effect of a rule; one that changes nothing if it has none.
func (c *candidate) effect(rule string) effect {
	for _, e := range c.effects {
		if e.rule == rule {
			return e
		}
	}
	return effect{rule: rule, factor: 1}
}

// daysAdjustment prefers what belongs to days that the query names: more for a short span. If the query asks only for a long span, its chunks come
// before all others, the newest first.
func daysAdjustment(r *searchState) adjustment {
	return func(c *candidate) (effect, bool) {
		e := effect{rule: ruleDays, factor: 1}
		for _, s := range r.dates.spans {
			bonus, confidence := spanBonus, spanConfidence
			switch {
			case !c.belongsTo(s):
				continue
			case isShort(s):
				bonus, confidence = dayBonus, dayConfidence
			case r.dates.listsNotes():
				bonus, confidence = onlyDatesBonus, dayConfidence
			}
			e.bonus, e.confidence = max(e.bonus, bonus), max(e.confidence, confidence)
		}
		return e, e.bonus > 0
	}
}

// ageAdjustment lets old notes weigh less, unless they are evergreen, by themselves or by a glob, or of days that the query names.
func (o Options) ageAdjustment(r *searchState) adjustment {
	return func(c *candidate) (effect, bool) {
		age, ok := ageDays(c.Date, r.query.Now)
		if !ok || !*o.Decay || c.isDated() || c.Evergreen || matchesAny(o.Evergreen, c.Path) {
			return effect{}, false
		}
		return effect{rule: ruleAge, factor: decayFactor(age, o.HalfLife, *o.DecayFloor)}, true
	}
}

// namesAdjustment puts a candidate of each file that is called exactly as the query before all others: its first text that is no
// list of links and no front matter, because the name says no more about any other.
func namesAdjustment(r *searchState) adjustment {
	first := make(map[string]*candidate)
	for _, c := range r.candidates {
		if slices.Contains(r.named, c.ID) {
			first[c.Path] = c
		}
	}
	for _, c := range r.candidates {
		if o, named := first[c.Path]; named && !c.mute && (o.mute || c.StartLine < o.StartLine) {
			first[c.Path] = c
		}
	}
	var top float64
	if len(r.candidates) > 0 {
		top = r.candidates[0].score()
	}
	return func(c *candidate) (effect, bool) {
		if first[c.Path] != c {
			return effect{}, false
		}
		return effect{rule: ruleNames, factor: 1, bonus: top - c.score() + nameLead*(1+c.score()), confidence: nameConfidence}, true
	}
}
