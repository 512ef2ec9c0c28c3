package contract

import (
	"strconv"
	"strings"

	"kioku/derive/unit"
	"kioku/memory"
)

// ExtractInput is a batch of episodes.
type ExtractInput struct {
	// Episodes to read, in the order of time.
	Episodes []Episode
	// Loops that are open, of which at most 20 are offered.
	Loops []memory.Loop
	// Entities that are known, of which at most 40 are offered.
	Entities []unit.Entity
	// Model is the name of the model, for the maker of claims.
	Model string
}

// Extraction is what an answer says about a batch of episodes.
type Extraction struct {
	// Episodes has one item for each episode of the input, in the same order.
	Episodes []Extracted
	// Report of all items.
	Report Report
}

// Extracted is what an answer says about one episode of a batch.
type Extracted struct {
	// Episode of the input.
	Episode memory.Episode
	// Mentions of entities; without the owner of the memory.
	Mentions []unit.Mention
	// Claims with lines relative to the episode.
	Claims []unit.Claim
	// Reflection is nil unless it was asked for and given.
	Reflection *Reflection
	// Missing reports that the answer says nothing of this episode, and Lost that it had items for it and every one of them was
	// rejected. Neither is a result: the episode must be asked about again, alone.
	Missing, Lost bool
	// Problems of the items of this episode, at most 10.
	Problems []Problem
}

// Extract asks for entities, relations, facts and loops of a batch of episodes. It returns ErrNoInput if there is no line to show.
func (c Contracts) Extract(in ExtractInput) (Prompt, error) {
	var d data
	d.offer(in.Loops, in.Entities)
	lines := 0
	for n, e := range in.Episodes {
		source := newSource(e)
		lines += len(source.lines)
		d.line("")
		d.line("episode unit_id %d", n+1)
		d.episode(source)
	}
	if lines == 0 {
		return Prompt{}, ErrNoInput
	}
	entities, relations := c.entitySchemas()
	fields := []field{key("unit_id", integer()), key("entities", entities), key("relations", relations), key("facts", c.factSchema()),
		key("loops", loopSchema())}
	task := "The data are episodes with their numbers. Answer {\"episodes\": [{\"unit_id\", \"entities\", \"relations\", \"facts\", \"loops\"}]}, one item for each " +
		"episode, with the number of the episode. The numbers of lines are those of that episode, and its limits and dates are its own.\n" +
		c.entitiesTask() + "\n" + c.factsTask() + "\n" + loopsTask + "\n" + evidenceTask
	if c.Reflections {
		fields = append(fields, key("reflection", obj(reflectFields()...).orNull()))
		task += "\nreflection: {" + strings.Join(reflectKeys(), ", ") + "} or null. " + reflectTask
	}
	return c.prompt(NameExtract, task, obj(key("episodes", list(obj(fields...)))), 2000, &d), nil
}

// offer writes the loops and entities that an answer may refer to, before all else.
func (d *data) offer(loops []memory.Loop, entities []unit.Entity) {
	if loops = offeredLoops(loops); len(loops) > 0 {
		d.line("open loops (unit_id, text):")
		for n, loop := range loops {
			d.line("%d %s", n+1, cleanLine(loop.Text))
		}
	}
	if entities = offeredEntities(entities); len(entities) > 0 {
		d.line("known entities (type:name, aliases):")
		for _, e := range entities {
			names := e.Type + ":" + cleanLine(e.Name)
			for _, alias := range e.Aliases {
				names += ", " + cleanLine(alias)
			}
			d.line("%s", names)
		}
	}
}

func offeredLoops(loops []memory.Loop) []memory.Loop { return loops[:min(len(loops), maxOfferedLoops)] }

func offeredEntities(entities []unit.Entity) []unit.Entity {
	return entities[:min(len(entities), maxOfferedEntities)]
}

func reflectKeys() []string {
	var keys []string
	for _, f := range reflectFields() {
		keys = append(keys, strconv.Quote(f.key))
	}
	return keys
}

// ReadExtract reads an answer to Extract. The error is an *Error: nothing of the answer may be stored. Without an error, the
// episodes that are neither missing nor lost are done.
func (c Contracts) ReadExtract(in ExtractInput, answer, stop string) (Extraction, error) {
	r := newReader(NameExtract)
	x := Extraction{Episodes: make([]Extracted, len(in.Episodes))}
	for n := range x.Episodes {
		x.Episodes[n] = Extracted{Episode: in.Episodes[n].Episode, Missing: true}
	}
	if o := r.open(answer, stop); o != nil {
		for _, o := range o.list("episodes") {
			c.readExtracted(r, in, o, x.Episodes)
		}
		o.done()
	}
	if missing := missingEpisodes(x.Episodes); len(missing) > 0 && len(missing) == len(in.Episodes) {
		r.invalid("episodes", "must have one item for each episode")
	}
	var err error
	x.Report, err = r.finish()
	if err != nil {
		return Extraction{Report: x.Report}, err
	}
	return x, nil
}

// missingEpisodes returns the numbers of the episodes of which an answer says nothing.
func missingEpisodes(list []Extracted) []int {
	var missing []int
	for n, e := range list {
		if e.Missing {
			missing = append(missing, n)
		}
	}
	return missing
}

// readExtracted reads the item of one episode into its place.
func (c Contracts) readExtracted(r *reader, in ExtractInput, o *object, into []Extracted) {
	i := &item{object: o}
	id := i.offered("unit_id", len(into))
	if id > 0 && !into[id-1].Missing {
		i.fail("unit_id", ReasonID, "stands twice")
		id = 0
	}
	one := newReader(NameExtract)
	o.r = one
	target := Extracted{}
	e := &episodeReader{c: c, r: one, source: &source{}, loops: offeredLoops(in.Loops), known: offeredEntities(in.Entities), model: in.Model}
	if id > 0 {
		target.Episode = in.Episodes[id-1].Episode
		e.source = newSource(in.Episodes[id-1])
	}
	e.readEntities(o)
	e.readClaims(o, "relations", NameEntities, maxRelations, e.relation)
	e.readClaims(o, "facts", NameFacts, maxFacts, e.fact)
	e.readClaims(o, "loops", NameLoops, maxLoops, e.loop)
	if c.Reflections {
		if reflection := o.child("reflection", true); reflection != nil {
			target.Reflection = readReflection(reflection)
			reflection.done()
		}
	} else {
		o.read["reflection"] = true
	}
	o.done()
	r.addPart(one, id > 0)
	if id > 0 {
		target.Mentions, target.Claims, target.Problems = e.mentions, e.claims, one.report.Problems
		target.Lost = one.report.Accepted == 0 && one.report.lost() > 0
		into[id-1] = target
	}
}
