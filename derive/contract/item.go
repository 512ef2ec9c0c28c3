package contract

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kioku/internal/text"
)

// item checks the values of one item of an answer. The first value that is not allowed drops the item.
type item struct {
	r *reader
	// path of the item in the answer, empty for the answer itself.
	path    string
	dropped bool
}

// item returns an item at a path, and nth an item of a list.
func (r *reader) item(path string) *item       { return &item{r: r, path: path} }
func (r *reader) nth(list string, n int) *item { return r.item(fmt.Sprintf("%s[%d]", list, n)) }
func (i *item) at(key string) string           { return strings.Trim(i.path+"."+key, ".") }
func (i *item) inside(key string, f func(of *item)) {
	inner := &item{r: i.r, path: i.at(key), dropped: i.dropped}
	f(inner)
	i.dropped = inner.dropped
}

// fail drops the item.
func (i *item) fail(key, reason, rule string) {
	if !i.dropped {
		i.dropped = true
		i.r.drop(i.at(key), reason, rule)
	}
}

// line returns a text of 1 to limit characters on one line.
func (i *item) line(key, s string, limit int) string {
	s = cleanLine(s)
	if s == "" {
		i.fail(key, ReasonText, "must not be blank")
	} else if utf8.RuneCountInString(s) > limit {
		i.fail(key, ReasonText, fmt.Sprintf("must have at most %d characters", limit))
	}
	return s
}

// cleanLine returns a text on one line without control characters.
func cleanLine(s string) string { return text.OneLine(text.Clean(s)) }

// choice returns one of the allowed values.
func (i *item) choice(key, s string, allowed []string) string {
	if s = strings.TrimSpace(s); !slices.Contains(allowed, s) {
		i.fail(key, ReasonValue, "must be one of "+strings.Join(allowed, ", "))
	}
	return s
}

// share returns a number in [0,1].
func (i *item) share(key string, n float64) float64 {
	if !(n >= 0 && n <= 1) {
		i.fail(key, ReasonRange, "must be a number from 0 to 1")
		return 0
	}
	return n
}

// confidence returns the confidence of the item, and drops the item if that is below the floor.
func (i *item) confidence(n, floor float64) float64 {
	n = i.share("confidence", n)
	if n < floor {
		i.fail("confidence", ReasonConfidence, fmt.Sprintf("is below %.1f", floor))
	}
	return n
}

// offered returns unit_id, a number from 1 to n; 0 for another one.
func (i *item) offered(id, n int) int {
	if id < 1 || id > n {
		i.fail("unit_id", ReasonID, fmt.Sprintf("must be an id that was offered, 1 to %d", n))
		return 0
	}
	return id
}

// Dates lie at most yearsAhead after the episode, or at most in the last year if that has no date.
const yearsAhead, lastYear = 50, 2050

// date returns a date (YYYY, YYYY-MM or YYYY-MM-DD), or nothing, and drops the item if the date cannot be. day is that of the episode,
// empty if it has none.
func (i *item) date(key, s, day string) string {
	if s == "" {
		return ""
	}
	first, _, ok := text.Period(s)
	t, err := time.Parse(time.DateOnly, first)
	if !ok || err != nil {
		i.fail(key, ReasonDate, "must be a date of the calendar, YYYY, YYYY-MM or YYYY-MM-DD, or null")
		return ""
	}
	last := lastYear
	if d, err := time.Parse(time.DateOnly, day); err == nil {
		last = d.Year() + yearsAhead
	}
	if t.Year() > last {
		i.fail(key, ReasonDate, fmt.Sprintf("must lie before the year %d", last+1))
	}
	return s
}

// validity returns the bounds of a fact. Shorter dates are their first days.
func (i *item) validity(v bounds, day string) (from, to string) {
	i.inside("validity", func(i *item) {
		from, to = i.date("from", v.From, day), i.date("to", v.To, day)
		if from != "" && to != "" && !i.dropped && firstDay(to) <= firstDay(from) {
			i.fail("to", ReasonDate, "must be after from")
		}
	})
	return from, to
}

// firstDay returns the first day of a period.
func firstDay(period string) string {
	first, _, _ := text.Period(period)
	return first
}
