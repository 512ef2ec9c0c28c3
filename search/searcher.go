package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/memory"
)

const (
	// MaxResults is the most hits that a query may ask for.
	MaxResults = 100
	// MinSnippetChars and MaxSnippetChars bound the characters of a snippet that a query may ask for.
	MinSnippetChars = 40
	MaxSnippetChars = 2000
)

// Searcher answers queries from a store. Its methods may be called concurrently.
type Searcher struct {
	store    Store
	embedder Embedder
	opt      Options
	weights  weights
}

// New returns a searcher; e may be nil, which leaves keywords alone.
func New(s Store, e Embedder, opt Options) *Searcher {
	return &Searcher{store: s, embedder: e, opt: opt.withDefaults(), weights: measured()}
}

// Search returns at most q.MaxResults hits, best first.
//
// It never returns a bare empty list: an answer without hits says in Degraded that the index is empty or what came
// nearest. Where the query cannot be embedded or the index has other vectors, it ranks by keywords and says so. A
// query without a word (only punctuation, an emoji) is answered by vectors, or by no hit at all without them.
//
// It returns ErrEmptyQuery for a blank query, an *InputError for one that is longer than MaxQueryBytes or has a
// limit, a minimum or a filter that means nothing, and the error of ctx or of the store where that is what stops it.
func (s *Searcher) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	r, err := s.newRun(q)
	if err != nil {
		return memory.Answer{}, err
	}
	if err := s.walk(ctx, r, nil); err != nil {
		return memory.Answer{}, fmt.Errorf("search: %w", err)
	}
	return s.answer(r), nil
}

// run is one query on its way.
type run struct {
	query memory.Query
	text  string
	// k is the most hits.
	k   int
	now time.Time
	// granularity of the hits, and the most characters of a snippet.
	granularity  string
	snippetChars int
	// vector of the query, nil where vectors take no part.
	vector []float32
	weak   bool
	// dates is what the query says of days.
	dates    queryDates
	index    Index
	terms    queryTerms
	mode     string
	degraded []memory.Degradation
	// candidates by score, best first, and those that are returned.
	candidates, hits []*candidate
}

func (r *run) degrade(code, format string, args ...any) {
	r.degraded = append(r.degraded, memory.Degradation{Code: code, Text: fmt.Sprintf(format, args...)})
}

// newRun checks a query.
func (s *Searcher) newRun(q memory.Query) (*run, error) {
	r := &run{query: q, text: strings.TrimSpace(q.Text), k: q.MaxResults, now: q.Now, mode: memory.ModeKeyword}
	switch {
	case r.text == "":
		return nil, ErrEmptyQuery
	case len(r.text) > MaxQueryBytes:
		return nil, badField("query", "has %d bytes, more than %d: ask a shorter question", len(r.text), MaxQueryBytes)
	case r.k < 0 || r.k > MaxResults:
		return nil, badField("max_results", "is %d, not within 0 and %d", r.k, MaxResults)
	}
	if err := s.shape(r); err != nil {
		return nil, err
	}
	if m := q.MinScore; m != nil && !inUnit(*m) {
		return nil, badField("min_score", "is %v, not within 0 and 1", *m)
	}
	var err error
	if r.query.Filter, err = ReadFilter(q.Filter); err != nil {
		return nil, err
	}
	if r.k == 0 {
		r.k = min(max(s.opt.MaxResults, 1), MaxResults)
	}
	if r.now.IsZero() {
		r.now = s.clock()
	}
	r.dates = parseDates(r.text, r.now, s.weights.maxSpans)
	return r, nil
}

// shape fills in what a hit is to be.
func (s *Searcher) shape(r *run) error {
	r.granularity, r.snippetChars = r.query.Granularity, r.query.SnippetChars
	if r.granularity == "" {
		r.granularity = s.opt.Granularity
	}
	if r.snippetChars == 0 {
		r.snippetChars = s.opt.SnippetChars
	}
	switch {
	case r.granularity != memory.GranularityPassage && r.granularity != memory.GranularityChunk:
		return badField("granularity", "is %q; must be %q or %q", r.granularity, memory.GranularityPassage, memory.GranularityChunk)
	case r.query.SnippetChars != 0 && (r.query.SnippetChars < MinSnippetChars || r.query.SnippetChars > MaxSnippetChars):
		return badField("max_snippet_chars", "is %d, not within %d and %d",
			r.query.SnippetChars, MinSnippetChars, MaxSnippetChars)
	}
	return nil
}

func (s *Searcher) clock() time.Time {
	if s.opt.Now != nil {
		return s.opt.Now()
	}
	return time.Now()
}

