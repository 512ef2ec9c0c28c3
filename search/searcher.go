package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku/internal/trace"
	"kioku/memory"
	"kioku/search/analysis"
)

// Searcher answers queries from a store. Its methods may be called concurrently.
type Searcher struct {
	store    Store
	embedder Embedder
	opt      Options
}

// New returns a searcher. Without an embedder (nil) it ranks by keywords only.
func New(s Store, e Embedder, opt Options) *Searcher {
	return &Searcher{store: s, embedder: e, opt: opt.withDefaults()}
}

// Search returns at most q.MaxResults hits, best first.
//
// An answer without hits always says why in Degraded: the index is empty, or what came nearest. If the query cannot be
// embedded or the index has vectors of another model, Search ranks by keywords and says so. A query without a word (only
// punctuation) is answered by vectors only, so without vectors it has no hits.
//
// It returns ErrEmptyQuery for a blank query, an *memory.InputError for a query that is longer than MaxQueryBytes or has an
// invalid limit, minimum or filter, and the error of ctx or of the store if one of them fails.
func (s *Searcher) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	states, err := s.newStates(q)
	if err != nil {
		return memory.Answer{}, err
	}
	if err := s.execute(ctx, states, nil); err != nil {
		return memory.Answer{}, fmt.Errorf("search: %w", err)
	}
	return answerOf(states), nil
}

// newStates returns the state of a query, or one for each clause of a message, the whole message last.
func (s *Searcher) newStates(q memory.Query) ([]*searchState, error) {
	whole, err := s.newState(q)
	if err != nil || !q.Clauses {
		return []*searchState{whole}, err
	}
	var states []*searchState
	for _, text := range clauses(whole.query.Text) {
		clause := whole.query
		clause.Text = text
		r, err := s.newState(clause)
		if err != nil {
			return nil, err
		}
		states = append(states, r)
	}
	return states, nil
}

// execute takes queries through all steps. If then is not nil, it is called at the end with the same snapshot. If the index gets
// vectors of another space while the queries are embedded, they are embedded once more.
func (s *Searcher) execute(ctx context.Context, states []*searchState, then func(Reader) error) error {
	before := copyStates(states)
	for _, r := range states {
		r.mayEmbedAgain = s.opt.Active != nil
	}
	err := s.executeOnce(ctx, states, then)
	if errors.Is(err, errOtherSpace) {
		restoreStates(states, before)
		err = s.executeOnce(ctx, states, then)
	}
	return err
}

