package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// shortSpan is the most days of a span that names a day rather than a time of the year: a week.
const shortSpan = 7

// short reports whether the span is a week at most.
func (s Span) short() bool { return s.Days() <= shortSpan }

// within narrows a filter to the span; false where nothing is left.
func (s Span) within(f Filter) (Filter, bool) {
	f.Since = max(f.Since, s.First)
	if f.Until == "" || s.Last < f.Until {
		f.Until = s.Last
	}
	return f, f.Since <= f.Until
}

// terms returns the days of a short span as terms of the index: each chunk is indexed with its date, and a text may
// name one.
func (s Span) terms() []string {
	first, err := time.Parse(time.DateOnly, s.First)
	if err != nil {
		return nil
	}
	terms := make([]string, s.Days())
	for i := range terms {
		terms[i] = first.AddDate(0, 0, i).Format(time.DateOnly)
	}
	return terms
}

// words returns the query without the days that the index has notes of: beside those, "July" and "3rd" only find what
// was written on other days. Days without notes stay words, as a text may tell of them, and so does what is all that
// there is to look for.
func (r *run) words(ctx context.Context, rd Reader) (string, error) {
	norm := normalize(r.text)
	var rest strings.Builder
	from := 0
	for _, s := range r.spans {
		known, err := rd.Dated(ctx, s.First, s.Last)
		if err != nil {
			return "", fmt.Errorf("look up a date: %w", err)
		}
		if !known {
			continue
		}
		rest.WriteString(norm[from:s.start])
		// A line of its own, lest words that it stood between become neighbours.
		rest.WriteByte('\n')
		from = s.end
	}
	rest.WriteString(norm[from:])
	if hasContent(rest.String()) {
		return rest.String(), nil
	}
	return r.text, nil
}

// hasContent reports whether a text holds a word that is no stop word.
func hasContent(text string) bool {
	a := newAnalyzer()
	defer a.release()
	a.add(text)
	return slices.ContainsFunc(a.tokens, func(t token) bool { return !isStopWord(a.low[t.start:t.end], t.kind) })
}

// gatherDated returns chunks of the days that the query names: those of a short span whatever they say, and the best
// matches within any span.
func gatherDated(ctx context.Context, rd Reader, spans []Span, terms []string, f Filter, w weights) ([]int64, error) {
	var ids []int64
	add := func(terms []string, f Filter, limit int) error {
		found, err := rd.Match(ctx, terms, f, limit)
		if err != nil {
			return fmt.Errorf("match a date: %w", err)
		}
		ids = append(ids, found...)
		return nil
	}
	for _, s := range spans {
		if narrow, ok := s.within(f); ok && len(terms) > 0 {
			if err := add(terms, narrow, w.textPool); err != nil {
				return nil, err
			}
		}
		if s.short() {
			if err := add(s.terms(), f, w.datePool); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// addDateBonus fills in the bonus of each candidate that belongs to a day of a span: the larger one for a short span.
func addDateBonus(list []*candidate, spans []Span, w weights) {
	for _, c := range list {
		for _, s := range spans {
			switch {
			case !c.belongsTo(s):
			case s.short():
				c.dateBonus, c.dated = w.dayBonus, true
			default:
				c.dateBonus = max(c.dateBonus, w.spanBonus)
			}
		}
	}
}

// belongsTo reports whether the date of the chunk lies in a span, or that of a section that the candidate shows.
func (c *candidate) belongsTo(s Span) bool {
	return s.holds(c.Date) || slices.ContainsFunc(c.sections, func(part section) bool {
		return part.first <= c.EndLine && c.StartLine <= part.last && s.holds(part.date)
	})
}

// section is the lines below a heading that begins with a day.
type section struct {
	date        string
	first, last int
}

// findSections fills in the sections of whole chunks, as a passage may not show the heading that it stands under.
func findSections(list []*candidate) {
	for _, c := range list {
		c.sections = datedSections(&c.Chunk)
	}
}

// datedSections returns the sections of a chunk that have days of their own. A section ends where a heading of its
// level, or a higher one, begins.
func datedSections(c *Chunk) []section {
	if !mayTellYear(c.Text) {
		return nil
	}
	var list []section
	level := 0
	for i, line := range c.markdown() {
		if line.Level == 0 {
			continue
		}
		number := c.StartLine + i
		day, first := headingDay(line.Text)
		if open := len(list) - 1; open >= 0 && level > 0 && (line.Level <= level || first) {
			list[open].last, level = number-1, 0
		}
		if first {
			list, level = append(list, section{day, number, c.EndLine}), line.Level
		}
	}
	return list
}
