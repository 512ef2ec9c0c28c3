package contract

import (
	"fmt"
	"time"
)

const (
	firstYear = 1900
	// yearsAhead is how many years after its episode a date may lie.
	yearsAhead = 50
)

// layouts of dates, by their length.
var layouts = map[int]string{4: "2006", 7: "2006-01", 10: time.DateOnly}

// date reads a field that is a date (YYYY, YYYY-MM or YYYY-MM-DD), missing, null or empty, and drops the item if the date cannot
// be. day is that of the episode, empty if it has none.
func (i *item) date(key, day string) string {
	s := i.optionalStr(key)
	if s == "" {
		return ""
	}
	t, err := time.Parse(layouts[len(s)], s)
	if err != nil || layouts[len(s)] == "" {
		i.fail(key, ReasonDate, "must be a date of the calendar, YYYY, YYYY-MM or YYYY-MM-DD, or null")
		return ""
	}
	last := firstYear + 2*yearsAhead + yearsAhead // for an episode without a date
	if d, err := time.Parse(time.DateOnly, day); err == nil {
		last = d.Year() + yearsAhead
	}
	if t.Year() < firstYear || t.Year() > last {
		i.fail(key, ReasonDate, fmt.Sprintf("must lie between %d and %d", firstYear, last))
	}
	return s
}

// validity reads the bounds of a fact.
func (i *item) validity(day string) (from, to string) {
	o := i.child("validity", true)
	if o == nil {
		return "", ""
	}
	bounds := &item{object: o, dropped: i.dropped}
	from, to = bounds.date("from", day), bounds.date("to", day)
	if from != "" && to != "" && !bounds.dropped && !endsAfter(from, to) {
		bounds.fail("to", ReasonDate, "must be after from")
	}
	o.done()
	i.dropped = bounds.dropped
	return from, to
}

// endsAfter reports whether an excluded bound lies after an included one. Shorter dates are their first days.
func endsAfter(from, to string) bool {
	return firstDay(to) > firstDay(from)
}

// firstDay returns the first day of a date of any length.
func firstDay(date string) string {
	return date + "-01-01"[min(len(date)-4, 6):]
}
