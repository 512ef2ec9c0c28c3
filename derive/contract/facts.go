package contract

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

const (
	maxFacts  = 5
	maxObject = 300
)

// fact checks one fact.
func (e *episodeReader) fact(i *item, said saidFact) draft {
	claim := unit.Claim{Kind: unit.ClaimFact}
	i.inside("subject", func(of *item) { claim.Subject = e.ref(of, said.Subject) })
	claim.Object = i.line("object_text", said.Object, maxObject)
	if said.Entity != nil {
		of := e.r.item(i.at("object"))
		if ref := e.ref(of, *said.Entity); !of.dropped { // what is wrong with it drops only the entity
			claim.ObjectEntity = &ref
		}
	}
	d := draft{confidence: i.confidence(said.Confidence, factFloor)}
	claim.From, claim.To = i.validity(said.Validity, e.source.Date)
	claim.Predicate = e.predicate(i, said.Predicate)
	if !sharesTerm(e.source.terms, e.source.names, claim.Object) {
		i.fail("object_text", ReasonName, "must use the words of the text")
	}
	if vocab.OrdersProgram(claim.Object) {
		i.fail("object_text", ReasonInstruction, "must not tell anybody what to do")
	}
	e.invents(i, "object_text", claim.Object)
	d.claim = claim
	d.evidence = e.source.evidence(i, said.Evidence, claim.Object, claim.Subject)
	return d
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

const (
	maxLoops    = 5
	maxLoopText = 300
)

// loop checks one loop: what is open, or that one of the loops that were offered is done.
func (e *episodeReader) loop(i *item, said saidLoop) draft {
	status := i.choice("status", said.Status, []string{memory.LoopOpen, memory.LoopClosed})
	text := i.line("loop_text", said.Text, maxLoopText)
	due := i.date("due_at", said.Due, e.source.Date)
	d := draft{confidence: i.confidence(said.Confidence, loopFloor)}
	var offered memory.Loop
	if said.UnitID != nil {
		if n := *said.UnitID; n >= 1 && n <= len(e.loops) {
			offered = e.loops[n-1]
		} else {
			i.fail("unit_id", ReasonID, fmt.Sprintf("must be the id of an open loop that was offered (%d of them), or null", len(e.loops)))
		}
	}
	says := text
	if status == memory.LoopClosed {
		d.claim = unit.Claim{Kind: unit.ClaimClose, LoopText: text, Closes: offered.Key}
		says = cmp.Or(offered.Text, text)
		if said.Evidence == nil {
			i.fail("evidence", ReasonEvidence, "closed needs a quote that says that it is done")
		}
		if offered.Key == "" {
			i.fail("unit_id", ReasonID, "closed needs the id of the loop that is done")
		}
	} else {
		d.claim = e.opening(i, offered, text, due)
	}
	d.evidence = e.source.evidence(i, said.Evidence, says)
	return d
}

// opening returns the claim that something is open. One that is offered already keeps its text, so that the claim is further
// evidence of the same loop. A day before the episode is none to be due.
func (e *episodeReader) opening(i *item, offered memory.Loop, text, due string) unit.Claim {
	if offered.Key == "" {
		if !sharesTerm(e.source.terms, e.source.names, text) {
			i.fail("loop_text", ReasonName, "must use the words of the text")
		}
		e.invents(i, "loop_text", text)
	}
	if len(due) < len("2006-01-02") || e.source.Date != "" && due < e.source.Date {
		due = ""
	}
	return unit.Claim{Kind: unit.ClaimLoop, LoopText: cmp.Or(offered.Text, text), Due: due}
}

const (
	maxReflection = 600
	maxTags       = 8
	maxTag        = 40
)

// readReflection checks a reflection, nil if one of its values is not allowed.
func readReflection(i *item, said memory.Reflection) *memory.Reflection {
	reflection := &memory.Reflection{Text: i.line("reflection_text", said.Text, maxReflection), Emotion: i.choice("emotion_label", said.Emotion, memory.Emotions),
		Intensity: i.share("emotion_intensity", said.Intensity), Salience: i.share("salience_score", said.Salience),
		Confidence: i.share("confidence", said.Confidence)}
	for n, tag := range said.Tags {
		tag = cleanLine(fold(tag).text)
		path := fmt.Sprintf("%s[%d]", i.at("topic_tags"), n)
		switch {
		case tag == "" || utf8.RuneCountInString(tag) > maxTag:
			i.r.drop(path, ReasonText, fmt.Sprintf("must have 1 to %d characters", maxTag))
		case slices.Contains(reflection.Tags, tag):
			i.r.drop(path, ReasonRepeated, "stands twice")
		case len(reflection.Tags) == maxTags:
			i.r.drop(path, ReasonLimit, fmt.Sprintf("must have at most %d items", maxTags))
		default:
			reflection.Tags = append(reflection.Tags, tag)
		}
	}
	if commandsReader(reflection.Text) {
		i.fail("reflection_text", ReasonInstruction, "must not tell anybody what to do")
	}
	if i.dropped {
		return nil
	}
	slices.Sort(reflection.Tags)
	i.r.report.Accepted++
	return reflection
}
