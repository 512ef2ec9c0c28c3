package memory

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Query is a question to a memory.
type Query struct {
	// Text in any language, at most 4 KiB. A blank text is an *InputError.
	Text string `json:"query"`
	// MaxResults is the maximum number of hits, at most 100; 0 means the default of the memory (6 unless configured).
	MaxResults int `json:"max_results,omitempty"`
	// MaxPerFile is the maximum number of hits of one file, at most 100. 0 means the default of the memory: any number
	// unless configured.
	MaxPerFile int `json:"max_per_file,omitempty"`
	// MinScore replaces the thresholds of the memory if it is set; it lies in [0,1].
	MinScore *float64 `json:"min_score,omitempty"`
	// Filter restricts the search; the zero value does not.
	Filter
	// Granularity is GranularityPassage or GranularityChunk; empty means the default of the memory.
	Granularity string `json:"granularity,omitempty"`
	// SnippetChars is the maximum number of characters of a snippet, 40 to 2,000; 0 means the default of the memory.
	SnippetChars int `json:"max_snippet_chars,omitempty"`
	// Clauses says that Text is a message and not a query: its questions, its last sentence and the whole are searched for one by one,
	// and their hits merged by score.
	Clauses bool `json:"clauses,omitempty"`
	// Explain fills in the trace of each hit.
	Explain bool `json:"explain,omitempty"`
	// Now is the time of the question; zero means the clock of the memory.
	Now time.Time `json:"ask_time,omitzero"`

	// What follows takes part only if derivation is on.

	// Context are the messages before the query, oldest first, at most 20. They say what a pointing word means.
	Context []Turn `json:"context,omitempty"`
	// Queries are further wordings by the caller, at most 5 of at most 200 characters.
	Queries []string `json:"queries,omitempty"`
	// Kinds to find, constants Kind...; none means passages only.
	Kinds []string `json:"kinds,omitempty"`
	// AsOf asks for facts that held in the world at that time; zero means now.
	AsOf time.Time `json:"as_of_time,omitzero"`
	// IncludeSuperseded also finds facts that others have taken the place of, and loops that are closed or expired.
	IncludeSuperseded bool `json:"include_superseded,omitempty"`
	// MaxSensitivity is the ceiling of units, and of passages if derivation is on; nil means Private.
	MaxSensitivity *Sensitivity `json:"-"`
}

// Filter restricts a search. The zero value lets everything through.
type Filter struct {
	// Sources to search, constants Source...; none means all.
	Sources []string `json:"sources,omitempty"`
	// PathPrefix is how the paths of files begin; empty means all.
	PathPrefix string `json:"path_prefix,omitempty"`
	// Where are conditions on the fields of files, all of which must hold; none restricts nothing.
	Where []Condition `json:"filter,omitempty"`
	// Since and Until are days (YYYY-MM-DD), inclusive, empty for no bound. Of an RFC 3339 time the day counts. If either is
	// set, undated files are left out.
	Since string `json:"since,omitempty"`
	Until string `json:"until,omitempty"`
}

// Condition is a condition on a field of a file: of its front matter, or one of the fields title, date, tags and aliases, which
// every file has that has a value for them. A file without the field meets only the operator [NotEqual].
type Condition struct {
	// Field is the name of the field; its case does not matter. The key of a mapping within the front matter is "author.name".
	Field string `json:"field"`
	// Op is one of the operators; empty means [Equal].
	Op string `json:"op,omitempty"`
	// Values to compare with: one, or at least one for [In]. Texts are equal whatever their case. A tag also equals the tags
	// above it: "a/b" equals "a".
	Values []string `json:"values"`
}

// Operators of a [Condition]. If a field is a list, one of its values must meet the condition, and all of them [NotEqual].
const (
	// Equal means that the values are equal.
	Equal = "="
	// NotEqual means that no value of the field equals the value, or that the file lacks the field.
	NotEqual = "!="
	// In means that a value of the field equals one of the values.
	In = "in"
	// Less, LessEqual, Greater and GreaterEqual compare numbers with a number, and days (also of times) with a day, a month
	// (2026-02) or a year (2026), of which the first or the last day counts. Equal to a month or year is every day of it.
	Less         = "<"
	LessEqual    = "<="
	Greater      = ">"
	GreaterEqual = ">="
)

