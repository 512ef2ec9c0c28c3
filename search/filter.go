package search

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/memory"
)

// sources are those that a filter may name.
var sources = []string{memory.SourceMemory, memory.SourceExtra, memory.SourceSessions}

// ReadFilter returns a filter with days in the place of times. It returns a *memory.InputError for a source that there is
// not, and for days that are none, or that leave nothing.
func ReadFilter(f memory.Filter) (memory.Filter, error) {
	for _, s := range f.Sources {
		if !slices.Contains(sources, s) {
			return f, badField("sources", "%q is none; there are: %s", s, strings.Join(sources, ", "))
		}
	}
	var err error
	if f.Since, err = readDay("since", f.Since); err != nil {
		return f, err
	}
	if f.Until, err = readDay("until", f.Until); err != nil {
		return f, err
	}
	if f.Since != "" && f.Until != "" && f.Since > f.Until {
		return f, badField("since", "lies after until")
	}
	return f, nil
}

// readDay returns a day, or the day of an RFC 3339 time in its own zone. Empty stays empty.
func readDay(field, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t, err = time.Parse(time.RFC3339, text)
	}
	if err != nil {
		return "", badField(field, "must be a day like 2026-01-20 or a time like 2026-01-20T15:04:05Z, not %.80q", text)
	}
	return t.Format(time.DateOnly), nil
}

// badField is the error of a query whose field cannot be used.
func badField(field, format string, args ...any) error {
	return &memory.InputError{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// admits reports whether a chunk passes the filter, by the rules that a store follows.
func admits(f memory.Filter, c *Chunk) bool {
	if len(f.Sources) > 0 && !slices.Contains(f.Sources, c.Source) {
		return false
	}
	if !strings.HasPrefix(c.Path, f.PathPrefix) {
		return false
	}
	if (f.Since != "" || f.Until != "") && c.Date == "" {
		return false
	}
	return (f.Since == "" || c.Date >= f.Since) && (f.Until == "" || c.Date <= f.Until)
}

// filterPhrase returns the words that tell people of a filter, "" if there is none.
func filterPhrase(f memory.Filter) string {
	if len(f.Sources) == 0 && f.PathPrefix == "" && f.Since == "" && f.Until == "" {
		return ""
	}
	return " within the filter"
}
