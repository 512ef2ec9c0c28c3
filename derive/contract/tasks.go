package contract

import (
	"fmt"
	"strings"

	"kioku/derive/vocab"
)

// evidenceTask explains evidence.
const evidenceTask = `evidence: 1 to 3 of {"line": number, "quote": text}. The quote is 3 to 200 characters that stand literally in that line; do not correct or translate it. What is not said in a line is not reported.
A claim about USER, the person whose notes these are, needs a line whose speaker is user or note. What the assistant or somebody else says about USER is no such line, and what somebody else says of himself is about him.`

// entitiesTask explains entities and relations.
func (c Contracts) entitiesTask() string {
	return fmt.Sprintf(`entities: at most %d people, places, projects and other things that the lines name. etype is one of %s. name as it is written in the lines; aliases: at most %d other names for it in the lines, else []; role is "mentioned"; confidence 0 to 1. No pronouns.
relations: at most %d of {"src": "TYPE:NAME", "rel", "dst": "TYPE:NAME", "confidence", "evidence"} between two of these entities, known ones, or PERSON:USER. rel is one of %s.`,
		maxEntities, strings.Join(c.entityTypes(), ", "), maxAliases, maxRelations, strings.Join(vocab.Relations, ", "))
}

// factsTask explains facts.
func (c Contracts) factsTask() string {
	return fmt.Sprintf(`facts: at most %d things that hold for longer than the day. Not: what happened once, plans, questions, guesses, jokes, quotations, what the assistant proposes.
subject: {"etype", "name"}; the owner of the notes is {"etype": "PERSON", "name": "%s"}. predicate is one of: %s.
Of "exclusive" predicates a subject has one at a time, of "set" many, of "event" the first counts.
object_text: at most %d characters, in the words of the lines. object: {"etype", "name"} if the object is an entity that the lines name, else null.
validity: {"from", "to"} if the lines say since when or until when (the end is excluded), else nulls. confidence 0 to 1.`,
		maxFacts, "USER", c.predicates(), maxObject)
}

// predicates lists the vocabulary with classes.
func (c Contracts) predicates() string {
	v := c.vocabulary()
	var all []string
	for _, name := range v.Names() {
		class, _ := v.Class(name)
		all = append(all, name+" ("+class.String()+")")
	}
	return strings.Join(all, ", ")
}

// loopsTask explains loops.
const loopsTask = `loops: at most 5 things that are still to be done, answered or decided ("open"), or that the lines say are done now ("closed"). loop_text: at most 300 characters, in the words of the lines. due_at: the day when it is due, or null. confidence 0 to 1.
unit_id: null, or the number of one of the open loops that are listed. A loop is "closed" only with such a number and a quote that says that it is done. Do not open again what is listed; with its number it is one more mention of it.`

// reflectTask explains reflections.
const reflectTask = `reflection_text: at most 600 characters on what the episode means. emotion_label: joy, sadness, anger, fear or neutral. emotion_intensity, salience_score (how much it will matter in a month) and confidence: 0 to 1. topic_tags: at most 8 of at most 40 characters.`

func (c Contracts) entitySchemas() (entities, relations node) {
	entities = list(obj(key("etype", str(c.entityTypes()...)), key("name", str()), key("aliases", list(str())), key("role", str("mentioned")),
		key("confidence", num())))
	relations = list(obj(key("src", str()), key("rel", str(vocab.Relations...)), key("dst", str()), key("confidence", num()),
		key("evidence", evidenceSchema())))
	return entities, relations
}

func (c Contracts) factSchema() node {
	named := obj(key("etype", str(c.entityTypes()...)), key("name", str()))
	return list(obj(key("subject", named), key("predicate", str(c.vocabulary().Names()...)), key("object_text", str()), key("object", named.orNull()),
		key("confidence", num()), key("validity", obj(key("from", str().orNull()), key("to", str().orNull()))), key("evidence", evidenceSchema())))
}

func loopSchema() node {
	return list(obj(key("status", str("open", "closed")), key("unit_id", integer().orNull()), key("due_at", str().orNull()), key("loop_text", str()),
		key("confidence", num()), key("evidence", evidenceSchema())))
}

func reflectFields() []field {
	return []field{key("reflection_text", str()), key("emotion_label", str(emotions...)), key("emotion_intensity", num()),
		key("topic_tags", list(str())), key("salience_score", num()), key("confidence", num())}
}
