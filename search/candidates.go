package search

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"golang.org/x/sync/errgroup"

	"kioku/internal/trace"
	"kioku/memory"
)

// candidate is a chunk, or a passage of one, while it is ranked.
type candidate struct {
	Chunk
	// text and meaning are what its words and its vectors say.
	text    textScore
	meaning meaning
	// origins of the lines of a hit's chunk.
	origins []memory.LineOrigin
	form
	// base orders the candidates of one query by words and meaning, and sure is what these come to between queries, both in [0,1].
	base, sure float64
	// effects of the rules beside words and meaning, in their order; see adjustments.go.
	effects []effect
	ranks
	fate
}

// form is what the text of a candidate is beside its words.
type form struct {
	// tokens of the text of a chunk.
	tokens *textTokens
	// sections of the chunk with days of their own.
	sections []section
	// mute reports that a passage is front matter or mostly names other notes, and says nothing of its own.
	mute bool
	// heading is the line of the heading that a passage is below, 0 if its chunk does not contain the whole section.
	heading int
}

// ranks of a candidate, from 1: by each channel, 0 if that did not find the chunk; by its score; and among those that the re-ranker
// has scored, with the score that this gave, 0 if it has not.
type ranks struct {
	vectorRank, textRank, rank, rerankRank int
	rerankScore                            float64
}

// fate is what becomes of a candidate.
type fate struct {
	// outcome is one of the constants of Explanation, empty until it is known.
	outcome string
	// weak candidates are no answers by the threshold, and fill slots that are free.
	weak bool
	// similarity to the most similar hit that was chosen before, and the score of MMR.
	similarity, mmr float64
}

// isDated reports whether the candidate belongs to days that the query names.
func (c *candidate) isDated() bool { return c.effect(ruleDays).confidence > 0 }

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

// gatherProposals asks both channels at the same time. It fails if the keyword index fails or either channel panics; without
// vectors a search goes on.
func gatherProposals(ctx context.Context, rd Reader, t Terms, vector []float32, f memory.Filter, matches, neighbors int) (proposals, error) {
	var out proposals
	group, groupCtx := errgroup.WithContext(ctx)
	if len(t.Any) > 0 {
		group.Go(func() (err error) {
			defer recovered("match", &err)
			ctx, span := trace.Start(groupCtx, "match")
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
			ctx, span := trace.Start(groupCtx, "nearest")
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
	chunks, err := rd.Chunks(ctx, p.ids(), vector != nil)
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
		c.text, c.tokens = sc.scoreTokens(&c.Chunk)
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
