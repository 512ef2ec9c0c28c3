package search

import (
	"context"
	"time"

	"kioku/embed"
)

// Query is a question to an index.
type Query struct {
	// Text in any language, at most 4 KiB.
	Text string
	// MaxResults is the most hits returned; 0 means Options.MaxResults, more than 100 is refused.
	MaxResults int
	// MinScore replaces the thresholds of Options where it is set; it lies in [0,1].
	MinScore *float64
	Filter   Filter
	// Granularity is GranularityPassage or GranularityChunk; empty means Options.Granularity.
	Granularity string
	// SnippetChars is the most characters of a snippet, 0 means Options.SnippetChars; else 40 to 2,000.
	SnippetChars int
	// Explain fills in the trace of each hit.
	Explain bool
	// Now is the moment of the question; zero means the clock.
	Now time.Time
}

// Filter narrows a search. The zero value lets everything through.
type Filter struct {
	Sources    []string
	PathPrefix string
	// Since and Until are days (YYYY-MM-DD), inclusive, empty for none; with either, undated files are left out.
	Since, Until string
}

// Chunk is a candidate as the store holds it.
type Chunk struct {
	ID        int64
	Path      string
	Source    string
	StartLine int
	EndLine   int
	Headings  string
	// Date (YYYY-MM-DD) of the file or entry, empty where there is none.
	Date string
	// Evergreen chunks do not decay: front matter says so, or the file is MEMORY.md or USER.md.
	Evergreen bool
	// Fence is the mark of the code fence within which the chunk begins, "```"; empty where it begins in none.
	Fence string
	// Closed says that the chunk ends where a section does: a heading follows, or the end of the file.
	Closed bool
	Text   string
	// Vector is the stored unit vector; nil where there is none, and where it was not asked for.
	Vector []float32
}

// Index describes the index that a view sees.
type Index struct {
	// Space of the stored vectors; zero where there are none.
	Space  embed.Space
	Files  int
	Chunks int
	// Embedded counts the chunks that have a vector.
	Embedded int
	// AvgTerms is the mean number of analysed terms a chunk.
	AvgTerms float64
	// Generation is bumped by every committed change.
	Generation int64
}

// Neighbor is a chunk near a query vector.
type Neighbor struct {
	ID     int64
	Cosine float64
}

// Store gives a search a consistent picture of the index.
type Store interface {
	// View calls f with a reader of one snapshot; vectors says whether Nearest will be called. The reader is good
	// until f returns, and Match and Nearest may run at the same time.
	View(ctx context.Context, vectors bool, f func(Reader) error) error
}

// Reader reads one snapshot of an index.
type Reader interface {
	// Index describes the snapshot.
	Index() Index
	// DocFreq returns in how many chunks each term occurs; terms that occur nowhere are absent.
	DocFreq(ctx context.Context, terms []string) (map[string]int, error)
	// Dated reports whether any chunk has a date (YYYY-MM-DD) between two days, both included.
	Dated(ctx context.Context, first, last string) (bool, error)
	// Match returns the ids of the best chunks that hold any of t.Any, best first: each counts by all of
	// the terms that it holds, in proportions that suffice for choosing candidates. Without terms it returns those that the
	// filter lets through, newest first.
	Match(ctx context.Context, t Terms, f Filter, limit int) ([]int64, error)
	// Nearest returns the k chunks nearest to a unit vector, nearest first.
	Nearest(ctx context.Context, vector []float32, f Filter, k int) ([]Neighbor, error)
	// Chunks reads chunks by id, in any order; ids that are not there are left out.
	Chunks(ctx context.Context, ids []int64, vectors bool) ([]Chunk, error)
}

// Embedder turns a query into a vector; *embed.Client is one.
type Embedder interface {
	Enabled() bool
	// Weak reports that the vectors come from no real model, so that keywords weigh more.
	Weak() bool
	Space() embed.Space
	Query(ctx context.Context, text string) ([]float32, error)
}

// Modes of an answer: the channels that ran.
const (
	ModeHybrid  = "hybrid"
	ModeVector  = "vector"
	ModeKeyword = "keyword"
)

// Codes of a Degradation.
const (
	ProviderDown         = "provider_down"
	IndexEmpty           = "index_empty"
	IndexStale           = "index_stale"
	VectorsMissing       = "vectors_missing"
	SpaceChanged         = "space_changed"
	WorkspaceUnavailable = "workspace_unavailable"
	TermsCapped          = "terms_capped"
	NoMatch              = "no_match"
	DeadlineNear         = "deadline"
)

// Degradation is one thing that an answer had to do without.
type Degradation struct {
	// Code is stable, Text is a sentence for people.
	Code, Text string
}

// Answer is the outcome of a search.
type Answer struct {
	Hits     []Hit
	Mode     string
	Degraded []Degradation
	// Space of the vectors that took part; zero for keywords alone.
	Space embed.Space
	Index Index
}

// Hit is one result.
type Hit struct {
	Path      string
	StartLine int
	EndLine   int
	// Score is the confidence in [0,1], comparable between queries.
	Score float64
	// Snippet is the part of the text that answers best, at most Options.SnippetChars characters, and its lines.
	Snippet      string
	SnippetStart int
	SnippetEnd   int
	Source       string
	Headings     string
	Date         string
	// VectorScore is the exact cosine clamped to [0,1], TextScore the keyword confidence; 0 for an absent channel.
	VectorScore float64
	TextScore   float64
	// Trace is nil unless the query asked for it.
	Trace *Trace
}

// Trace takes a score apart.
type Trace struct {
	// Rank among the candidates before decay and MMR; ranks count from 1.
	Rank int
	// VectorRank and TextRank in each channel's own list, 0 where the channel did not find the chunk.
	VectorRank, TextRank     int
	VectorScore, TextScore   float64
	VectorWeight, TextWeight float64
	// Merged is the weighted sum that orders candidates, before decay.
	Merged float64
	// DateBonus is added for a date that the query names; there is no decay then. DateConfidence is the part of the hit's
	// score that this date alone gives, and the channels fill up the rest.
	DateBonus, DateConfidence float64
	// Decay is the factor in (0,1] for the age.
	Decay   float64
	AgeDays float64
	// MMRSimilarity to the nearest better hit, MMRScore what was left.
	MMRSimilarity, MMRScore float64
	// Terms are each query term's part of the text score, PairShare what pairs of neighbours add to it, BestPartShare the
	// best part of the text and ChunkShare the chunk around a passage. They add up to 1 where a term occurs.
	Terms                                []TermShare
	PairShare, BestPartShare, ChunkShare float64
	// Missing are the terms of the query that do not occur, neither do their neighbours.
	Missing []string
	// KeywordBacked hits lie below the threshold and fill free slots.
	KeywordBacked bool
}

// TermShare is one query term's part of a text score.
type TermShare struct {
	Term  string
	IDF   float64
	Count int
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
	Answer  Answer
	Outcome string
	// Text is a sentence for people, with the figures.
	Text string
	// Passage is the chunk asked about with its trace; nil where it was no candidate.
	Passage *Hit
	// Terms of the query after analysis.
	Terms []string
}

// InputError is a request that cannot be answered as it stands: the field at fault and what is wrong with it.
type InputError struct {
	Field, Problem string
}

// Error returns "field: problem".
func (e *InputError) Error() string { return e.Field + ": " + e.Problem }
