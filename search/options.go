package search

import (
	"cmp"
	"context"
	"time"

	"kioku/memory"
)

// Options are the settings of a searcher. What is not set (zero, or nil where zero has a meaning of its own) has its default,
// each field by itself; what is set is used as it stands. [DefaultOptions] returns the defaults.
type Options struct {
	// MaxResults of a query that does not say; 0 means 6.
	MaxResults int
	// MaxPerFile is the maximum number of hits of one file; 0 means any number.
	MaxPerFile int
	// MinScore is the score in [0,1] from which on a hit is an answer if vectors took part; nil means that words
	// or meaning decide. MinKeywordScore is the one
	// by keywords, with which a hit is an answer beside vectors too; nil means a score that grows with the index, 0.16 for 60 chunks.
	MinScore, MinKeywordScore *float64
	// WeakResults lets at most three results below these scores, marked as weak, fill free slots; nil means true.
	WeakResults *bool
	// Hybrid lets vectors take part; nil means true.
	Hybrid *bool
	// VectorWeight and TextWeight of the channels, at least 0; only their ratio counts, and they hold for every model and query.
	// Without both, the weights depend on the class of the model and on how well the words of a query match. If only one is
	// set, the other is what it lacks to 1.
	VectorWeight, TextWeight *float64
	// CandidateMultiplier times MaxResults, but at least 24, are taken from the vectors; 0 means 4.
	CandidateMultiplier int
	// Typos lets indexed words that differ by one typo stand for a word that the index lacks; nil means true.
	Typos *bool
	// MMR re-ranks for diversity; nil means true.
	MMR *bool
	// MMRLambda is the weight of relevance in [0,1]; nil means 0.7.
	MMRLambda *float64
	// Decay lets older notes weigh less; nil means true.
	Decay *bool
	// HalfLife is the age at which half of what lies above DecayFloor is gone; 0 means 30 days.
	HalfLife time.Duration
	// DecayFloor is the part of a score in [0,1] that the oldest note keeps; nil means 0.85.
	DecayFloor *float64
	// Evergreen are globs of paths that do not decay; nil means none.
	Evergreen []string
	// Granularity of the hits: memory.GranularityPassage (also if empty) or memory.GranularityChunk.
	Granularity string
	// SnippetChars is the maximum number of characters of a snippet; 0 means 700.
	SnippetChars int
	// Reranker scores the best candidates again; nil means that none does.
	Reranker Reranker
	// RerankCandidates is the maximum number of candidates that it scores; 0 means 30.
	RerankCandidates int
	// RerankTimeout is how long it may take; 0 means 300 ms. It never takes more than half of the time that the search has left.
	RerankTimeout time.Duration
	// Now is the clock, nil means time.Now.
	Now func() time.Time
	// Admit waits until a search may use the processor, and returns a function that ends it; its error ends the search. It is
	// called after the query is embedded, so that nobody waits for another's provider. Nil admits every search at once.
	Admit func(ctx context.Context) (done func(), err error)
	// Active returns the embedder whose vectors the index has now, which may change from one query to the next. Nil means
	// the one that New was given.
	Active func(ctx context.Context) Embedder
	// Observe is told how long each of the steps StepLists, StepScores and StepRerank of a search took; nil means nobody is told. It is
	// called by the goroutine of the search.
	Observe func(step string, took time.Duration)
}

// Steps of a search, as reported to Options.Observe.
const (
	// StepLists searches the keyword index and the vectors for candidates.
	StepLists = "lists"
	// StepScores reads the candidates, scores them and cuts them into passages.
	StepScores = "scores"
	// StepRerank waits for the re-ranker.
	StepRerank = "rerank"
)

// DefaultOptions returns the settings that the measurements recommend, all set but what depends on the model or the index.
func DefaultOptions() Options { return Options{}.withDefaults() }

// withDefaults fills in what is not set.
func (o Options) withDefaults() Options {
	o.MaxResults = cmp.Or(o.MaxResults, 6)
	o.WeakResults = cmp.Or(o.WeakResults, new(true))
	o.Hybrid = cmp.Or(o.Hybrid, new(true))
	o.CandidateMultiplier = cmp.Or(o.CandidateMultiplier, 4)
	o.Typos = cmp.Or(o.Typos, new(true))
	o.MMR, o.MMRLambda = cmp.Or(o.MMR, new(true)), cmp.Or(o.MMRLambda, new(0.7))
	o.Decay, o.DecayFloor = cmp.Or(o.Decay, new(true)), cmp.Or(o.DecayFloor, new(0.85))
	o.HalfLife = cmp.Or(o.HalfLife, 30*24*time.Hour)
	o.Granularity = cmp.Or(o.Granularity, memory.GranularityPassage)
	o.SnippetChars = cmp.Or(o.SnippetChars, 700)
	o.RerankCandidates = cmp.Or(o.RerankCandidates, 30)
	o.RerankTimeout = cmp.Or(o.RerankTimeout, 300*time.Millisecond)
	return o
}