// Sources of files.
const (
	// SourceMemory is MEMORY.md, USER.md and the folder memory/ of the workspace, and what globs include in it.
	SourceMemory = "memory"
	// SourceExtra is a folder or file outside of those.
	SourceExtra = "extra"
	// SourceSessions is the transcripts of conversations.
	SourceSessions = "sessions"
	// SourceClaudeCode is the transcripts that Claude Code keeps of conversations in the project.
	SourceClaudeCode = "claude-code"
	// SourceCodex is the transcripts that Codex keeps of conversations in the project.
	SourceCodex = "codex"
)

// Sources returns all sources of files.
func Sources() []string {
	return []string{SourceMemory, SourceExtra, SourceSessions, SourceClaudeCode, SourceCodex}
}

// IsTranscript reports whether the files of a source are transcripts of conversations: JSON lines that only grow.
func IsTranscript(source string) bool {
	return source == SourceSessions || source == SourceClaudeCode || source == SourceCodex
}

// Granularities of hits.
const (
	// GranularityPassage returns the best passage of each chunk.
	GranularityPassage = "passage"
	// GranularityChunk returns whole chunks.
	GranularityChunk = "chunk"
)

const (
	maxContextTurns = 20
	maxTurnBytes    = 64 << 10
	maxQueries      = 5
	maxQueryChars   = 200
)

// AsksDerived reports whether a query asks for what only derivation can give: the meaning of its context, further wordings, units, or
// a time at which they held.
func (q Query) AsksDerived() bool {
	asksUnits := slices.ContainsFunc(q.Kinds, func(kind string) bool { return kind != KindChunk })
	return len(q.Context) > 0 || len(q.Queries) > 0 || asksUnits || !q.AsOf.IsZero() || q.IncludeSuperseded
}

// CheckRecall returns an *InputError for context, queries, kinds or a ceiling that no search takes.
func (q Query) CheckRecall() error {
	switch {
	case len(q.Context) > maxContextTurns:
		return &InputError{Field: "context", Problem: fmt.Sprintf("has %d messages, more than %d: send the latest ones", len(q.Context), maxContextTurns)}
	case len(q.Queries) > maxQueries:
		return &InputError{Field: "queries", Problem: fmt.Sprintf("has %d wordings, more than %d", len(q.Queries), maxQueries)}
	case q.MaxSensitivity != nil && (*q.MaxSensitivity < Normal || *q.MaxSensitivity > Secret):
		return &InputError{Field: "max_sensitivity", Problem: `must be "normal", "private" or "secret"`}
	}
	for _, t := range q.Context {
		switch {
		case t.Speaker != SpeakerUser && t.Speaker != SpeakerAssistant:
			return &InputError{Field: "context", Problem: fmt.Sprintf("has the speaker %q; must be %q or %q", t.Speaker, SpeakerUser, SpeakerAssistant)}
		case len(t.Text) > maxTurnBytes:
			return &InputError{Field: "context", Problem: fmt.Sprintf("has a message of %d bytes, more than %d: send its beginning and end", len(t.Text), maxTurnBytes)}
		}
	}
	for _, wording := range q.Queries {
		if n := utf8.RuneCountInString(wording); n > maxQueryChars {
			return &InputError{Field: "queries", Problem: fmt.Sprintf("has a wording of %d characters, more than %d", n, maxQueryChars)}
		}
	}
	for _, kind := range q.Kinds {
		if !slices.Contains(QueryKinds(), kind) {
			return &InputError{Field: "kinds", Problem: fmt.Sprintf("has %q; must be %q, %q, %q or %q", kind, KindChunk, KindFact, KindLoop, KindSummary)}
		}
	}
	return nil
}

// QueryKinds returns the kinds that a query may ask for.
func QueryKinds() []string { return []string{KindChunk, KindFact, KindLoop, KindSummary} }

// ParseSensitivity returns the sensitivity that is called name. It returns false if there is none.
func ParseSensitivity(name string) (Sensitivity, bool) {
	for _, s := range []Sensitivity{Normal, Private, Secret} {
		if s.String() == name {
			return s, true
		}
	}
	return Private, false
}
