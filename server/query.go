package server

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

var knownSources = []string{memory.SourceMemory, memory.SourceExtra, memory.SourceSessions}

// queryOf reads what the engine does not: times and sources. The engine checks the rest.
func queryOf(req *kiokuv1.MemorySearchRequest) (memory.Query, error) {
	q := memory.Query{
		Text: req.GetQuery(), MaxResults: int(req.GetMaxResults()), MinScore: req.MinScore, Explain: req.GetExplain(),
		Granularity: req.GetGranularity(), SnippetChars: int(req.GetMaxSnippetChars()),
		Filter: memory.Filter{Sources: req.GetSources(), PathPrefix: req.GetPathPrefix()},
	}
	for _, s := range q.Filter.Sources {
		if !slices.Contains(knownSources, s) {
			return q, &memory.InputError{Field: "sources",
				Problem: fmt.Sprintf("%q is none; there are: %s", s, strings.Join(knownSources, ", "))}
		}
	}
	return q, readTimes(req, &q)
}

func readTimes(req *kiokuv1.MemorySearchRequest, q *memory.Query) error {
	since, err := readTime("since", req.GetSince())
	if err != nil {
		return err
	}
	until, err := readTime("until", req.GetUntil())
	if err != nil {
		return err
	}
	if q.Now, err = readTime("now", req.GetNow()); err != nil {
		return err
	}
	q.Filter.Since, q.Filter.Until = day(since), day(until)
	return nil
}

// readTime reads an RFC 3339 time, or a day as its noon in the local zone, so that it stays the same day in the zones
// around. An empty text is the zero time.
func readTime(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return t.Add(12 * time.Hour), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, &memory.InputError{Field: field,
			Problem: fmt.Sprintf("must be a day like 2026-01-20 or a time like 2026-01-20T15:04:05Z, not %q", text)}
	}
	return t, nil
}

// day returns the day of a time in the time's own zone, empty for the zero time.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}
