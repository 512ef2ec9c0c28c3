package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"kioku/derive/vocab"
	"kioku/memory"
)

const (
	// pool is the number of passages of each query that are merged, and rerankPool that if a re-ranker chooses among them.
	pool, rerankPool = 12, 20
	// spare is the number of passages that are kept beyond what is asked for, because facts may take the place of some.
	spare = 6
)

// Weights of the rankings.
const (
	weightMessage = 1
	weightContext = 0.5
	weightWording = 0.7
	// weightLinks is that of what a message finds with the words or names that it points at.
	weightLinks = 2.5
	// weightPointing is that of a message that points at something that is known.
	weightPointing = 0.5
)

// state is the state of one search.
type state struct {
	*Recaller
	query memory.Query
	// ceiling of what is found.
	ceiling memory.Sensitivity
	// inContext reports that the message is read with the messages before it, which are background.
	inContext  bool
	background string
	// names returns the names of the message and its background; nil if they are not looked up.
	names func() result[[]name]
	// units comes from the units that match; nil if none are asked for.
	units <-chan result[foundUnits]
	// others are the running queries beside that for the message.
	others []pending
	// wordings comes from the language model; nil if it is not asked.
	wordings <-chan result[[]string]
	answer   memory.Answer
	// linked reports that the message points at something that is known.
	linked bool
	// openContext comes from the message with its background, without a threshold; nil unless inContext.
	openContext <-chan result[memory.Answer]
	// merged reports that the passages come from several queries, and may say the same.
	merged bool
}

// pending is a query that runs in the background.
type pending struct {
	answer <-chan result[memory.Answer]
	weight float64
}

func (r *Recaller) newState(q memory.Query) *state {
	s := &state{Recaller: r, query: q, ceiling: memory.Private}
	if q.MaxSensitivity != nil {
		s.ceiling = *q.MaxSensitivity
	}
	if len(q.Context) > 0 && needsContext(q.Text) && !isIdentifier(q.Text) {
		s.background = backgroundOf(q.Context)
		s.inContext = s.background != ""
	}
	return s
}

// gated reports whether the query is one of a program that recalls for a conversation, which gets no guesses.
func (s *state) gated() bool { return len(s.query.Context) > 0 || len(s.query.Kinds) > 0 }

// wants reports whether the query asks for a kind. Without kinds it asks for passages.
func (s *state) wants(kind string) bool {
	if len(s.query.Kinds) == 0 {
		return kind == memory.KindChunk
	}
	return slices.Contains(s.query.Kinds, kind)
}

// merges reports whether other queries may run beside that for the message.
func (s *state) merges() bool {
	return s.wants(memory.KindChunk) && (s.inContext || len(s.query.Queries) > 0 || s.expands())
}

// expands reports whether the language model is asked for other wordings.
func (s *state) expands() bool {
	return s.opt.Expand != nil && len(s.query.Context) > 0 && s.wants(memory.KindChunk) && !isIdentifier(s.query.Text)
}

// reranks reports whether the language model may be asked which passages answer.
func (s *state) reranks() bool { return s.opt.Rerank != nil && s.gated() && s.wants(memory.KindChunk) }

// maxResults is the number of passages of the answer.
func (s *state) maxResults() int { return cmp.Or(s.query.MaxResults, s.opt.MaxResults) }

// plain returns the query for the ordinary search with another text.
func (s *state) plain(text string) memory.Query {
	q := s.query
	q.Text = text
	q.Context, q.Queries, q.Kinds, q.AsOf, q.IncludeSuperseded, q.MaxSensitivity = nil, nil, nil, time.Time{}, false, nil
	switch {
	case s.reranks():
		q.MaxResults = max(rerankPool, s.maxResults())
	case s.merges():
		q.MaxResults = max(pool, s.maxResults())
	}
	return q
}

// startQueries starts the queries beside that for the message, and asks the language model for more.
func (s *state) startQueries(ctx context.Context) {
	if !s.merges() {
		return
	}
	if s.inContext {
		s.openContext = s.startOpen(ctx, contextQuery(s.background, s.query.Text))
	}
	for _, wording := range s.query.Queries {
		s.startQuery(ctx, wording, weightWording)
	}
	if s.expands() {
		s.wordings = s.askWordings(ctx)
	}
}

// startOpen starts a query without a threshold: its passages say what a message may be about.
func (s *state) startOpen(ctx context.Context, text string) <-chan result[memory.Answer] {
	return background(func() (memory.Answer, error) {
		q := s.plain(text)
		q.MinScore = new(0.0)
		return s.search.Search(ctx, q)
	})
}

