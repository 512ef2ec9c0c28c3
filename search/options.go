package search

import (
	"time"

	"kioku/memory"
)

// Options are the settings of a searcher. [DefaultOptions] returns the defaults; the zero value of a field is a
// value, not a default.
type Options struct {
	// MaxResults where the query does not say.
	MaxResults int
	// MinScore where vectors took part, MinKeywordScore where they did not.
	MinScore        float64
	MinKeywordScore float64
	// Hybrid lets vectors take part.
	Hybrid bool
	// VectorWeight and TextWeight of a real embedding model; only their ratio counts.
	VectorWeight, TextWeight float64
	// WeakVectorWeight and WeakTextWeight of a channel that is no real model (hash).
	WeakVectorWeight, WeakTextWeight float64
	// CandidateMultiplier times MaxResults, but at least 24, are taken from the vectors.
	CandidateMultiplier int
	// Typos lets a word that the index lacks stand for those that differ from it by one typo.
	Typos bool
	// MMR re-ranks for diversity; MMRLambda is the weight of relevance in [0,1].
	MMR       bool
	MMRLambda float64
	// Decay lets older notes weigh less: half of what lies above DecayFloor is gone after HalfLife.
	Decay      bool
	HalfLife   time.Duration
	DecayFloor float64
	// Evergreen are globs of paths that do not decay.
	Evergreen []string
	// Granularity of the hits: GranularityPassage (also when empty) or GranularityChunk.
	Granularity string
	// SnippetChars is the most characters of a snippet.
	SnippetChars int
	// Now is the clock, nil means time.Now.
	Now func() time.Time
	// Observe is told how long each of the steps StepLists and StepScores of a search took; nil means nobody is told. It is
	// called by the goroutine of the search.
	Observe func(step string, took time.Duration)
}

// Steps of a search that Options.Observe is told of.
const (
	// StepLists is when the keyword index and the vectors are searched for candidates.
	StepLists = "lists"
	// StepScores is when the candidates are read, scored and cut into passages.
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
		Granularity: memory.GranularityPassage, SnippetChars: 700,
	}
}
