package search

import (
	"slices"
	"strings"
	"time"

	"kioku/memory"
)

// checkFilter returns an *InputError for days that are none, or that leave nothing.
func checkFilter(f memory.Filter) error {
	days := []struct{ field, day string }{{"since", f.Since}, {"until", f.Until}}
	for _, d := range days {
		if d.day == "" {
			continue
		}
		if _, err := time.Parse(time.DateOnly, d.day); err != nil {
			return &memory.InputError{Field: d.field, Problem: "is no day: write it as 2026-01-31"}
		}
	}
	if f.Since != "" && f.Until != "" && f.Since > f.Until {
		return &memory.InputError{Field: "since", Problem: "lies after until"}
	}
	return nil
}

// admits reports whether a chunk passes the filter, as a store decides it.
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

// filterPhrase tells people that a filter is at work, "" where there is none.
func filterPhrase(f memory.Filter) string {
	if len(f.Sources) == 0 && f.PathPrefix == "" && f.Since == "" && f.Until == "" {
		return ""
	}
	return " within the filter"
}
