package search

import (
	"context"
	"fmt"
	"strings"

	"kioku/memory"
)

// maxProbe is the maximum number of chunks of one file that Explain looks through.
const maxProbe = 4096

// Explain answers q as Search does and says what became of the chunk that contains a line of a file. If path is empty, it
// explains only the answer, and Outcome is empty.
//
// A searcher sees only what a query can find. If no word and no vector leads to the line, Outcome is NotACandidate, even if
// the file is not indexed at all; a caller who knows the files turns this into NotIndexed or Skipped. Errors are those of
// Search, and an *memory.InputError for a line below 1.
func (s *Searcher) Explain(ctx context.Context, q memory.Query, path string, line int) (memory.Explanation, error) {
	q.Explain = true
	r, err := s.newState(q)
	if err != nil {
		return memory.Explanation{}, err
	}
	if path != "" && line < 1 {
		return memory.Explanation{}, &memory.InputError{Field: "line", Problem: "is below 1: lines count from 1"}
	}
	var e memory.Explanation
	err = s.execute(ctx, []*searchState{r}, func(rd Reader) (err error) {
		if path != "" {
			e, err = r.explainLine(ctx, rd, path, line)
		}
		return err
	})
	if err != nil {
		return memory.Explanation{}, fmt.Errorf("explain: %w", err)
	}
	e.Answer, e.Terms = r.answer(), r.terms.written()
	return e, nil
}

// explainLine says what became of a line of a file.
func (r *searchState) explainLine(ctx context.Context, rd Reader, path string, line int) (memory.Explanation, error) {
	var at *candidate
	for _, c := range r.candidates {
		if c.hasLine(path, line) && (at == nil || c.outcome == memory.Returned && at.outcome != memory.Returned) {
			at = c
		}
	}
	if at == nil {
		return r.explainAbsence(ctx, rd, path, line)
	}
	hit := r.hit(at)
	return memory.Explanation{Outcome: at.outcome, Text: r.describe(at), Passage: &hit}, nil
}

func (c *Chunk) hasLine(path string, line int) bool {
	return c.Path == path && c.StartLine <= line && line <= c.EndLine
}

// describe says what became of a candidate, with the figures.
func (r *searchState) describe(c *candidate) string {
	place := fmt.Sprintf("%s:%d-%d", c.Path, c.StartLine, c.EndLine)
	rank := fmt.Sprintf("ranked %d of %d candidates", c.rank, len(r.candidates))
	if c.rerankRank > 0 {
		rank += fmt.Sprintf(", was put in place %d by the re-ranker", c.rerankRank)
	}
	if c.weak && c.outcome == memory.Returned {
		return fmt.Sprintf("%s %s and was returned as a weak result: %s.", place, rank, r.limit.reason(c))
	}
	switch c.outcome {
	case memory.Returned:
		return fmt.Sprintf("%s %s and was returned with the score %.2f.", place, rank, c.confidence())
	case memory.BelowThreshold:
		return fmt.Sprintf("%s %s, but %s.", place, rank, r.limit.reason(c))
	case memory.Covered:
		return fmt.Sprintf("%s %s, but a better result shows at least half of it already.", place, rank)
	case memory.FileLimit:
		return fmt.Sprintf("%s %s, but its file has other results, and results of other files were preferred.", place, rank)
	case memory.DroppedByMMR:
		return fmt.Sprintf("%s %s, but it is much like a better result (similarity %.2f), and others were preferred.",
			place, rank, c.similarity)
	}
	return fmt.Sprintf("%s %s with the score %.2f; only %d results were asked for.", place, rank, c.confidence(), r.query.MaxResults)
}

// explainAbsence says why no candidate contains a line.
func (r *searchState) explainAbsence(ctx context.Context, rd Reader, path string, line int) (memory.Explanation, error) {
	filter := r.query.Filter
	if !strings.HasPrefix(path, filter.PathPrefix) {
		return memory.Explanation{Outcome: memory.Filtered, Text: fmt.Sprintf("%s lies outside of %s.", path, filter.PathPrefix)}, nil
	}
	c, err := r.findLine(ctx, rd, line, memory.Filter{PathPrefix: path})
	switch {
	case err != nil:
		return memory.Explanation{}, err
	case c == nil:
		return memory.Explanation{Outcome: memory.NotACandidate,
			Text: fmt.Sprintf("Nothing that is indexed at line %d of %s holds a word of the query.", line, path)}, nil
	}
	filter.PathPrefix = ""
	parts := filterParts(filter)
	filter.PathPrefix = path
	if passed, err := r.findLine(ctx, rd, line, filter); err != nil || passed == nil {
		return memory.Explanation{Outcome: memory.Filtered,
			Text: fmt.Sprintf("%s:%d would be found, but it lacks %s.", path, line, strings.Join(parts, " or "))}, err
	}
	return memory.Explanation{Outcome: memory.NotACandidate, Text: fmt.Sprintf(
		"%s:%d-%d holds words of the query, but %d other chunks matched better and were ranked.",
		path, c.StartLine, c.EndLine, len(r.candidates))}, nil
}

