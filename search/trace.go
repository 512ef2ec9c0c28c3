package search

import "kioku/memory"

// hit turns a candidate into a result.
func (r *searchState) hit(c *candidate) memory.Hit {
	h := memory.Hit{
		Path: c.Path, StartLine: c.StartLine, EndLine: c.EndLine, Score: c.confidence,
		Source: c.Source, Headings: c.Headings, Date: c.Date,
		VectorScore: c.cosine, TextScore: c.text.confidence,
	}
	h.Snippet, h.SnippetStart, h.SnippetEnd = snippet(c.Text, c.StartLine, r.terms, r.query.SnippetChars)
	if r.query.Explain {
		h.Trace = c.trace(r.terms)
	}
	return h
}

// trace takes the score of a candidate apart.
func (c *candidate) trace(q queryTerms) *memory.Trace {
	return &memory.Trace{
		Rank: c.rank, VectorRank: c.vectorRank, TextRank: c.textRank,
		VectorScore: c.cosine, TextScore: c.text.confidence,
		VectorWeight: c.weight.vector, TextWeight: c.weight.text,
		Merged: c.merged, DateBonus: c.dateBonus, DateConfidence: c.dateConfidence, Decay: c.decay, AgeDays: c.age,
		MMRSimilarity: c.similarity, MMRScore: c.mmr,
		Terms: c.text.shares(q), PairShare: c.text.share(c.text.pairs), BestPartShare: c.text.share(c.text.best),
		ChunkShare: c.text.share(c.text.chunk), Missing: c.text.missing(q), KeywordBacked: c.backfilled,
	}
}