// startQuery starts a further query; a blank one, or the message itself, is none.
func (s *state) startQuery(ctx context.Context, text string, weight float64) {
	if isBlank(text) || text == s.query.Text {
		return
	}
	s.others = append(s.others, pending{weight: weight, answer: background(func() (memory.Answer, error) { return s.search.Search(ctx, s.plain(text)) })})
}

// fuse merges the answers to all queries. One that fails or is late is left out.
func (s *state) fuse(ctx context.Context) {
	if !s.wants(memory.KindChunk) {
		s.answer.Hits = nil
		return
	}
	rankings := []ranking{{hits: s.answer.Hits, weight: weightMessage}}
	for _, p := range s.others {
		if got := await(ctx, p.answer); got.err == nil {
			rankings = append(rankings, ranking{hits: got.value.Hits, weight: p.weight})
		}
	}
	if s.inContext {
		rankings = append(rankings, s.contextRankings(ctx)...)
		if s.linked && pointsBack(s.query.Text) {
			rankings[0].weight = weightPointing
		}
	}
	if len(rankings) == 1 {
		return
	}
	s.answer.Hits, s.merged = perFile(fuseRankings(rankings), s.query.MaxPerFile), true
	if len(s.answer.Hits) > 0 {
		s.answer.Degraded = slices.DeleteFunc(s.answer.Degraded, func(d memory.Degradation) bool { return d.IsHint() && d.Code != memory.FilterExcludes })
	}
}

// limit cuts the passages to the number that is asked for.
func (s *state) limit() {
	if n := s.maxResults(); len(s.answer.Hits) > n && (s.merges() || s.reranks()) {
		s.answer.Hits = s.answer.Hits[:n]
	}
}

// degrade notes one thing that the answer has to do without.
func (s *state) degrade(code, text string) {
	s.answer.Degraded = append(s.answer.Degraded, memory.Degradation{Code: code, Text: text})
}

// contextRankings returns the rankings of what the message may point at: the passages that are nearest to the message with its background,
// however far that is, and what the words that these passages share with the background find, or the names of the background if there
// are no such words. Only the latter can make a passage a confident hit.
func (s *state) contextRankings(ctx context.Context) []ranking {
	inContext := await(ctx, s.openContext).value.Hits
	rankings := []ranking{{weaken(inContext), weightContext}}
	joint := fuseRankings([]ranking{{s.answer.Hits, weightMessage}, {inContext, weightContext}})
	said := links(s.background, s.query.Text, slices.Concat(sharing(inContext, s.query.Text), joint))
	text, meant := strings.Join(said, " ")+" "+s.query.Text, func(hits []memory.Hit) []memory.Hit { return onMessage(hits, s.query.Text) }
	if len(said) == 0 {
		text, meant = nameQuery(s.names().value, s.query.Text), slices.Clone
	}
	if text == "" {
		return rankings
	}
	found := await(ctx, background(func() (memory.Answer, error) { return s.search.Search(ctx, s.plain(text)) })).value.Hits
	s.linked = len(said) > 0 || len(found) > 0
	return append(rankings, ranking{meant(found), weightLinks})
}

// onMessage returns hits of which those are weak that have no content term of the message: they are about its background only. A message
// without such terms is about its background.
func onMessage(hits []memory.Hit, message string) []memory.Hit {
	asked := wordsOf(message)
	if len(asked) == 0 {
		return hits
	}
	marked := slices.Clone(hits)
	for i, h := range marked {
		marked[i].Weak = h.Weak || !shares(h, asked)
	}
	return marked
}

// sharing returns the hits that have a word of a message.
func sharing(hits []memory.Hit, message string) []memory.Hit {
	asked := wordsOf(message)
	return slices.DeleteFunc(slices.Clone(hits), func(h memory.Hit) bool { return !shares(h, asked) })
}

// shares reports whether a hit has one of some words.
func shares(h memory.Hit, words []spoken) bool {
	has := vocab.Terms(h.Headings + "\n" + h.Snippet)
	return slices.ContainsFunc(words, func(w spoken) bool { return has[w.term] })
}

// weaken returns hits that are all weak.
func weaken(hits []memory.Hit) []memory.Hit {
	weak := slices.Clone(hits)
	for i := range weak {
		weak[i].Weak = true
	}
	return weak
}
