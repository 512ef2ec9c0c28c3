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

// asksForMore reports whether the rest of a query, without its days, asks for anything but what happened on them.
func asksForMore(text string) bool {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.Add(text)
	return slices.ContainsFunc(a.Tokens, func(t analysis.Token) bool {
		own := a.Lower[t.Start:t.End]
		return !analysis.IsStopWord(own, t.Kind) && !eventWords[own]
	})
}

// eventWords ask for everything that happened on a day. They are no subject in a query that names a day, and words like
// others elsewhere.
var eventWords = analysis.WordSet(`
happen happens happened happening occur occurs occurred event events note notes diary
をし やっ 起こ こっ 起き きた あっ があ が起 来事 出来 の出 の記 記録 の日 日記
做了 干了 做过 做過 发生 發生 生了 生过 生過 的事 事情 日记 日記 的日 记录 記錄 我做 我们 我們 们做 們做
`)

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
