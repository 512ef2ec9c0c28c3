package memory

import (
	"fmt"
	"strings"
	"time"
)

// Answer is the outcome of a search.
type Answer struct {
	// Hits, best first; none if nothing is good enough.
	Hits []Hit `json:"results"`
	// Mode names the channels that ran, one of the constants Mode....
	Mode string `json:"mode"`
	// Degraded lists what the answer had to do without; none if it is complete.
	Degraded []Degradation `json:"degraded"`
	// Provider and Model of the vectors that took part; empty for keywords only.
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Index of the index that answered.
	Index IndexStats `json:"index"`
	// Took is how long the search took.
	Took time.Duration `json:"took"`
	// Units that the query asked for by Kinds, best first; none if it did not, or nothing matches.
	Units []FoundUnit `json:"units,omitempty"`
	// Abstained says why nothing of it belongs into a prompt unasked, empty if something does. It is filled in only for a query
	// with context, or kinds.
	Abstained string `json:"abstained"`
	// Withheld is the number of units and passages that match and lie above the ceiling of sensitivity.
	Withheld int `json:"withheldCount,omitempty"`
}

// FoundUnit is a unit that answers a query.
type FoundUnit struct {
	Unit
	// Text is the unit as one sentence.
	Text string `json:"text"`
	// Score in [0,1]: the confidence that it is what was asked for.
	Score float64 `json:"score"`
	// Names are the names of the query or its context that the unit is about; none if only its words match.
	Names []string `json:"names,omitempty"`
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

// Degradation is one thing that an answer had to do without.
type Degradation struct {
	// Code is one of the constants and stable.
	Code string `json:"code"`
	// Text is a sentence for people.
	Text string `json:"text"`
}

// Codes of a Degradation.
const (
	// ProviderDown means that the query could not be embedded.
	ProviderDown = "provider_down"
	// IndexEmpty means that nothing is indexed yet.
	IndexEmpty = "index_empty"
	// IndexStale means that files have changed since the last sync, or that it failed.
	IndexStale = "index_stale"
	// VectorsMissing means that chunks have no vector, or that the vectors could not be searched.
	VectorsMissing = "vectors_missing"
	// SpaceChanged means that the index has vectors of another model.
	SpaceChanged = "space_changed"
	// WorkspaceUnavailable means that the folder of notes cannot be read.
	WorkspaceUnavailable = "workspace_unavailable"
	// IndexDamaged means that the index was damaged and is being made again.
	IndexDamaged = "index_damaged"
	// FilesSkipped means that MEMORY.md, USER.md or files of days are not indexed: they are too large or cannot be read.
	FilesSkipped = "files_skipped"
	// FilterExcludes means that the filter leaves files out because they have no date or lack a field.
	FilterExcludes = "filter_excludes"
	// FilesBeside means that there is no hit, and that the workspace has Markdown files that are not indexed: the settings do not
	// include them, or it was not possible.
	FilesBeside = "files_beside"
	// TermsCapped means that the query has too many terms.
	TermsCapped = "terms_capped"
	// NoMatch means that there is no hit.
	NoMatch = "no_match"
	// DaysEmpty means that the query asks only for days without notes; hits mention these days.
	DaysEmpty = "days_empty"
	// WordsUnknown means that there is no hit, and that no note contains some of the words of the query.
	WordsUnknown = "words_unknown"
	// VectorsOff means that there is no hit, and that only words were compared: no embedding provider is configured, or its model
	// has learnt English only and the query is in another script.
	VectorsOff = "vectors_off"
	// PastByWords means that notes as they were are found by their words only, although there is an embedding provider.
	PastByWords = "past_by_words"
	// RerankPartial means that the re-ranker has not scored all passages that it was asked for; the others keep their places.
	RerankPartial = "rerank_partial"
	// AuditFailing means that the service cannot record its calls, as its owner wants; answers lack nothing.
	AuditFailing = "audit_failing"
	// DeriveOff means that the query has context or asks for units, and derivation is off.
	DeriveOff = "derive_off"
	// ExpandTimeout, ExpandInvalid, RerankTimeout and RerankInvalid mean that a language model was too late, or its answer was not
	// what it has to be; the answer is that of the rules.
	ExpandTimeout = "expand_timeout"
	ExpandInvalid = "expand_invalid"
	RerankTimeout = "rerank_timeout"
	RerankInvalid = "rerank_invalid"
	// UnitsMissing means that facts, loops and summaries could not be searched.
	UnitsMissing = "units_missing"
	// Withheld means that something matches that lies above the ceiling of sensitivity.
	Withheld = "withheld"
	// StoreAway means that the databases of the cluster cannot be reached, and that the answer may lack what was written since.
	StoreAway = "store_away"
	// FolderReplaced means that the agent has another folder in the cluster, and that what is edited in the one of this machine counts nowhere.
	FolderReplaced = "folder_replaced"
	// DeadlineNear means that embedding the query took too long.
	DeadlineNear = "deadline"
)

// IsHint reports whether d only says why there is no hit or what would help, or what the caller has left out. An answer with nothing but
// hints lacks nothing.
func (d Degradation) IsHint() bool {
	switch d.Code {
	case NoMatch, DaysEmpty, WordsUnknown, VectorsOff, FilesBeside, FilterExcludes, DeriveOff, Withheld, FolderReplaced:
		return true
	}
	return false
}

// IndexStats tells how far the index has followed the files.
type IndexStats struct {
	// Generation increases with every committed change.
	Generation int64 `json:"generation"`
	// Files and Chunks in the index.
	Files  int `json:"fileCount"`
	Chunks int `json:"chunkCount"`
	// PendingFiles is the number of files that have changed and are not indexed yet.
	PendingFiles int `json:"pendingFileCount"`
	// LastSync is the end of the last complete sync, zero if there was none.
	LastSync time.Time `json:"lastSyncTime,omitzero"`
}

// Hit is one result. Lines are 1-based and inclusive.
type Hit struct {
	// Path of the file, relative to the workspace, with slashes.
	Path string `json:"path"`
	// StartLine and EndLine are the first and the last line of the passage or chunk, from 1.
	StartLine int `json:"startLine"`
	EndLine   int `json:"endLine"`
	// Score is the confidence in [0,1], comparable between queries.
	Score float64 `json:"score"`
	// Snippet is the part of the text that answers best, at most Query.SnippetChars characters.
	Snippet string `json:"snippet"`
	// SnippetStart and SnippetEnd are the first and the last line of the snippet, from 1.
	SnippetStart int `json:"snippetStartLine"`
	SnippetEnd   int `json:"snippetEndLine"`
	// Source of the file, one of the constants Source....
	Source string `json:"source"`
	// Headings is the path of the headings above the hit, empty if there is none.
	Headings string `json:"heading,omitempty"`
	// Date (YYYY-MM-DD) of the file or entry, empty if it has none.
	Date string `json:"date"`
	// VectorScore, in [0,1], is how far the similarity by vectors is above the mean of the index; 0 without vectors.
	VectorScore float64 `json:"vectorScore"`
	// TextScore is the keyword confidence in [0,1]; 0 if no word matches.
	TextScore float64 `json:"textScore"`
	// Citation of the hit: "memory/2026-01-20.md#L3-L9".
	Citation string `json:"citation"`
	// Origin says whose words these are: those of all notes in the passage that are not only the owner's; nil if there are none.
	// What a person has written into a file has no origin.
	Origin *Origin `json:"origin,omitempty"`
	// Weak reports that Score is below the line from which on a hit is a confident one. Weak hits come after all others. They are
	// better than chance, and nothing to put into a prompt unasked.
	Weak bool `json:"weak"`
	// Trace is nil unless the query asked for it.
	Trace *Trace `json:"trace,omitempty"`
}

// TableHead returns the head of the table that the hit begins among the rows of, "| Name | Phone |", which ends Headings; empty for
// others.
func (h Hit) TableHead() string {
	_, head, isRow := strings.Cut(" > "+h.Headings, " > | ")
	if !isRow {
		return ""
	}
	return "| " + head
}

// Cite returns the citation of the lines of the hit.
func (h Hit) Cite() string { return fmt.Sprintf("%s#L%d-L%d", h.Path, h.StartLine, h.EndLine) }

// SkippedFile is a file that is not indexed, or of which something could not be read.
type SkippedFile struct {
	// Path in the index.
	Path string `json:"path"`
	// Reason is why the file is not indexed, or what of it could not be read.
	Reason string `json:"reason"`
	// Indexed is set for a file that is indexed.
	Indexed bool `json:"indexed"`
}
