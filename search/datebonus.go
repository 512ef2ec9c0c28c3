package search

import (
	"context"
	"fmt"
	"slices"

	"kioku/memory"
	"kioku/search/dates"
)

// shortSpan is the most days of a span that names a day rather than a time of the year: a week.
const shortSpan = 7

// isShort reports whether a span is a week at most.
func isShort(s dates.Span) bool { return s.Len() <= shortSpan }

// narrowTo narrows a filter to a span; false where nothing is left.
func narrowTo(f memory.Filter, s dates.Span) (memory.Filter, bool) {
	f.Since = max(f.Since, s.First)
	if f.Until == "" || s.Last < f.Until {
		f.Until = s.Last
	}
	return f, f.Since <= f.Until
}

// gather returns chunks of the days that the query names: those of a short span whatever they say, the best matches within
// any span, and the newest of a long one where fewer than enough match.
func (d queryDates) gather(ctx context.Context, rd Reader, t Terms, f memory.Filter, enough int, w weights) ([]int64, error) {
	var ids []int64
	add := func(t Terms, f memory.Filter, limit int) (int, error) {
		found, err := rd.Match(ctx, t, f, limit)
		if err != nil {
			return 0, fmt.Errorf("match a date: %w", err)
		}
		ids = append(ids, found...)
		return len(found), nil
	}
	for _, s := range d.spans {
		narrow, ok := narrowTo(f, s)
		matched := 0
		if ok && len(t.Any) > 0 {
			n, err := add(t, narrow, w.textPool)
			if err != nil {
				return nil, err
			}
			matched = n
		}
		var err error
		switch {
		case isShort(s):
			_, err = add(Terms{Any: s.Days()}, f, w.datePool)
		case ok && matched < enough:
			_, err = add(Terms{}, narrow, w.datePool)
		}
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// addBonus fills in the bonus and the confidence of each candidate that belongs to a day of a span: the larger ones for a
// short span. Where the query asks for nothing but a long one, its chunks come before all others, the newest first: which
// of them say "month" or "happened" means nothing.
func (d queryDates) addBonus(list []*candidate, w weights) {
	for _, c := range list {
		for _, s := range d.spans {
			if !c.belongsTo(s) {
				continue
			}
			bonus, confidence := w.spanBonus, w.spanConfidence
			switch {
			case isShort(s):
				bonus, confidence = w.dayBonus, w.dayConfidence
			case d.alone:
				bonus, confidence, c.text = w.aloneBonus, w.dayConfidence, textScore{}
			}
			c.dateBonus, c.dateConfidence = max(c.dateBonus, bonus), max(c.dateConfidence, confidence)
		}
	}
}

// belongsTo reports whether the date of the chunk lies in a span, or that of a section that the candidate shows.
func (c *candidate) belongsTo(s dates.Span) bool {
	return s.Contains(c.Date) || slices.ContainsFunc(c.sections, func(part section) bool {
		return part.first <= c.EndLine && c.StartLine <= part.last && s.Contains(part.date)
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
	if !dates.MayNameYear(c.Text) {
		return nil
	}
	var list []section
	level := 0
	for i, line := range c.markdown() {
		if line.Level == 0 {
			continue
		}
		number := c.StartLine + i
		day, first := dates.OfHeading(line.Text)
		if open := len(list) - 1; open >= 0 && level > 0 && (line.Level <= level || first) {
			list[open].last, level = number-1, 0
		}
		if first {
			list, level = append(list, section{day, number, c.EndLine}), line.Level
		}
	}
	return list
}
