package contract

import (
	"kioku/memory"
)

// Found is what an answer says about one episode.
type Found struct {
	// Mentions of entities; without the owner of the memory.
	Mentions []memory.Mention
	// Claims with lines relative to the episode.
	Claims []memory.Claim
	// Report of the items.
	Report Report
}

// Entities asks for the entities and relations of an episode. It returns ErrNoInput if there is no line to show.
func (c Contracts) Entities(in EpisodeInput) (Prompt, error) {
	entities, relations := c.entitySchemas()
	return c.episodePrompt(NameEntities, c.entitiesTask()+"\n"+evidenceTask, obj(key("entities", entities), key("relations", relations)), 1200, in)
}

// ReadEntities reads an answer to Entities. The error is an *Error.
func (c Contracts) ReadEntities(in EpisodeInput, answer, stop string) (Found, error) {
	return c.readEpisode(NameEntities, in, answer, stop, (*episodeReader).readEntities)
}

// Facts asks for the facts of an episode. It returns ErrNoInput if there is no line to show.
func (c Contracts) Facts(in EpisodeInput) (Prompt, error) {
	return c.episodePrompt(NameFacts, c.factsTask()+"\n"+evidenceTask, obj(key("facts", c.factSchema())), 1200, in)
}

// ReadFacts reads an answer to Facts. The error is an *Error.
func (c Contracts) ReadFacts(in EpisodeInput, answer, stop string) (Found, error) {
	return c.readEpisode(NameFacts, in, answer, stop, (*episodeReader).readFacts)
}

// Loops asks for what an episode opens and closes. It returns ErrNoInput if there is no line to show.
func (c Contracts) Loops(in EpisodeInput) (Prompt, error) {
	return c.episodePrompt(NameLoops, loopsTask+"\n"+evidenceTask, obj(key("loops", loopSchema())), 800, in)
}

// ReadLoops reads an answer to Loops. The error is an *Error.
func (c Contracts) ReadLoops(in EpisodeInput, answer, stop string) (Found, error) {
	return c.readEpisode(NameLoops, in, answer, stop, (*episodeReader).readLoops)
}

// episodePrompt returns a prompt about one episode.
func (c Contracts) episodePrompt(contract, task string, schema node, maxTokens int, in EpisodeInput) (Prompt, error) {
	source := newSource(in.Episode)
	if len(source.lines) == 0 {
		return Prompt{}, ErrNoInput
	}
	var d data
	d.offer(in.Loops, in.Entities)
	d.episode(source)
	return c.prompt(contract, task, schema, maxTokens, &d), nil
}

// offer writes the loops and entities that an answer may refer to, before all else.
func (d *data) offer(loops []memory.Loop, entities []memory.Entity) {
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

func offeredEntities(entities []memory.Entity) []memory.Entity {
	return entities[:min(len(entities), maxOfferedEntities)]
}

// readEpisode reads an answer about one episode.
func (c Contracts) readEpisode(contract string, in EpisodeInput, answer, stop string, read func(*episodeReader, *object)) (Found, error) {
	r := newReader(contract)
	e := &episodeReader{c: c, r: r, source: newSource(in.Episode), loops: offeredLoops(in.Loops), known: offeredEntities(in.Entities), model: in.Model}
	if o := r.open(answer, stop); o != nil {
		read(e, o)
		o.done()
	}
	report, err := r.finish()
	if err != nil {
		return Found{Report: report}, err
	}
	return Found{Mentions: e.mentions, Claims: e.claims, Report: report}, nil
}
