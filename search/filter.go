package search

import (
	"slices"
	"strings"
	"time"
)

// check returns an *InputError if a day is not valid or if no day can match.
func (f Filter) check() error {
	for _, d := range []struct{ field, day string }{{"since", f.Since}, {"until", f.Until}} {
		if d.day == "" {
			continue
		}
		if _, err := time.Parse(time.DateOnly, d.day); err != nil {
			return &InputError{d.field, "is no day: write it as 2026-01-31"}
		}
	}
	if f.Since != "" && f.Until != "" && f.Since > f.Until {
		return &InputError{"since", "lies after until"}
	}
	return nil
}

// admits reports whether a chunk passes the filter, by the rules that a store follows.
func (f Filter) admits(c *Chunk) bool {
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

// phrase returns the words that tell people of a filter, "" if there is none.
func (f Filter) phrase() string {
	if len(f.Sources) == 0 && f.PathPrefix == "" && f.Since == "" && f.Until == "" {
		return ""
	}
	return " within the filter"
}
