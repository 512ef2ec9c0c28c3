package search

import "time"

// Options are the settings of a searcher. [DefaultOptions] returns the defaults. Zero values are not replaced by
// defaults unless a field says so.
type Options struct {
	// MaxResults is the maximum number of hits if the query does not say; it is raised to 1 and cut to 100.
	MaxResults int
	// MinScore is the minimum confidence, in [0,1], of a hit if vectors take part; 0 lets every match through.
	MinScore float64
	// MinKeywordScore is the minimum confidence, in [0,1], of a hit by keywords only; 0 lets every match through.
	MinKeywordScore float64
	// Hybrid lets vectors take part. If false, only keywords rank.
	Hybrid bool
	// VectorWeight and TextWeight are the weights of the two channels with a real embedding model. Only their ratio counts;
	// if both are 0, they are equal.
	VectorWeight, TextWeight float64
	// WeakVectorWeight and WeakTextWeight are the weights with vectors that come from no real model (hash).
	WeakVectorWeight, WeakTextWeight float64
	// CandidateMultiplier times the number of hits asked for, but at least 24, is the number of candidates from the vectors.
	CandidateMultiplier int
	// Typos also finds words that differ by one typo from a query word that the index lacks.
	Typos bool
	// MMR re-ranks for diversity.
	MMR bool
	// MMRLambda is the weight of relevance in [0,1]: 0 looks only at diversity, 1 only at relevance.
	MMRLambda float64
	// Decay lowers the rank of older notes.
	Decay bool
	// HalfLife is the age after which half of the score above DecayFloor is gone; 0 means no decay.
	HalfLife time.Duration
	// DecayFloor is the share of the score, in [0,1], that no age takes away.
	DecayFloor float64
	// Evergreen are globs of paths that do not decay.
	Evergreen []string
	// Granularity of the hits: GranularityPassage or GranularityChunk; empty means GranularityPassage.
	Granularity string
	// SnippetChars is the maximum number of characters in a snippet; 0 means empty snippets.
	SnippetChars int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Observe is called after the steps StepLists and StepScores of each search with the time that they took, by the
	// goroutine of the search. It may be nil.
	Observe func(step string, took time.Duration)
}

// Steps of a search, as reported to Options.Observe.
const (
	// StepLists searches the keyword index and the vectors for candidates.
	StepLists = "lists"
	// StepScores reads the candidates, scores them and cuts them into passages.
	StepScores = "scores"
)

// DefaultOptions returns the settings that the measurements recommend.
func DefaultOptions() Options {
	return Options{
		MaxResults: 6, MinScore: 0.35, MinKeywordScore: 0.18,
		Hybrid: true, VectorWeight: 0.7, TextWeight: 0.3, WeakVectorWeight: 0.3, WeakTextWeight: 0.7,
		CandidateMultiplier: 4, Typos: true,
		MMR: true, MMRLambda: 0.7,
		Decay: true, HalfLife: 30 * 24 * time.Hour, DecayFloor: 0.85,
		Granularity: GranularityPassage, SnippetChars: 700,
	}
}
