package memory

import (
	"fmt"
	"time"
)

// Answer is the outcome of a search.
type Answer struct {
	// Hits, best first; none if nothing is good enough.
	Hits []Hit
	// Mode names the channels that ran, one of the constants Mode....
	Mode string
	// Degraded lists what the answer had to do without; none if it is complete.
	Degraded []Degradation
	// Provider and Model of the vectors that took part; empty for keywords only.
	Provider, Model string
	// State of the index that answered.
	State IndexState
	// Took is how long the search took.
	Took time.Duration
}

// Modes of an answer: the channels that ran.
const (
	ModeHybrid  = "hybrid"
	ModeVector  = "vector"
	ModeKeyword = "keyword"
)

// Degradation is one thing that an answer had to do without.
type Degradation struct {
	// Code is stable: one of the constants below. Text is a sentence for people.
	Code, Text string
}

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

// IndexState tells how far the index has followed the files.
type IndexState struct {
	// Generation increases with every committed change.
	Generation int64
	// Files and Chunks in the index.
	Files, Chunks int
	// PendingFiles is the number of files that have changed and are not indexed yet.
	PendingFiles int
	// LastSync is the end of the last complete sync, zero if there was none.
	LastSync time.Time
}

// Hit is one result. Lines are 1-based and inclusive.
type Hit struct {
	// Path relative to the workspace, with slashes.
	Path               string
	StartLine, EndLine int
	// Score is the confidence in [0,1], comparable between queries.
	Score float64
	// Snippet is the part of the text that answers best, and SnippetStart and SnippetEnd are its lines.
	Snippet                  string
	SnippetStart, SnippetEnd int
	// Source is one of the constants Source....
	Source string
	// Headings above the passage, "# Projects > ## Acme"; empty if there are none.
	Headings string
	// Date (YYYY-MM-DD) of the file or entry; empty if it has none.
	Date string
	// VectorScore is the exact cosine clamped to [0,1], TextScore the keyword confidence; 0 for an absent channel.
	VectorScore, TextScore float64
	// Trace is nil unless the query asked for it.
	Trace *Trace
}

// Citation returns "path#L3-L9".
func (h Hit) Citation() string { return fmt.Sprintf("%s#L%d-L%d", h.Path, h.StartLine, h.EndLine) }
