package search

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kioku/search/analysis"
	"kioku/search/dates"
)

// queryDates is what a query says about days.
type queryDates struct {
	// norm is the query, normalised.
	norm string
	// spans are the days that are searched for.
	spans []dates.Span
	// mentions are the places where the query names days, including days without notes and days that no calendar has.
	mentions []dates.Extent
	// hasNotes reports that there are notes of any of the spans, and only that the query asks for nothing but such days.
	hasNotes, only bool
}

// parseDates reads the days of a query.
func parseDates(text string, now time.Time) queryDates {
	d := queryDates{norm: analysis.Normalize(text)}
	spans, impossible := dates.Parse(d.norm, now)
	d.mentions = impossible
	for _, s := range spans {
		d.mentions = append(d.mentions, s.Extent)
	}
	d.spans = spans[:min(maxSpans, len(spans))]
	return d
}

// textWithoutDates returns the query without the days that the index has notes of: "July" and "3rd" would only find notes
// of other days. Days without notes stay, because a text may mention them, and so do all days if the query has no other
// words. The other words keep their offsets.
func (r *searchState) textWithoutDates(ctx context.Context, rd Reader) (string, error) {
	d := &r.dates
	var known []dates.Extent
	for _, s := range d.spans {
		dated, err := rd.Dated(ctx, s.First, s.Last)
		if err != nil {
			return "", fmt.Errorf("look up a date: %w", err)
		}
		d.hasNotes = d.hasNotes || dated
		// A number may name something else as well.
		if dated && !s.Numeric {
			known = append(known, s.Extent)
		}
	}
	if !asksForMore(without(d.norm, d.mentions)) {
		d.only = d.hasNotes
		return d.norm, nil
	}
	return without(d.norm, known), nil
}

// without replaces parts of a text by spaces. A part begins with a line break, so that the words around it do not become
// adjacent.
func without(text string, parts []dates.Extent) string {
	b := []byte(text)
	for _, e := range parts {
		for i := e.Start; i < e.End; i++ {
			b[i] = ' '
		}
		b[e.Start] = '\n'
	}
	return string(b)
}

// phrase returns the part of a sentence that says which days have no note, "" if any of them has one.
func (d queryDates) phrase() string {
	var list []string
	for _, s := range d.spans {
		days := s.First
		if s.Last != s.First {
			days += " to " + s.Last
		}
		list = append(list, days)
	}
	if len(list) == 0 || d.hasNotes {
		return ""
	}
	return ", and no note is dated " + strings.Join(list, " or ")
}
