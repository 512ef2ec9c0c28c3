package search

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"
	"unicode"

	"kioku/embed"
	"kioku/internal/trace"
	"kioku/memory"
)

// embedQuery fills in the vector of the query. It fails only if ctx is done; otherwise the search goes on with keywords only.
func (s *Searcher) embedQuery(ctx context.Context, r *searchState) error {
	r.embedder = s.embedder
	if *s.opt.Hybrid && s.embedder != nil && s.opt.Active != nil {
		r.embedder = s.opt.Active(ctx)
	}
	if !*s.opt.Hybrid || r.embedder == nil || !r.embedder.Enabled() {
		return ctx.Err()
	}
	if embed.EnglishOnly(r.embedder.Space()) && !isLatin(r.query.Text) {
		r.foreign = true // what the model makes of it is noise
		return ctx.Err()
	}
	embedCtx := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		embedCtx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	embedCtx, span := trace.Start(embedCtx, "embed query")
	v, err := r.embedder.Query(embedCtx, r.query.Text)
	span.End(err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && errors.Is(embedCtx.Err(), context.DeadlineExceeded):
		r.degrade(memory.DeadlineNear, "Ranked by keywords only: embedding the query took more than half of the time allowed.")
	case err != nil:
		r.degrade(memory.ProviderDown, "Ranked by keywords only: the query could not be embedded (%v).", err)
	case !usable(v):
		r.degrade(memory.ProviderDown, "Ranked by keywords only: the provider returned a vector of the query that has no direction.")
	default:
		r.vector, r.class = v, r.embedder.Class()
	}
	return nil
}

// errOtherSpace: the index has vectors of another space than the query. It may have got them since the query was embedded.
var errOtherSpace = errors.New("the index has vectors of another model")

// checkSpace drops the vector of the query if the index has no vectors to compare it with. If these are of another space, it
// returns errOtherSpace as long as the query may be embedded again.
func (r *searchState) checkSpace() error {
	if r.vector == nil {
		return nil
	}
	have, want := r.index.Space, r.embedder.Space()
	want.Dims = len(r.vector)
	switch {
	case r.index.Embedded == 0 || have.IsZero():
		r.degrade(memory.VectorsMissing, "Ranked by keywords only: all %d passages have no vector yet; run kioku index.", r.index.Chunks)
		r.vector = nil
	case !have.Matches(want) && r.mayEmbedAgain:
		return errOtherSpace
	case !have.Matches(want):
		r.degrade(memory.SpaceChanged, "Ranked by keywords only: the index has vectors of %s, the query is of %s.",
			have.Name(), want.Name())
		r.vector = nil
	case r.index.unembedded() > 0:
		r.degrade(memory.VectorsMissing, "%d of %d passages have no vector yet; they are ranked by keywords.",
			r.index.unembedded(), r.index.Chunks)
	}
	return nil
}

// channelMode returns the mode of the answer. If the index knows no word of the query, as with a question in another
// language, a real model ranks by itself: an absent channel takes no weight from the other.
func (r *searchState) channelMode() string {
	known := slices.ContainsFunc(r.terms.list, func(t queryTerm) bool { return t.df > 0 })
	switch {
	case r.vector == nil:
		return memory.ModeKeyword
	case !known && (r.class != embed.Weak || len(r.terms.list) == 0):
		return memory.ModeVector
	}
	return memory.ModeHybrid
}

// isLatin reports whether most letters of a text are Latin.
func isLatin(text string) bool {
	latin, others := 0, 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.IsLetter(r):
			others++
		}
	}
	return latin >= others
}

// cosine returns the cosine of two vectors. It returns false if they cannot be compared: one is missing, has other
// dimensions, is all zeros, or contains numbers that are not finite.
func cosine(a, b []float32) (float64, bool) {
	if len(a) == 0 || len(a) != len(b) {
		return 0, false
	}
	var dot, aa, bb float64
	for i, x := range a {
		y := float64(b[i])
		dot += float64(x) * y
		aa += float64(x) * float64(x)
		bb += y * y
	}
	cos := dot / (math.Sqrt(aa) * math.Sqrt(bb))
	if math.IsNaN(cos) || math.IsInf(cos, 0) {
		return 0, false
	}
	return cos, true
}

// usable reports whether v can be compared with anything: it has a direction and only finite numbers.
func usable(v []float32) bool {
	_, ok := cosine(v, v)
	return ok
}
