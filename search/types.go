package search

import (
	"context"
	"time"

	"kioku/embed"
)

// Query is a question to an index.
type Query struct {
	// Text in any language, at most MaxQueryBytes. It must not be blank.
	Text string
	// MaxResults is the maximum number of hits, at most 100; 0 means Options.MaxResults.
	MaxResults int
	// MinScore is the minimum confidence of a hit, in [0,1]. It replaces the thresholds of Options; nil keeps them.
	MinScore *float64
	// Filter narrows the search; the zero value lets everything through.
	Filter Filter
	// Granularity is GranularityPassage or GranularityChunk; empty means Options.Granularity.
	Granularity string
	// SnippetChars is the maximum number of characters in a snippet, 40 to 2,000; 0 means Options.SnippetChars.
	SnippetChars int
	// Explain fills in the trace of each hit.
	Explain bool
	// Now is the time of the question, for dates such as "yesterday" and for decay; zero means the clock of Options.
	Now time.Time
}

// Filter narrows a search. The zero value lets everything through.
type Filter struct {
	// Sources of the files; empty means all.
	Sources []string
	// PathPrefix is what paths begin with; empty means all.
	PathPrefix string
	// Since and Until are the first and the last day (YYYY-MM-DD); empty means no limit. Either leaves undated files out.
	Since, Until string
}

// Chunk is a piece of a file, as the store contains it.
type Chunk struct {
	// ID identifies the chunk within the index.
	ID int64
	// Path of the file, relative to the workspace, with slashes.
	Path string
	// Source of the file.
	Source string
	// StartLine and EndLine are the first and the last line in the file, from 1.
	StartLine, EndLine int
	// Headings is the path of the headings above the chunk, empty if there is none.
	Headings string
	// Date (YYYY-MM-DD) of the file or entry, empty if it has none.
	Date string
	// Evergreen chunks do not decay: front matter says so, or the file is MEMORY.md or USER.md.
	Evergreen bool
	// Fence is the mark of the code fence in which the chunk begins, such as "```"; empty if it begins in none.
	Fence string
	// Closed reports that the chunk ends with its section: a heading follows, or the end of the file.
	Closed bool
	// Text of the chunk, whole lines.
	Text string
	// Vector is the stored unit vector; nil if there is none or it was not asked for.
	Vector []float32
}

// Index describes the index that a view reads.
type Index struct {
	// Space of the stored vectors; zero if there are none.
	Space embed.Space
	// Files and Chunks are the numbers of indexed files and chunks.
	Files, Chunks int
	// Embedded is the number of chunks with a vector.
	Embedded int
	// AvgTerms is the mean number of terms in a chunk; 0 for an empty index.
	AvgTerms float64
	// Generation grows with every committed change.
	Generation int64
}

// Neighbor is a chunk near a query vector.
type Neighbor struct {
	// ID of the chunk.
	ID int64
	// Cosine of its vector and the query vector, in [-1,1].
	Cosine float64
}

// Store gives a search a consistent view of the index.
type Store interface {
	// View calls f with a reader of one snapshot; vectors reports whether Nearest will be called. The reader is valid until
	// f returns, and Match and Nearest may run at the same time.
	View(ctx context.Context, vectors bool, f func(Reader) error) error
}

// Reader reads one snapshot of an index.
type Reader interface {
	// Index describes the snapshot.
	Index() Index
	// DocFreq returns the number of chunks that contain each term; terms that occur nowhere are absent.
	DocFreq(ctx context.Context, terms []string) (map[string]int, error)
	// Dated reports whether any chunk has a date (YYYY-MM-DD) between two days, both included.
	Dated(ctx context.Context, first, last string) (bool, error)
	// Match returns the ids of the best chunks with any term of t.Any, best first. Each counts by all terms that it
	// contains, precisely enough to choose candidates. Without terms, Match returns the chunks that the filter lets through,
	// newest first.
	Match(ctx context.Context, t Terms, f Filter, limit int) ([]int64, error)
	// Nearest returns the k chunks nearest to a unit vector, nearest first.
	Nearest(ctx context.Context, vector []float32, f Filter, k int) ([]Neighbor, error)
	// Chunks reads chunks by id, in any order, with or without their vectors. Unknown ids are skipped.
	Chunks(ctx context.Context, ids []int64, vectors bool) ([]Chunk, error)
}

// Embedder turns a query into a vector; *embed.Client is one.
type Embedder interface {
	// Enabled reports whether there is a provider.
	Enabled() bool
	// Weak reports that the vectors come from no real model, so that keywords weigh more.
	Weak() bool
	// Space identifies the vectors.
	Space() embed.Space
	// Query returns the unit vector of a query.
	Query(ctx context.Context, text string) ([]float32, error)
}

// Modes of an answer: the channels that ran.
const (
	// ModeHybrid ranks by keywords and vectors.
	ModeHybrid = "hybrid"
	// ModeVector ranks by vectors only: the index knows no word of the query.
	ModeVector = "vector"
	// ModeKeyword ranks by keywords only.
	ModeKeyword = "keyword"
)

// Codes of a Degradation.
const (
	// ProviderDown means that the query could not be embedded.
	ProviderDown = "provider_down"
	// IndexEmpty means that nothing is indexed yet.
	IndexEmpty = "index_empty"
	// IndexStale means that files have changed since the last sync.
	IndexStale = "index_stale"
	// VectorsMissing means that chunks have no vector, or that the vectors could not be searched.
	VectorsMissing = "vectors_missing"
	// SpaceChanged means that the index has vectors of another model.
	SpaceChanged = "space_changed"
	// WorkspaceUnavailable means that the folder of notes cannot be read.
	WorkspaceUnavailable = "workspace_unavailable"
	// TermsCapped means that the query has too many terms.
	TermsCapped = "terms_capped"
	// NoMatch means that there is no hit.
	NoMatch = "no_match"
	// DeadlineNear means that embedding the query took too long.
	DeadlineNear = "deadline"
)