// walk takes a query through all steps. Before the snapshot is given back, then is called with it, if it is not nil.
func (s *Searcher) walk(ctx context.Context, r *run, then func(context.Context, Reader, *run) error) error {
	// Before the view is opened, lest a slow provider hold a snapshot of the index.
	if err := s.embed(ctx, r); err != nil {
		return err
	}
	return s.store.View(ctx, r.vector != nil, func(rd Reader) error {
		if err := s.rank(ctx, rd, r); err != nil || then == nil {
			return err
		}
		return then(ctx, rd, r)
	})
}

// embed fills in the query's vector. It fails only where ctx is done; otherwise keywords carry on.
func (s *Searcher) embed(ctx context.Context, r *run) error {
	if !*s.opt.Hybrid || s.embedder == nil || !s.embedder.Enabled() {
		return ctx.Err()
	}
	embedCtx := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		embedCtx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	v, err := s.embedder.Query(embedCtx, r.text)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && errors.Is(embedCtx.Err(), context.DeadlineExceeded):
		r.degrade(memory.DeadlineNear, "Ranked by keywords alone: embedding the query took more than half of the time allowed.")
	case err != nil:
		r.degrade(memory.ProviderDown, "Ranked by keywords alone: the query could not be embedded (%v).", err)
	case !usable(v):
		r.degrade(memory.ProviderDown, "Ranked by keywords alone: the provider returned a vector of the query that has no direction.")
	default:
		r.vector, r.weak = v, s.embedder.Weak()
	}
	return nil
}

// rank finds, scores and chooses the hits within one snapshot.
func (s *Searcher) rank(ctx context.Context, rd Reader, r *run) error {
	r.index = rd.Index()
	if r.index.Chunks <= 0 {
		r.vector = nil
		r.degrade(memory.IndexEmpty, "Nothing is indexed yet.")
		return nil
	}
	s.compareSpaces(r)
	if err := s.prepareTerms(ctx, rd, r); err != nil {
		return err
	}
	if err := s.findCandidates(ctx, rd, r); err != nil {
		return err
	}
	merge(r.candidates, s.opt.weightsFor(r.mode, r.weak), s.weights)
	s.opt.decay(r.candidates, r.now)
	slices.SortFunc(r.candidates, func(a, b *candidate) int { return compare(a.score(), b.score(), a, b) })
	s.choose(r)
	if len(r.hits) == 0 {
		s.explainNothing(r)
	}
	return nil
}

// compareSpaces drops the query's vector where the index has none to compare it with.
func (s *Searcher) compareSpaces(r *run) {
	if r.vector == nil {
		return
	}
	have, want := r.index.Space, s.embedder.Space()
	switch {
	case r.index.Embedded == 0 || have.IsZero():
		r.degrade(memory.VectorsMissing, "Ranked by keywords alone: no chunk has a vector yet.")
		r.vector = nil
	case !have.Matches(want) || have.Dims != 0 && have.Dims != len(r.vector):
		r.degrade(memory.SpaceChanged, "Ranked by keywords alone: the index holds vectors of %s, the query is one of %s.",
			spaceName(have.Provider, have.Model, have.Dims), spaceName(want.Provider, want.Model, len(r.vector)))
		r.vector = nil
	case r.index.Embedded < r.index.Chunks:
		r.degrade(memory.VectorsMissing, "%d of %d chunks have no vector yet; they are ranked by keywords.",
			r.index.Chunks-r.index.Embedded, r.index.Chunks)
	}
}

func spaceName(provider, model string, dims int) string {
	return fmt.Sprintf("%s/%s (%d dimensions)", provider, model, dims)
}

// prepareTerms fills in the query's terms with what the index knows of them.
func (s *Searcher) prepareTerms(ctx context.Context, rd Reader, r *run) error {
	words, err := r.words(ctx, rd)
	if err != nil {
		return err
	}
	terms := parseTerms(words, r.dates.words, s.weights)
	if len(terms.list) == 0 {
		return nil
	}
	df, err := rd.DocFreq(ctx, terms.strings())
	if err != nil {
		return fmt.Errorf("look up terms: %w", err)
	}
	r.terms = terms.weigh(df, r.index.Chunks)
	if *s.opt.Typos {
		if err := s.joinNeighbors(ctx, rd, r); err != nil {
			return err
		}
	}
	if r.terms.capped {
		r.degrade(memory.TermsCapped, "Of %d different terms the %d rarest were looked for.", len(terms.list), MaxTerms)
	}
	return nil
}

