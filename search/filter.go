package search

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/memory"
)

const (
	// maxSources is the maximum number of sources of a filter, and maxPathPrefix the maximum length of its path prefix in bytes.
	maxSources    = 16
	maxPathPrefix = 4096
)

// ReadFilter returns a filter with days in the place of times. It returns a *memory.InputError for a source that there is
// not, for more or longer values than a filter needs, for a malformed condition, and for days that are none, or that leave
// nothing.
func ReadFilter(f memory.Filter) (memory.Filter, error) {
	if len(f.Sources) > maxSources {
		return f, badField("sources", "has %d entries; at most %d", len(f.Sources), maxSources)
	}
	if len(f.PathPrefix) > maxPathPrefix {
		return f, badField("path_prefix", "has %d bytes; at most %d", len(f.PathPrefix), maxPathPrefix)
	}
	sources := memory.Sources()
	for _, s := range f.Sources {
		if !slices.Contains(sources, s) {
			return f, badField("sources", "%q is none; there are: %s", s, strings.Join(sources, ", "))
		}
	}
	var err error
	if f.Where, err = readConditions(f.Where); err != nil {
		return f, err
	}
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
