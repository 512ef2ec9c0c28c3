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

// dates is what a query says of days.
type queryDates struct {
	// norm is the query, normalised.
	norm string
	// spans are the days that are looked for.
	spans []dates.Span
	// words are where the query speaks of days, also of those that no note bears or no calendar has.
	mentions []dates.Extent
	// noted says that there are notes of any of the spans, and alone that the query asks for nothing but such days.
	hasNotes, only bool
}

// askedDates reads the days of a query, of which the first limit are looked for.
func parseDates(text string, now time.Time, limit int) queryDates {
	d := queryDates{norm: analysis.Normalize(text)}
	spans, impossible := dates.Find(d.norm, now)
	d.mentions = impossible
	for _, s := range spans {
		d.mentions = append(d.mentions, s.Extent)
	}
	d.spans = spans[:min(limit, len(spans))]
	return d
}

// words returns the query without the days that the index has notes of: beside those, "July" and "3rd" only find what
// was written on other days. Days without notes stay words, as a text may tell of them, and so does what is all that
// there is to look for. All other words keep their place.
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

// without blanks parts of a text out. A part becomes a line of its own, lest words that it stood between become neighbours.
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

// asksForMore reports whether what a query says beside its days asks for anything but what happened on them.
func asksForMore(text string) bool {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.Add(text)
	return slices.ContainsFunc(a.Tokens, func(t analysis.Token) bool {
		own := a.Lower[t.Start:t.End]
		return !analysis.IsStopWord(own, t.Kind) && !eventWords[own]
	})
}

// eventWords ask for whatever there is of a day. Beside a day they are no subject; elsewhere they are words like others.
var eventWords = analysis.WordSet(`
happen happens happened happening occur occurs occurred event events note notes diary
をし やっ 起こ こっ 起き きた あっ があ が起 来事 出来 の出 の記 記録 の日 日記
做了 干了 做过 做過 发生 發生 生了 生过 生過 的事 事情 日记 日記 的日 记录 記錄 我做 我们 我們 们做 們做
`)

// phrase is the part of a sentence that says which days have no note, "" where any of them has one.
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
