package search

import (
	"context"
	"fmt"
	"slices"

	"kioku/memory"
	"kioku/search/dates"
)

// shortSpan is the maximum number of days in a span that names a day rather than a time of the year: a week.
const shortSpan = 7

func isShort(s dates.Span) bool { return s.Len() <= shortSpan }

// narrowTo restricts a filter to a span. It returns false if no day is left.
func narrowTo(f memory.Filter, s dates.Span) (memory.Filter, bool) {
	f.Since = max(f.Since, s.First)
	if f.Until == "" || s.Last < f.Until {
		f.Until = s.Last
	}
	return f, f.Since <= f.Until
}

// datedHits returns chunks of the days that the query names: all chunks of a short span, the best matches within any span,
// and the newest chunks of a long span if fewer than enough match.
func (d queryDates) datedHits(ctx context.Context, rd Reader, t Terms, f memory.Filter, enough int) ([]int64, error) {
	var ids []int64
	match := func(t Terms, f memory.Filter, limit int) (int, error) {
		matched, err := rd.Match(ctx, t, f, limit)
		if err != nil {
			return 0, fmt.Errorf("match a date: %w", err)
		}
		ids = append(ids, matched...)
		return len(matched), nil
	}
	for _, s := range d.spans {
		narrow, ok := narrowTo(f, s)
		matched := 0
		var err error
		if ok && len(t.Any) > 0 {
			if matched, err = match(t, narrow, textPool); err != nil {
				return nil, err
			}
		}
		switch {
		case isShort(s):
			_, err = match(Terms{Any: s.Days()}, f, datePool)
		case ok && matched < enough:
			_, err = match(Terms{}, narrow, datePool)
		}
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// dropTexts takes the words from what belongs to a longer span, if the query asks for nothing else: it means nothing which of its
// chunks contain "month" or "happened".
func (d queryDates) dropTexts(list []*candidate) {
	for _, c := range list {
		if d.listsNotes() && slices.ContainsFunc(d.spans, func(s dates.Span) bool { return !isShort(s) && c.belongsTo(s) }) {
			c.text = textScore{}
		}
	}
}

// belongsTo reports whether the date of the chunk, or of a section that the candidate shows, lies in a span.
func (c *candidate) belongsTo(s dates.Span) bool {
	return s.Contains(c.Date) || slices.ContainsFunc(c.sections, func(part section) bool {
		return part.first <= c.EndLine && c.StartLine <= part.last && s.Contains(part.date)
	})
}

// section is the lines below a heading that begins with a day. first and last are line numbers of the file.
type section struct {
	date        string
	first, last int
}

// findSections fills in the sections of whole chunks, because a passage may not show the heading that it is below.
func findSections(list []*candidate) {
	for _, c := range list {
		c.sections = datedSections(&c.Chunk)
	}
}

// datedSections returns the sections of a chunk that have days of their own. A section ends at the next heading of its
// level or a higher one, and with the entry in which it begins.
func datedSections(c *Chunk) []section {
	if !dates.MayNameYear(c.Text) {
		return nil
	}
	var list []section
	level, entry, own := 0, false, false // whether an entry has begun, and whether it has begun the section
	for i, line := range c.markdown() {
		if line.Level == 0 {
			continue
		}
		if line.IsEntry() {
			entry = true
		}
		number := c.StartLine + i
		day, first := dates.OfHeading(line.Text)
		if open := len(list) - 1; open >= 0 && level > 0 && (line.Level <= level || first || own && line.IsEntry()) {
			list[open].last, level = number-1, 0
		}
		if first {
			list, level, own = append(list, section{day, number, c.EndLine}), line.Level, entry
		}
	}
	return list
}