// findLine looks for a line of the file that is the prefix of a filter in everything that the query can find through it. It returns nil
// if there is no such chunk.
func (r *searchState) findLine(ctx context.Context, rd Reader, line int, filter memory.Filter) (*Chunk, error) {
	var known []string
	for _, t := range r.terms.list {
		known = append(known, t.known...)
	}
	out, err := gatherProposals(ctx, rd, Terms{Any: known}, r.vector, filter, maxProbe, maxVectorPool)
	if err != nil {
		return nil, err
	}
	chunks, err := rd.Chunks(ctx, out.ids(), false)
	if err != nil {
		return nil, fmt.Errorf("read chunks of %s: %w", filter.PathPrefix, err)
	}
	for i := range chunks {
		if chunks[i].hasLine(filter.PathPrefix, line) {
			return &chunks[i], nil
		}
	}
	return nil, nil
}

// hit turns a candidate into a result.
func (r *searchState) hit(c *candidate) memory.Hit {
	h := memory.Hit{
		Path: c.Path, StartLine: c.StartLine, EndLine: c.EndLine, Score: c.confidence(),
		Source: c.Source, Headings: c.Headings, Date: c.Date,
		VectorScore: c.meaning.sure, TextScore: c.text.confidence, Weak: c.weak,
	}
	text, first := c.snippetText(r.terms)
	window := snippetter{language: c.Language, terms: r.terms, limit: r.query.SnippetChars, textWeight: r.weights.text, nearness: r.nearness(c)}.cut(text, first)
	h.Citation = h.Cite()
	h.Snippet, h.SnippetStart, h.SnippetEnd = window.text, window.from, window.to
	h.Origin = memory.JoinOrigins(c.origins, h.SnippetStart, h.SnippetEnd)
	if r.query.Explain {
		h.Trace = r.trace(c)
	}
	return h
}

// trace takes the score of a candidate apart.
func (r *searchState) trace(c *candidate) *memory.Trace {
	days, names := c.effect(ruleDays), c.effect(ruleNames)
	t := &memory.Trace{
		Rank: c.rank, VectorRank: c.vectorRank, TextRank: c.textRank,
		VectorScore: c.meaning.sure, TextScore: c.text.confidence,
		VectorWeight: r.weights.vector, TextWeight: r.weights.text,
		Merged: c.base, Decay: c.effect(ruleAge).factor,
		DateBonus: days.bonus, DateConfidence: days.confidence, NameBonus: names.bonus, NameConfidence: names.confidence,
		RerankRank: c.rerankRank, RerankScore: c.rerankScore, MMRSimilarity: c.similarity, MMRScore: c.mmr,
		Terms: c.text.shares(r.terms), PairShare: c.text.share(c.text.pairs), BestPartShare: c.text.share(c.text.best),
		Parts: r.parts(c), Unembedded: !c.meaning.embedded,
		ChunkShare: c.text.share(c.text.chunk), Missing: c.text.missing(r.terms),
	}
	t.AgeDays, _ = ageDays(c.Date, r.query.Now)
	c.meaning.trace(t, r.spread)
	return t
}

// parts takes the confidence of a candidate apart.
func (r *searchState) parts(c *candidate) memory.ScoreParts {
	p := memory.ScoreParts{Name: c.effect(ruleNames).confidence}
	rest := 1 - p.Name
	p.Date = rest * c.effect(ruleDays).confidence
	rest *= 1 - c.effect(ruleDays).confidence
	p.Words = rest * r.weights.text * c.text.confidence
	if c.meaning.embedded {
		p.Meaning = rest * r.weights.vector * c.meaning.sure
	} else {
		p.Words += rest * r.weights.vector * c.text.confidence
	}
	return p
}
