package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kioku/derive/unit"
	"kioku/llm/ask"
	"kioku/memory"
)

// ExtractInput is a batch of episodes.
type ExtractInput struct {
	// Episodes to read, in the order of time.
	Episodes []unit.EpisodeText
	// Loops that are open, of which at most 20 are offered.
	Loops []memory.Loop
	// Entities that are known, of which at most 40 are offered.
	Entities []unit.Entity
	// Model is the name of the model, for the maker of claims.
	Model string
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
	Reflection *memory.Reflection
	// Missing reports that the answer says nothing of this episode, and Lost that it had items for it and every one of them was
	// rejected. Neither is a result: the episode must be asked about again, alone.
	Missing, Lost bool
}

// Extract asks for entities, relations, facts and loops of a batch of episodes. The answer has one item for each of them, in the same order;
// those that are neither missing nor lost are done. It returns ErrNoInput if there is no line to show.
func (c Contracts) Extract(in ExtractInput) (q Question[[]Extracted], err error) {
	var d data
	d.offer(in.Loops, in.Entities)
	if !d.episodes(in.Episodes) {
		return q, ErrNoInput
	}
	task := "The data are episodes with their numbers. Answer {\"episodes\": [{\"unit_id\", \"entities\", \"relations\", \"facts\", \"loops\"}]}, one item for each " +
		"episode, with the number of the episode. The numbers of lines are those of that episode, and its limits and dates are its own.\n" +
		c.entitiesTask() + "\n" + c.factsTask() + "\n" + loopsTask + "\n" + evidenceTask
	if c.Reflections {
		var keys []string
		for _, f := range reflectFields {
			keys = append(keys, strconv.Quote(f.Name))
		}
		task += "\nreflection: {" + strings.Join(keys, ", ") + "} or null. " + reflectTask
	}
	q.Prompt = c.prompt(NameExtract, task, []ask.Field{list("episodes", c.episodeFields()...)}, 2000, &d)
	q.read = func(r *reader, answer, stop string) []Extracted { return c.readExtract(r, in, answer, stop) }
	return q, nil
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

// readExtract reads an answer to Extract.
func (c Contracts) readExtract(r *reader, in ExtractInput, answer, stop string) []Extracted {
	all := make([]Extracted, len(in.Episodes))
	for n := range all {
		all[n] = Extracted{Episode: in.Episodes[n].Episode, Missing: true}
	}
	var said struct{ Episodes []saidEpisode }
	if r.read(answer, stop, []ask.Field{list("episodes", c.episodeFields()...)}, &said) {
		for n, one := range said.Episodes {
			c.readEpisode(r.nth("episodes", n), in, one, all)
		}
		if !slices.ContainsFunc(all, func(e Extracted) bool { return !e.Missing }) {
			r.invalid(ask.Problem("episodes", "must have one item for each episode").Error())
		}
	}
	return all
}

// readEpisode checks what is said of one episode, and puts it into its place. What is said of none that was offered counts for nothing.
func (c Contracts) readEpisode(i *item, in ExtractInput, said saidEpisode, into []Extracted) {
	id := i.offered(said.UnitID, len(into))
	if id > 0 && !into[id-1].Missing {
		i.fail("unit_id", ReasonID, "stands twice")
	}
	if i.dropped {
		return
	}
	e := &episodeReader{c: c, r: newReader(NameExtract), source: newSource(in.Episodes[id-1]), loops: offeredLoops(in.Loops),
		known: offeredEntities(in.Entities), model: in.Model}
	e.readEntities(i.at("entities"), said.Entities)
	readClaims(e, i.at("relations"), NameEntities, maxRelations, said.Relations, e.relation)
	readClaims(e, i.at("facts"), NameFacts, maxFacts, said.Facts, e.fact)
	readClaims(e, i.at("loops"), NameLoops, maxLoops, said.Loops, e.loop)
	report := &e.r.report
	target := Extracted{Episode: in.Episodes[id-1].Episode, Mentions: e.mentions, Claims: e.claims}
	if said.Reflection != nil {
		target.Reflection = readReflection(e.r.item(i.at("reflection")), *said.Reflection)
	}
	target.Lost = report.Accepted == 0 && report.lost() > 0
	into[id-1] = target
	i.r.add(*report)
}

// draft is an item that becomes one claim for each of its quotes.
type draft struct {
	claim      unit.Claim
	confidence float64
	evidence   []citation
}

// readClaims makes claims of at most limit items of a list.
func readClaims[T any](e *episodeReader, list, contract string, limit int, said []T, check func(*item, T) draft) {
	var drafts []draft
	for n, one := range said {
		i := e.r.nth(list, n)
		if d := check(i, one); !i.dropped {
			drafts = append(drafts, d)
		}
	}
	drafts = best(e.r, list, drafts, limit, func(d draft) float64 { return d.confidence })
	for _, d := range drafts {
		for _, c := range d.evidence {
			e.addClaim(contract, d, c)
		}
	}
	e.r.report.Accepted += len(drafts)
}

// addClaim adds the claim of a draft with one of its quotes, unless it is there.
func (e *episodeReader) addClaim(contract string, d draft, c citation) {
	claim := d.claim
	claim.EpisodeID, claim.EpisodeUID, claim.At, claim.Sensitivity = e.source.ID, e.source.UID, e.source.OccurredAt, e.source.Sensitivity
	claim.Maker = contract
	if e.model != "" {
		claim.Maker += " " + e.model
	}
	claim.StartLine, claim.EndLine, claim.Quote, claim.Speaker = c.start, c.end, c.quote, c.speaker
	claim.Confidence = d.confidence
	if c.whole {
		claim.Confidence = min(claim.Confidence, wholeConfidence)
	}
	if !slices.ContainsFunc(e.claims, func(other unit.Claim) bool { return sameClaim(other, claim) }) {
		e.claims = append(e.claims, claim)
	}
}

// sameClaim reports whether two claims of one episode say the same with the same quote.
func sameClaim(a, b unit.Claim) bool {
	return a.Kind == b.Kind && a.StartLine == b.StartLine && a.Quote == b.Quote && a.Subject == b.Subject && a.Predicate == b.Predicate &&
		a.Object == b.Object && a.From == b.From && a.To == b.To && a.LoopText == b.LoopText && a.Closes == b.Closes
}

// best returns the items of a list that are left at its limit: the first of the highest rank, in their order. It counts the others.
func best[T any](r *reader, path string, items []T, limit int, rank func(T) float64) []T {
	if len(items) <= limit {
		return items
	}
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(items[b]), rank(items[a])) })
	for range order[limit:] {
		r.drop(path, ReasonLimit, fmt.Sprintf("must have at most %d items", limit))
	}
	order = order[:limit]
	slices.Sort(order)
	kept := make([]T, 0, limit)
	for _, i := range order {
		kept = append(kept, items[i])
	}
	return kept
}
