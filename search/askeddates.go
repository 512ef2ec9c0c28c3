package search

import (
	"context"
	"fmt"
	"slices"
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
	// hasNotes reports that there are notes of any of the spans, and only that the query asks for nothing but days.
	hasNotes, only bool
}

// listsNotes reports whether the query asks for nothing but the notes of days that have some.
func (d queryDates) listsNotes() bool { return d.only && d.hasNotes }

// lacksNotes reports whether the query asks for nothing but days without notes. A number may name something else as well.
func (d queryDates) lacksNotes() bool {
	return d.only && !d.hasNotes && !slices.ContainsFunc(d.spans, func(s dates.Span) bool { return s.Numeric })
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
	if d.only = len(d.mentions) > 0 && !asksForMore(withoutParts(d.norm, d.mentions)); !d.only {
		return withoutParts(d.norm, known), nil
	}
	r.vector = nil // nothing is like a day
	if d.lacksNotes() {
		return d.namedDays(r.query.Now), nil
	}
	return d.norm, nil
}

// otherDay is far enough from now that words such as "last month", 昨日 or "the last 30 days" mean other days.
const otherDay = 400 * 24 * time.Hour

// namedDays returns the query with nothing but the words for days that a text may contain: "May 3rd", 2025年5月, and days
// that no calendar has. What "last month" means changes with the day of the question.
func (d queryDates) namedDays(now time.Time) string {
	kept := slices.Clone(d.mentions)
	later, _ := dates.Parse(d.norm, now.Add(otherDay))
	for _, s := range d.spans {
		named := slices.ContainsFunc(later, func(o dates.Span) bool {
			return s.Extent == o.Extent && (s == o || s.Len() <= maxNamedDays && s.First[5:] == o.First[5:] && s.Last[5:] == o.Last[5:])
		})
		if !named {
			kept = slices.DeleteFunc(kept, func(e dates.Extent) bool { return e == s.Extent })
		}
	}
	return onlyParts(d.norm, kept)
}

// maxNamedDays is the maximum number of days that a text names without a year: a month.
const maxNamedDays = 31

// onlyParts replaces everything but parts of a text by spaces and line breaks, so that the parts do not become adjacent.
func onlyParts(text string, parts []dates.Extent) string {
	b := []byte(strings.Repeat(" ", len(text)))
	for _, e := range parts {
		copy(b[e.Start:e.End], text[e.Start:e.End])
		if e.Start > 0 {
			b[e.Start-1] = '\n'
		}
	}
	return string(b)
}

// withoutParts replaces parts of a text by spaces. A part begins with a line break, so that the words around it do not become
// adjacent.
func withoutParts(text string, parts []dates.Extent) string {
	b := []byte(text)
	for _, e := range parts {
		for i := e.Start; i < e.End; i++ {
			b[i] = ' '
		}
		b[e.Start] = '\n'
	}
	return string(b)
}

// phrase returns the words that say which days have no note, "" if any of them has one.
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
	return "no note is dated " + strings.Join(list, " or ")
}
