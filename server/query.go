package server

import (
	"fmt"
	"time"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// queryOf reads a query, whose fields the engine checks.
func queryOf(req *kiokuv1.MemorySearchRequest) (memory.Query, error) {
	now, err := readTime("now", req.GetNow())
	return memory.Query{
		Text: req.GetQuery(), MaxResults: int(req.GetMaxResults()), MinScore: req.MinScore, Explain: req.GetExplain(),
		Granularity: req.GetGranularity(), SnippetChars: int(req.GetMaxSnippetChars()), Now: now,
		Filter: memory.Filter{
			Sources: req.GetSources(), PathPrefix: req.GetPathPrefix(), Since: req.GetSince(), Until: req.GetUntil(),
		},
	}, err
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
