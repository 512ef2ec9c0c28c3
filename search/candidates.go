package search

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"golang.org/x/sync/errgroup"

	"kioku/internal/tracing"
	"kioku/memory"
)

// candidate is a chunk, or a passage of one, while it is ranked. Each step fills in its own fields.
type candidate struct {
	Chunk
	// meaning is the similarity to the query by vectors.
	meaning meaning
	text    textScore
	// lines tells where the terms are in the lines of the chunk; nil if this is not known.
	lines *textLines

	// Filled in by merge: ranks count from 1, 0 if the channel did not find the chunk.
	vectorRank, textRank, rank int
	weight                     channelWeights
	merged, confidence         float64
	// sections of the chunk with days of their own.
	sections []section
	// dateBonus is added to the score and dateConfidence is part of the confidence of what belongs to days that the query
	// names; 0 for all others.
	dateBonus, dateConfidence float64
	// nameBonus is added to the score and nameConfidence is part of the confidence of the best passage of a file that is
	// called exactly as the query; 0 for all others.
	nameBonus, nameConfidence float64
	// age in days, and the factor for it.
	age, decay float64
	// mute reports that the passage is front matter or mostly names other notes, and says nothing of its own.
	mute bool
	// heading is the line of the heading that a passage is below, 0 if its chunk does not contain the whole section.
	heading int
	// oneWord reports that a single common word of a longer question occurs.
	oneWord bool
	// weak hits are no answers by the threshold, and fill slots that are free.
	weak bool
	// rerankScore is the score of the re-ranker and rerankRank the place among the candidates that it has scored, from 1; 0 if it
	// has not. exchanged is what the new place adds to the score.
	rerankScore, exchanged float64
	rerankRank             int
	// similarity to the most similar hit that was chosen before, and the score of MMR.
	similarity, mmr float64
	// outcome is one of the constants of Explanation, empty until it is known.
	outcome string
}

// dated reports whether the candidate belongs to days that the query names.
func (c *candidate) dated() bool { return c.dateConfidence > 0 }

// score is the order of the candidates: the merged score after decay plus the bonus for a date or a name, and what the re-ranker
// adds or takes.
func (c *candidate) score() float64 { return c.merged*c.decay + c.bonus() + c.exchanged }

// bonus is what a date or a name adds to the score.
func (c *candidate) bonus() float64 { return c.dateBonus + c.nameBonus }

// proposals are the chunks that the channels propose.
type proposals struct {
	// matched by keywords, dates or identifiers; the same chunk may occur more than once.
	matched []int64
	near    []Neighbor
	// spread is that of the cosines of all chunks.
	spread Spread
	// nearErr is why the vectors could not be searched, nil if they could.
	nearErr error
}

// gather asks both channels at the same time. It fails if the keyword index fails or either channel panics; without
// vectors a search goes on.
func gather(ctx context.Context, rd Reader, t Terms, vector []float32, f memory.Filter, matches, neighbors int) (proposals, error) {
	var out proposals
	group, groupCtx := errgroup.WithContext(ctx)
	if len(t.Any) > 0 {
		group.Go(func() (err error) {
			defer recovered("match", &err)
			ctx, span := tracing.Start(groupCtx, "match")
			defer func() { span.End(err) }()
			span.Int("terms", len(t.Any))
			if out.matched, err = rd.Match(ctx, t, f, matches); err != nil {
				return fmt.Errorf("match %d terms: %w", len(t.Any), err)
			}
			return nil
		})
	}
	if vector != nil {
		group.Go(func() (err error) {
			defer recovered("nearest", &err)
			ctx, span := tracing.Start(groupCtx, "nearest")
			out.near, out.spread, out.nearErr = rd.Nearest(ctx, vector, f, neighbors)
			span.End(out.nearErr)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return proposals{}, err
	}
	return out, ctx.Err()
}

// recovered is deferred by goroutines, because their panic would end the process: it becomes their error, with the stack.
func recovered(step string, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%s: panic: %v\n%s", step, v, debug.Stack())
	}
}

// ids returns the proposed chunks without duplicates.
func (p proposals) ids() []int64 {
	ids := slices.Clone(p.matched)
	for _, n := range p.near {
		ids = append(ids, n.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// candidates reads the proposed chunks and gives each an exact score on each channel, whichever proposed it.
func (p proposals) candidates(ctx context.Context, rd Reader, sc *scorer, vector []float32) ([]*candidate, error) {
	ids := p.ids()
	sc.know(rd, ids)
	chunks, err := rd.Chunks(ctx, ids, vector != nil)
	if err != nil {
		return nil, fmt.Errorf("read candidates: %w", err)
	}
	near := make(map[int64]float64, len(p.near))
	for _, n := range p.near {
		near[n.ID] = n.Cosine
	}
	list := make([]*candidate, len(chunks))
	for i, chunk := range chunks {
		c := &candidate{Chunk: chunk}
		c.text, c.lines = sc.scoreByLine(&c.Chunk)
		if vector != nil {
			c.meaning = compareChunk(vector, &c.Chunk)
			if cos, ok := near[c.ID]; ok && !c.meaning.embedded {
				c.meaning = meaning{embedded: true, chunk: cos, raw: cos}
			}
		}
		list[i] = c
	}
	return list, nil
}
