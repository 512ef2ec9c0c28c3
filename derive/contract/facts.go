package contract

import (
	"regexp"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

const (
	maxFacts  = 5
	maxObject = 300
)

// fact reads one fact.
func (e *episodeReader) fact(o *object) (draft, bool) {
	i := &item{object: o}
	claim := unit.Claim{Kind: unit.ClaimFact, Subject: e.entity(i, "subject")}
	name := o.str("predicate")
	claim.Object = i.line("object_text", maxObject)
	claim.ObjectEntity = e.objectEntity(i)
	d := draft{confidence: i.confidence(factFloor)}
	claim.From, claim.To = i.validity(e.source.Date)
	claim.Predicate = e.predicate(i, name)
	if !i.dropped && !sharesTerm(e.source.terms, e.source.names, claim.Object) {
		i.fail("object_text", ReasonName, "must use the words of the text")
	}
	if !i.dropped && vocab.OrdersProgram(claim.Object) {
		i.fail("object_text", ReasonInstruction, "must not tell anybody what to do")
	}
	if !i.dropped {
		e.invents(i, "object_text", claim.Object)
	}
	d.claim = claim
	d.evidence = e.source.evidence(i, claim.Object, claim.Subject)
	o.done()
	return d, !i.dropped
}

// entity reads {etype, name}.
func (e *episodeReader) entity(i *item, key string) memory.EntityRef {
	o := i.child(key, false)
	if o == nil {
		return memory.EntityRef{}
	}
	inner := &item{object: o, dropped: i.dropped}
	etype, name := o.str("etype"), o.str("name")
	ref := e.ref(inner, "etype", "name", etype, name)
	o.done()
	i.dropped = inner.dropped
	return ref
}

// objectEntity reads the entity that the object of a fact is, nil if there is none. What is wrong with it drops only the entity.
func (e *episodeReader) objectEntity(i *item) *memory.EntityRef {
	o := i.child("object", true)
	if o == nil {
		return nil
	}
	inner := &item{object: o}
	etype, name := o.str("etype"), o.str("name")
	ref := e.ref(inner, "etype", "name", etype, name)
	o.done()
	if inner.dropped {
		return nil
	}
	return &ref
}

// predicate returns the predicate with a name or an alias.
func (e *episodeReader) predicate(i *item, name string) string {
	predicate, ok := e.c.vocabulary().Predicate(name)
	if !ok {
		reason := ReasonPredicate
		if likePredicate.MatchString(name) {
			reason += " " + name
		}
		i.fail("predicate", reason, "must be one of the predicates that are listed")
	}
	return predicate
}

// likePredicate matches what looks like a predicate.
var likePredicate = regexp.MustCompile(`^[a-z][a-z_]{1,23}$`)
