package memory

// Trace takes a score apart.
type Trace struct {
	// Rank among the candidates before decay and MMR; ranks count from 1.
	Rank int
	// VectorRank and TextRank in each channel's own list, 0 if the channel did not find the chunk.
	VectorRank, TextRank     int
	VectorScore, TextScore   float64
	VectorWeight, TextWeight float64
	// Merged is the weighted sum that orders candidates, before decay.
	Merged float64
	// DateBonus is added for a date that the query names; there is no decay then. DateConfidence is the part of the hit's
	// score that this date gives by itself, and the channels fill up the rest.
	DateBonus, DateConfidence float64
	// Decay is the factor in (0,1] for the age.
	Decay   float64
	AgeDays float64
	// MMRSimilarity to the nearest better hit, MMRScore what was left.
	MMRSimilarity, MMRScore float64
	// Terms are each query term's part of the text score, PairShare what pairs of neighbours add to it, BestPartShare the
	// best part of the text and ChunkShare the chunk around a passage. They add up to 1 if a term occurs.
	Terms                                []TermShare
	PairShare, BestPartShare, ChunkShare float64
	// Missing are the terms of the query that do not occur, neither do their neighbours.
	Missing []string
	// KeywordBacked hits lie below the threshold and fill free slots.
	KeywordBacked bool
}

// TermShare is one query term's part of a text score.
type TermShare struct {
	Term string
	// IDF is the inverse document frequency, Count the occurrences in the text.
	IDF   float64
	Count int
	// Share of the text score in [0,1].
	Share float64
}

// Outcomes of an explanation.
const (
	Returned         = "returned"
	NotIndexed       = "not_indexed"
	Skipped          = "skipped"
	Filtered         = "filtered"
	NotACandidate    = "not_a_candidate"
	BelowThreshold   = "below_threshold"
	DroppedByMMR     = "dropped_by_mmr"
	Covered          = "covered"
	BeyondMaxResults = "beyond_max_results"
)

// Explanation says what became of a passage.
type Explanation struct {
	// Answer to the query, with the traces of its hits.
	Answer Answer
	// Outcome is one of the constants above; empty if no passage was asked about.
	Outcome string
	// Text is a sentence for people, with the figures.
	Text string
	// Passage is the chunk asked about with its trace; nil if it was no candidate.
	Passage *Hit
	// Terms of the query after analysis.
	Terms []string
}
