package search

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"kioku/embed"
	"kioku/memory"
)

const (
	// MaxResults is the maximum number of hits that a query may ask for.
	MaxResults = 100
	// MinSnippetChars is the minimum length of a snippet, in characters, that a query may ask for.
	MinSnippetChars = 40
	// MaxSnippetChars is the maximum length of a snippet, in characters, that a query may ask for.
	MaxSnippetChars = 2000
)

// searchState is the state of one query while it is answered: what is asked, what is known of it, and what was found.
type searchState struct {
	// query with all defaults filled in; MinScore may be nil.
	query memory.Query
	// dates are the days that the query names.
	dates queryDates
	index Index
	terms queryTerms
	queryVector
	// named are the first chunks of the files that are called exactly as the query.
	named []int64
	// asksOrder reports that the query asks for the order in which things happened.
	asksOrder bool
	// mode says which channels take part, with these weights.
	mode    string
	weights channelWeights
	limit   threshold
	// candidates ordered by score, best first, and those of them that are returned.
	candidates, hits []*candidate
	degraded         []memory.Degradation
	// allOut reports that the filter leaves no note.
	allOut bool
}

// queryVector is the query as a vector, and what its cosines mean in the index.
type queryVector struct {
	// vector is nil if vectors take no part. class is the class of its model.
	vector []float32
	class  embed.Class
	// embedder made the vector; nil without an embedder.
	embedder Embedder
	// foreign reports that the query is in a script that the model has not learnt.
	foreign bool
	// mayEmbedAgain allows that the query is embedded once more if the index has vectors of another space.
	mayEmbedAgain bool
	// spread of its cosines over the index, and the distance from the mean that is worth a similarity of 1.
	spread       Spread
	fullDistance float64
}

// newState checks a query and fills in what it leaves to the options.
func (s *Searcher) newState(q memory.Query) (*searchState, error) {
	q.Text = strings.TrimSpace(q.Text)
	if err := checkQuery(q); err != nil {
		return nil, err
	}
	var err error
	if q.Filter, err = ReadFilter(q.Filter); err != nil {
		return nil, err
	}
	q.Granularity = cmp.Or(q.Granularity, s.opt.Granularity)
	if q.Granularity != memory.GranularityPassage && q.Granularity != memory.GranularityChunk {
		return nil, badField("granularity", "is %q; must be %q or %q", q.Granularity, memory.GranularityPassage, memory.GranularityChunk)
	}
	q.SnippetChars = cmp.Or(q.SnippetChars, s.opt.SnippetChars)
	q.MaxPerFile = cmp.Or(q.MaxPerFile, min(max(s.opt.MaxPerFile, 0), MaxResults))
	q.MaxResults = cmp.Or(q.MaxResults, min(max(s.opt.MaxResults, 1), MaxResults))
	if q.Now.IsZero() && s.opt.Now != nil {
		q.Now = s.opt.Now()
	} else if q.Now.IsZero() {
		q.Now = time.Now()
	}
	return &searchState{query: q, mode: memory.ModeKeyword, dates: parseDates(q.Text, q.Now)}, nil
}

// checkQuery returns an *memory.InputError for a query that cannot be answered. The text has no space around it.
func checkQuery(q memory.Query) error {
	switch n := q.SnippetChars; {
	case q.Text == "":
		return ErrEmptyQuery
	case len(q.Text) > MaxQueryBytes:
		return badField("query", "has %d bytes, more than %d: ask a shorter question", len(q.Text), MaxQueryBytes)
	case q.MaxResults < 0 || q.MaxResults > MaxResults:
		return badField("max_results", "is %d, not within 0 and %d", q.MaxResults, MaxResults)
	case q.MaxPerFile < 0 || q.MaxPerFile > MaxResults:
		return badField("max_per_file", "is %d, not within 0 and %d", q.MaxPerFile, MaxResults)
	case n != 0 && (n < MinSnippetChars || n > MaxSnippetChars):
		return badField("max_snippet_chars", "is %d, not within %d and %d", n, MinSnippetChars, MaxSnippetChars)
	case q.MinScore != nil && !inUnit(*q.MinScore):
		return badField("min_score", "is %v, not within 0 and 1", *q.MinScore)
	}
	return nil
}

// degrade notes one thing that the answer has to do without.
func (r *searchState) degrade(code, format string, args ...any) {
	r.degraded = append(r.degraded, memory.Degradation{Code: code, Text: fmt.Sprintf(format, args...)})
}

// inUnit reports whether x is a number within [0,1].
func inUnit(x float64) bool { return x >= 0 && x <= 1 }