// Degradation is one thing that an answer had to do without.
type Degradation struct {
	// Code is one of the constants and stable.
	Code string
	// Text is a sentence for people.
	Text string
}

// Answer is the result of a search.
type Answer struct {
	// Hits, best first.
	Hits []Hit
	// Mode is one of ModeHybrid, ModeVector and ModeKeyword.
	Mode string
	// Degraded are the things that the answer had to do without; never empty if Hits is.
	Degraded []Degradation
	// Space of the vectors that took part; zero in ModeKeyword.
	Space embed.Space
	// Index is the index that was searched.
	Index Index
}

// Hit is one result.
type Hit struct {
	// Path of the file, relative to the workspace, with slashes.
	Path string
	// StartLine and EndLine are the first and the last line of the passage or chunk, from 1.
	StartLine, EndLine int
	// Score is the confidence in [0,1], comparable between queries.
	Score float64
	// Snippet is the part of the text that answers best, at most Query.SnippetChars characters.
	Snippet string
	// SnippetStart and SnippetEnd are the first and the last line of the snippet, from 1.
	SnippetStart, SnippetEnd int
	// Source of the file.
	Source string
	// Headings is the path of the headings above the hit, empty if there is none.
	Headings string
	// Date (YYYY-MM-DD) of the file or entry, empty if it has none.
	Date string
	// VectorScore is the exact cosine clamped to [0,1]; 0 without vectors.
	VectorScore float64
	// TextScore is the keyword confidence in [0,1]; 0 if no word matches.
	TextScore float64
	// Trace is nil unless the query asked for it.
	Trace *Trace
}

// Trace takes a score apart.
type Trace struct {
	// Rank among the candidates before decay and MMR, from 1.
	Rank int
	// VectorRank and TextRank are the ranks in the list of each channel, from 1; 0 if the channel did not find the chunk.
	VectorRank, TextRank int
	// VectorScore and TextScore are those of the hit.
	VectorScore, TextScore float64
	// VectorWeight and TextWeight are the weights of the channels; they add up to 1.
	VectorWeight, TextWeight float64
	// Merged is the weighted sum, in [0,1], that orders candidates before decay.
	Merged float64
	// DateBonus is added to Merged for a date that the query names; such hits do not decay. 0 for all others.
	DateBonus float64
	// DateConfidence is the part of the score, in [0,1], that this date gives; the channels fill up the rest.
	DateConfidence float64
	// Decay is the factor for the age, in (0,1].
	Decay float64
	// AgeDays is the age in days; 0 without a date.
	AgeDays float64
	// MMRSimilarity, in [0,1], is the similarity to the most similar better hit; 0 if there is none.
	MMRSimilarity float64
	// MMRScore is the score by which MMR chose the hit; 0 without MMR.
	MMRScore float64
	// Terms are the parts of the text score by query term.
	Terms []TermShare
	// PairShare, BestPartShare and ChunkShare are the parts of the text score from adjacent terms, from the best part of the
	// text, and from the chunk around a passage. With those of Terms they add up to 1 if any term occurs.
	PairShare, BestPartShare, ChunkShare float64
	// Missing are the terms of the query that do not occur, nor any spelling variant of them.
	Missing []string
	// KeywordBacked hits are below the threshold and fill free slots.
	KeywordBacked bool
}

// TermShare is the part of a text score that comes from one term.
type TermShare struct {
	// Term after analysis; "lighthuose ~ lighthous" is a spelling variant of a misspelt word.
	Term string
	// IDF is the weight of one occurrence.
	IDF float64
	// Count is the number of occurrences.
	Count int
	// Share of the text score, in [0,1].
	Share float64
}

// Outcomes of an explanation.
const (
	// Returned means that the passage is a hit.
	Returned = "returned"
	// NotIndexed means that the index has no chunk at this line.
	NotIndexed = "not_indexed"
	// Skipped means that the file is not indexed, for a reason that the text gives.
	Skipped = "skipped"
	// Filtered means that the filter leaves the passage out.
	Filtered = "filtered"
	// NotACandidate means that nothing in the query leads to the passage, or that others match better.
	NotACandidate = "not_a_candidate"
	// BelowThreshold means that the score is too low.
	BelowThreshold = "below_threshold"
	// DroppedByMMR means that the passage is too similar to a better hit.
	DroppedByMMR = "dropped_by_mmr"
	// Covered means that a better hit shows at least half of the passage.
	Covered = "covered"
	// BeyondMaxResults means that there are enough better hits.
	BeyondMaxResults = "beyond_max_results"
)

// Explanation says what became of a passage.
type Explanation struct {
	// Answer to the query, with traces.
	Answer Answer
	// Outcome is one of the constants; empty if no passage was asked about.
	Outcome string
	// Text is a sentence for people, with the figures.
	Text string
	// Passage is what was asked about, with its trace; nil if it was no candidate.
	Passage *Hit
	// Terms of the query after analysis.
	Terms []string
}

// InputError is a request that cannot be answered: the field at fault and what is wrong with it.
type InputError struct {
	// Field is the name of the field in a request, such as max_results.
	Field string
	// Problem continues the name of the field, such as "is empty: say what to look for".
	Problem string
}

// Error returns the field and the problem.
func (e *InputError) Error() string { return e.Field + ": " + e.Problem }
