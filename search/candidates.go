package search

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"golang.org/x/sync/errgroup"

	"kioku/memory"
)

// maxNearest is the most neighbours that a vector index is asked for.
const maxNearest = 4096

// candidate is a chunk on its way through the ranking. Each step fills in its own fields.
type candidate struct {
	Chunk
	// embedded says that the chunk has a usable vector, and cosine is its similarity to the query, clamped to [0,1].
	embedded bool
	cosine   float64
	text     textScore
	// lines of the chunk's text; nil where they are not known.
	lines *textLines

	// merge
	vectorRank, textRank, rank int
	weight                     channelWeights
	merged, confidence         float64
	// dates: sections of the chunk with days of their own. What belongs to days that the query names has a bonus and a
	// confidence from that alone.
	sections                  []section
	dateBonus, dateConfidence float64
	// decay
	age, decay float64
	// passages: the line of the heading under which a passage stands, 0 where its chunk holds no more than a part of the
	// section
	heading int
	// threshold
	backed bool
	// mmr
	similarity, mmr float64
	// outcome is one of the constants of Explanation, once it is known.
	outcome string
}

// dated reports whether the candidate belongs to days that the query names.
func (c *candidate) dated() bool { return c.dateConfidence > 0 }

// score orders the candidates: the merged score after decay, and the bonus for a date.
func (c *candidate) score() float64 { return c.merged*c.decay + c.dateBonus }

// found are the chunks that the channels propose.
type found struct {
	matched []int64
	dated   []int64
	// named hold identifiers of the query.
	named []int64
	near  []Neighbor
	// nearErr is why the vectors could not be searched.
	nearErr error
}

// gather asks both channels at the same time. It fails where the keyword index does, and where
// either panics; without vectors a search goes on.
func gather(ctx context.Context, rd Reader, t Terms, vector []float32, f memory.Filter, textPool, nearPool int) (found, error) {
	var out found
	group, groupCtx := errgroup.WithContext(ctx)
	if len(t.Any) > 0 {
		group.Go(func() (err error) {
			defer recovered("match", &err)
			if out.matched, err = rd.Match(groupCtx, t, f, textPool); err != nil {
				return fmt.Errorf("match %d terms: %w", len(t.Any), err)
			}
			return nil
		})
	}
	if vector != nil {
		group.Go(func() (err error) {
			defer recovered("nearest", &err)
			out.near, out.nearErr = rd.Nearest(groupCtx, vector, f, nearPool)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return found{}, err
	}
	return out, ctx.Err()
}

// recovered is deferred by goroutines, whose panic would end the process: it becomes their error, with the stack.
func recovered(step string, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%s: panic: %v\n%s", step, v, debug.Stack())
	}
}

// ids returns the proposed chunks without duplicates.
func (f found) ids() []int64 {
	ids := make([]int64, 0, len(f.matched)+len(f.dated)+len(f.named)+len(f.near))
	seen := make(map[int64]bool, cap(ids))
	add := func(id int64) {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	for _, id := range slices.Concat(f.matched, f.dated, f.named) {
		add(id)
	}
	for _, n := range f.near {
		add(n.ID)
	}
	return ids
}

// read turns the proposed chunks into candidates with an exact score on each channel, whichever proposed them.
func (f found) read(ctx context.Context, rd Reader, sc *scorer, vector []float32) ([]*candidate, error) {
	chunks, err := rd.Chunks(ctx, f.ids(), vector != nil)
	if err != nil {
		return nil, fmt.Errorf("read candidates: %w", err)
	}
	near := make(map[int64]float64, len(f.near))
	for _, n := range f.near {
		near[n.ID] = n.Cosine
	}
	list := make([]*candidate, len(chunks))
	for i, chunk := range chunks {
		c := &candidate{Chunk: chunk}
		c.text, c.lines = sc.scoreByLine(&c.Chunk)
		if vector != nil {
			cos, ok := cosine(vector, c.Vector)
			if !ok {
				cos, ok = near[c.ID]
			}
			c.cosine, c.embedded = clamp01(cos), ok
		}
		list[i] = c
	}
	return list, nil
}