// executeOnce is execute with one embedding of the queries. It returns errOtherSpace if that is of another space than the index
// and may be made again.
func (s *Searcher) executeOnce(ctx context.Context, states []*searchState, then func(Reader) error) error {
	// Before the view is opened, so that a slow provider does not keep a snapshot of the index open.
	group, groupCtx := errgroup.WithContext(ctx)
	for _, r := range states {
		group.Go(func() error { return s.embedQuery(groupCtx, r) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if s.opt.Reranker != nil {
		for _, r := range states {
			if err := s.executeReranked(ctx, r, then); err != nil {
				return err
			}
		}
		return nil
	}
	return s.viewSnapshot(ctx, states, true, func(rd Reader) error {
		for _, r := range states {
			if err := s.rankCandidates(ctx, rd, r); err != nil {
				return err
			}
			if err := s.concludeAnswer(ctx, rd, r, then); err != nil {
				return err
			}
		}
		return nil
	})
}

// viewSnapshot waits for its turn and calls f with a reader of one snapshot, for vectors too if a query has one and they are asked for. Each call
// of f begins with the same states.
func (s *Searcher) viewSnapshot(ctx context.Context, states []*searchState, vectors bool, f func(Reader) error) error {
	if s.opt.Admit != nil {
		done, err := s.opt.Admit(ctx)
		if err != nil {
			return err
		}
		defer done()
	}
	before := copyStates(states)
	vectors = vectors && slices.ContainsFunc(states, func(r *searchState) bool { return r.vector != nil })
	return s.store.View(ctx, vectors, func(rd Reader) error {
		restoreStates(states, before) // the view may be another one after an error
		return f(rd)
	})
}

// copyStates returns what states contain, for restoreStates.
func copyStates(states []*searchState) []searchState {
	copies := make([]searchState, len(states))
	for i, r := range states {
		copies[i] = *r
	}
	return copies
}

func restoreStates(states []*searchState, copies []searchState) {
	for i, r := range states {
		*r = copies[i]
	}
}

// rankCandidates finds, scores and orders the candidates within one snapshot.
func (s *Searcher) rankCandidates(ctx context.Context, rd Reader, r *searchState) error {
	r.index = rd.Index()
	if r.index.Chunks <= 0 {
		r.vector = nil
		r.explainEmptyIndex()
		return nil
	}
	if err := r.checkSpace(); err != nil {
		return err
	}
	if err := s.prepareTerms(ctx, rd, r); err != nil {
		return err
	}
	if err := r.noteExcluded(ctx, rd); err != nil {
		return err
	}
	if err := s.findCandidates(ctx, rd, r); err != nil {
		return err
	}
	r.weights = s.opt.weightsFor(r.mode, r.class, highest(r.candidates, textConfidence))
	mergeChannels(r.candidates, r.weights)
	for _, rule := range s.adjustments() {
		r.adjust(rule(r))
	}
	for i, c := range r.candidates {
		c.rank = i + 1
	}
	r.limit = s.opt.thresholdOf(r)
	return nil
}

// concludeAnswer chooses the hits among the candidates, and calls then, unless it is nil, with the reader of a snapshot.
func (s *Searcher) concludeAnswer(ctx context.Context, rd Reader, r *searchState, then func(Reader) error) error {
	if r.index.Chunks > 0 {
		if err := s.chooseHits(ctx, rd, r); err != nil {
			return err
		}
	}
	if then == nil {
		return nil
	}
	return then(rd)
}

// chooseHits chooses the hits and checks their texts, reads whose words they are, or explains why there are none.
func (s *Searcher) chooseHits(ctx context.Context, rd Reader, r *searchState) error {
	s.pickHits(r)
	if len(r.hits) == 0 {
		if err := r.noteAllExcluded(ctx, rd); err != nil {
			return err
		}
		s.explainNothing(r)
		return nil
	}
	if !slices.ContainsFunc(r.hits, func(c *candidate) bool { return !c.weak }) {
		s.explainWords(r)
	}
	if without := r.dates.phrase(); r.dates.lacksNotes() && without != "" {
		r.degrade(memory.DaysEmpty, "N%s.", without[1:])
	}
	ids := make([]int64, len(r.hits))
	for i, h := range r.hits {
		ids[i] = h.ID
	}
	if err := rd.Verify(ctx, ids); err != nil {
		return err
	}
	origins, err := rd.Origins(ctx, ids)
	for _, h := range r.hits {
		h.origins = origins[h.ID]
	}
	return err
}

// prepareTerms fills in the terms of the query and what the index knows of them.
func (s *Searcher) prepareTerms(ctx context.Context, rd Reader, r *searchState) error {
	text, err := r.textWithoutDates(ctx, rd)
	if err != nil {
		return err
	}
	if r.asksOrder = asksOrder.MatchString(text); r.asksOrder {
		text = asksOrder.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
	}
	terms := parseTerms(text, r.dates.mentions, r.index.Languages...)
	if len(terms.list) == 0 {
		return nil
	}
	key := analysis.NameKey(r.query.Text)
	df, err := rd.DocFreq(ctx, append(terms.strings(), key))
	if err != nil {
		return fmt.Errorf("look up terms: %w", err)
	}
	r.terms = terms.weigh(df, r.index.Chunks)
	if df[key] > 0 {
		if r.named, err = rd.Match(ctx, Terms{Any: []string{key}}, r.query.Filter, namedPool); err != nil {
			return fmt.Errorf("match a name: %w", err)
		}
	}
	if err := r.addSpellings(ctx, rd, *s.opt.Typos); err != nil {
		return err
	}
	if r.terms.capped {
		r.degrade(memory.TermsCapped, "Of %d different terms the %d rarest were looked for.", len(terms.list), MaxTerms)
	}
	return nil
}

// findCandidates gathers and scores the candidates, and sets the mode to the channels that took part.
func (s *Searcher) findCandidates(ctx context.Context, rd Reader, r *searchState) error {
	nearest := max(vectorPool, min(s.opt.CandidateMultiplier*r.query.MaxResults, maxVectorPool))
	start := time.Now()
	terms := r.terms.matchable(r.index.Chunks)
	found, err := gatherProposals(ctx, rd, terms, r.vector, r.query.Filter, textPool, nearest)
	if err != nil {
		return err
	}
	dated, err := r.dates.datedHits(ctx, rd, terms, r.query.Filter, nearest)
	if err != nil {
		return err
	}
	identified, err := r.identifierHits(ctx, rd)
	if err != nil {
		return err
	}
	found.matched = slices.Concat(found.matched, dated, identified, r.named)
	if found.nearErr != nil {
		r.degrade(memory.VectorsMissing, "Ranked by keywords only: the vectors could not be searched (%v).", found.nearErr)
		r.vector = nil
	}
	start = s.observe(StepLists, start)
	ctx, span := trace.Start(ctx, "rescore")
	defer func() {
		s.observe(StepScores, start)
		span.Int("candidates", len(r.candidates))
		span.End(nil)
	}()
	r.mode = r.channelMode()
	sc := newScorer(r.terms, r.index.AvgTerms)
	defer sc.release()
	if r.candidates, err = found.candidates(ctx, rd, sc, r.vector); err != nil {
		return err
	}
	r.spread = found.spread
	pool := passagePool
	if len(r.dates.spans) > 0 {
		findSections(r.candidates)
		pool = len(r.candidates)
	}
	if r.query.Granularity == memory.GranularityPassage {
		r.calibrate()
		r.candidates = r.passages(r.topN(pool), sc)
	} else {
		for _, c := range r.candidates {
			c.meaning.windowsOnly = r.readsTurns(c, c.markdown())
			c.meaning.narrow(&c.Chunk, c.allWindows())
		}
	}
	r.calibrate()
	r.dates.dropTexts(r.candidates)
	return nil
}

// observe reports how long the step that has just ended took, and returns the time.
func (s *Searcher) observe(step string, start time.Time) time.Time {
	now := time.Now()
	if s.opt.Observe != nil {
		s.opt.Observe(step, now.Sub(start))
	}
	return now
}

// pickHits fills in the hits: the candidates above the threshold, and in free slots at most maxWeak others, marked as weak. The hits contain
// the identifiers of the query, unless the query asks for a score that their candidates lack.
func (s *Searcher) pickHits(r *searchState) {
	list := r.candidates
	if r.query.Granularity == memory.GranularityPassage {
		list = dropOverlapping(list)
	}
	answers, weaks := r.sortByVerdict(list)
	if !*s.opt.WeakResults {
		weaks = nil
	}
	d := newDiversifier(*s.opt.MMRLambda)
	d.plain = !*s.opt.MMR
	n, limit := r.query.MaxResults, r.query.MaxPerFile
	// The rest is too far down to be chosen for being different.
	pool := func(list []*candidate) []*candidate { return list[:min(len(list), max(vectorPool, 4*n))] }
	d.chooseDiverse(pool(limitPerFile(answers, limit)), n)
	if slots := min(n, len(d.chosen)+maxWeak); slots > len(d.chosen) {
		d.chooseDiverse(pool(limitPerFile(slices.Concat(d.chosen, weaks), limit)[len(d.chosen):]), slots)
	}
	r.hits = r.keepIdentifiers(d.chosen, r.aboveMinScore(), n, limit)
	for _, c := range r.hits {
		c.outcome = memory.Returned
	}
	r.timeline()
	for _, c := range r.candidates {
		switch {
		case c.outcome != "":
		case c.weak:
			c.outcome = memory.BelowThreshold
		default:
			c.outcome = memory.BeyondMaxResults
		}
	}
}

// answerOf returns the answer to a query, or to a message of which each clause has a state, the whole last.
func answerOf(states []*searchState) memory.Answer {
	whole := states[len(states)-1]
	a := whole.answer()
	if len(states) == 1 {
		return a
	}
	a.Hits = mergeAnswers(states, whole.query.MaxResults)
	if len(a.Hits) > 0 {
		a.Degraded = slices.DeleteFunc(a.Degraded, func(d memory.Degradation) bool { return d.Code == memory.NoMatch })
	}
	return a
}

// answer returns the hits and what the answer had to do without.
func (r *searchState) answer() memory.Answer {
	a := memory.Answer{Mode: r.mode, Degraded: r.degraded,
		Index: memory.IndexStats{Generation: r.index.Generation, Files: r.index.Files, Chunks: r.index.Chunks}}
	if r.mode != memory.ModeKeyword {
		a.Provider, a.Model = r.index.Space.Provider, r.index.Space.Model
	}
	for _, c := range r.hits {
		a.Hits = append(a.Hits, r.hit(c))
	}
	return a
}