// findCandidates gathers and scores the candidates, and sets the mode by what took part.
func (s *Searcher) findCandidates(ctx context.Context, rd Reader, r *run) error {
	near := max(s.weights.nearPool, min(s.opt.CandidateMultiplier*r.k, maxNearest))
	start := time.Now()
	terms := r.terms.matchable(r.index.Chunks, s.weights)
	out, err := gather(ctx, rd, terms, r.vector, r.query.Filter, s.weights.textPool, near)
	if err != nil {
		return err
	}
	if out.dated, err = r.dates.gather(ctx, rd, terms, r.query.Filter, near, s.weights); err != nil {
		return err
	}
	if out.named, err = r.gatherNamed(ctx, rd, s.weights.namePool); err != nil {
		return err
	}
	if out.nearErr != nil {
		r.degrade(memory.VectorsMissing, "Ranked by keywords alone: the vectors could not be searched (%v).", out.nearErr)
		r.vector = nil
	}
	start = s.observe(StepLists, start)
	defer func() { s.observe(StepScores, start) }()
	r.mode = r.channels()
	sc := newScorer(r.terms, r.index.AvgTerms, s.weights)
	defer sc.release()
	if r.candidates, err = out.read(ctx, rd, sc, r.vector); err != nil {
		return err
	}
	pool := s.weights.passagePool
	if len(r.dates.spans) > 0 {
		findSections(r.candidates)
		pool = len(r.candidates)
	}
	if r.granularity == memory.GranularityPassage {
		r.candidates = passages(r.foremost(pool), sc, r.snippetChars)
	}
	r.dates.addBonus(r.candidates, s.weights)
	return nil
}

// observe tells how long a step took that has just ended, and returns the time.
func (s *Searcher) observe(step string, start time.Time) time.Time {
	now := time.Now()
	if s.opt.Observe != nil {
		s.opt.Observe(step, now.Sub(start))
	}
	return now
}

// channels returns the mode. A real model is left alone where the index knows no word of the query, as with a
// question in another language: an absent channel takes no weight from the other.
func (r *run) channels() string {
	known := slices.ContainsFunc(r.terms.list, func(t queryTerm) bool { return t.df > 0 })
	switch {
	case r.vector == nil:
		return memory.ModeKeyword
	case !known && (!r.weak || len(r.terms.list) == 0):
		return memory.ModeVector
	}
	return memory.ModeHybrid
}

// choose fills in the hits: those that pass the threshold, then, in slots that stay free, those that keywords back. What
// holds an identifier of the query is among them, unless the query asks for a score that it lacks.
func (s *Searcher) choose(r *run) {
	list := r.candidates
	if r.granularity == memory.GranularityPassage {
		list = uncovered(list)
	}
	limit := s.opt.thresholdFor(r.mode, r.query.MinScore)
	passing, backed := limit.split(list)
	if *s.opt.MMR {
		// The rest of the pool is too far down to be chosen for being different.
		pool := max(s.weights.nearPool, 4*r.k)
		d := newDiversifier(*s.opt.MMRLambda)
		d.choose(passing[:min(pool, len(passing))], r.k)
		d.choose(backed[:min(pool, len(backed))], r.k)
		r.hits = d.chosen
	} else {
		r.hits = append(passing, backed...)
		r.hits = r.hits[:min(r.k, len(r.hits))]
	}
	r.hits = r.keepIdentifiers(r.hits, r.allowed(), r.k)
	for _, c := range r.hits {
		c.outcome = memory.Returned
		c.backed = c.backed || c.confidence < limit.min && !c.dated()
	}
	for _, c := range r.candidates {
		if c.outcome == "" {
			c.outcome = memory.BeyondMaxResults
		}
	}
}

// explainNothing says why there is no hit, and what came nearest.
func (s *Searcher) explainNothing(r *run) {
	var best *candidate
	for _, c := range r.candidates {
		if best == nil || c.confidence > best.confidence {
			best = c
		}
	}
	switch {
	case best != nil && best.confidence > 0:
		r.degrade(memory.NoMatch, "Nothing reached the score %.2f; the nearest was %s:%d-%d with %.2f%s.",
			s.opt.thresholdFor(r.mode, r.query.MinScore).min, best.Path, best.StartLine, best.EndLine, best.confidence,
			r.dates.phrase())
	case len(r.terms.list) == 0 && len(r.dates.spans) == 0:
		r.degrade(memory.NoMatch, "The query holds no word to look for.")
	default:
		r.degrade(memory.NoMatch, "No chunk holds a word of the query%s%s.", filterPhrase(r.query.Filter), r.dates.phrase())
	}
}

func (s *Searcher) answer(r *run) memory.Answer {
	a := memory.Answer{Mode: r.mode, Degraded: r.degraded,
		State: memory.IndexState{Generation: r.index.Generation, Files: r.index.Files, Chunks: r.index.Chunks}}
	if r.mode != memory.ModeKeyword {
		a.Provider, a.Model = r.index.Space.Provider, r.index.Space.Model
	}
	for _, c := range r.hits {
		a.Hits = append(a.Hits, s.hit(c, r, r.query.Explain))
	}
	return a
}

// inUnit reports whether x is a number within [0,1].
func inUnit(x float64) bool { return x >= 0 && x <= 1 }
