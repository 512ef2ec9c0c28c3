package contract

import (
	"fmt"
	"strings"

	"kioku/derive/vocab"
	"kioku/llm/ask"
	"kioku/memory"
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

// bounds, named and quoted are parts of answers.
type (
	bounds struct{ From, To string }
	named  struct {
		Type string `json:"etype"`
		Name string
	}
	// quoted has no line where a text stands in place of the list.
	quoted struct {
		Line  *int
		Quote string
	}
)

// Items of answers.
type (
	saidEntity struct {
		named
		Aliases    []string
		Role       string
		Confidence float64
	}
	saidRelation struct {
		Src, Rel, Dst string
		Confidence    float64
		Evidence      []quoted
	}
	saidFact struct {
		Subject    named
		Predicate  string
		Object     string `json:"object_text"`
		Entity     *named `json:"object"`
		Confidence float64
		Validity   bounds
		Evidence   []quoted
	}
	saidLoop struct {
		Status     string
		UnitID     *int   `json:"unit_id"`
		Due        string `json:"due_at"`
		Text       string `json:"loop_text"`
		Confidence float64
		Evidence   []quoted
	}
	// saidEpisode is what an answer says of one episode.
	saidEpisode struct {
		UnitID     int `json:"unit_id"`
		Entities   []saidEntity
		Relations  []saidRelation
		Facts      []saidFact
		Loops      []saidLoop
		Reflection *memory.Reflection
	}
)

// str, list and orNull return fields that the readers of this package check.
func str(name string, words ...string) ask.Field {
	return ask.Field{Name: name, Kind: ask.Any, Words: words}
}

func list(name string, fields ...ask.Field) ask.Field {
	return ask.Field{Name: name, Kind: ask.Objects, Fields: fields}
}

func orNull(f ask.Field) ask.Field {
	f.Null, f.Optional = true, true
	return f
}

// Fields that several items have.
var (
	unitID     = ask.Field{Name: "unit_id", Kind: ask.Integer}
	certainty  = ask.Field{Name: "confidence", Kind: ask.Number}
	quotations = ask.Field{Name: "evidence", Kind: ask.Objects, Optional: true, Bare: "quote", Fields: []ask.Field{{Name: "line", Kind: ask.Integer}, str("quote")}}
)

// episodeFields are the fields of an answer about one episode.
func (c Contracts) episodeFields() []ask.Field {
	etype := str("etype", c.entityTypes()...)
	object := func(name string, fields ...ask.Field) ask.Field {
		return ask.Field{Name: name, Kind: ask.Object, Fields: fields}
	}
	validity := object("validity", orNull(str("from")), orNull(str("to")))
	validity.Optional = true
	fields := []ask.Field{
		unitID,
		list("entities", etype, str("name"), ask.Field{Name: "aliases", Kind: ask.Strings}, str("role", "mentioned"), certainty),
		list("relations", str("src"), str("rel", vocab.Relations...), str("dst"), certainty, quotations),
		list("facts", object("subject", etype, str("name")), str("predicate", c.vocabulary().Names()...), str("object_text"),
			orNull(object("object", etype, str("name"))), certainty, validity, quotations),
		list("loops", str("status", "open", "closed"), orNull(unitID), orNull(str("due_at")), str("loop_text"), certainty, quotations),
	}
	if c.Reflections {
		fields = append(fields, orNull(object("reflection", reflectFields...)))
	}
	return fields
}

var reflectFields = []ask.Field{str("reflection_text"), str("emotion_label", memory.Emotions...), {Name: "emotion_intensity", Kind: ask.Number},
	{Name: "topic_tags", Kind: ask.Strings}, {Name: "salience_score", Kind: ask.Number}, certainty}
