package search

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// What stands between the ends of a range, and after its last day where that is a bare number.
var (
	rangeJoint = regexp.MustCompile(`^\s*(?:to|until|till|through|thru|up to|and|-|–|—|~|〜|から|より|到|至|－)\s*(?:the\s+)?$`)
	bareDay    = regexp.MustCompile(`^\s*(?:to|until|through|and|-|–|—|~|〜|から|到|至)\s*(?:the\s+)?(\d{1,2})(?:st|nd|rd|th|日|号|號)?(?:,? ((?:19|20)\d\d)\b)?`)
)

// ranges joins neighbours that are the ends of a range.
func ranges(low string, list []dated) []dated {
	var out []dated
	for i := 0; i < len(list); i++ {
		d := list[i]
		next := len(low)
		if i+1 < len(list) {
			next = list[i+1].start
		}
		switch gap := low[d.end:next]; {
		case i+1 < len(list) && joins(low, d, gap):
			if joined, ok := d.through(list[i+1]); ok {
				d = joined
				i++
			}
		case d.first.Equal(d.last):
			d = d.throughBareDay(low, gap)
		}
		out = append(out, d)
	}
	return out
}

// joins reports whether a gap makes a range of what it stands between; "and" does so after "between" alone.
func joins(low string, d dated, gap string) bool {
	if !rangeJoint.MatchString(gap) {
		return false
	}
	return strings.TrimSpace(gap) != "and" || strings.HasSuffix(strings.TrimRight(low[:d.start], " "), "between") ||
		strings.HasPrefix(low[d.start:d.end], "between")
}

// through returns the range from d to the end of other. A missing year is that of the other end, so that the range
// runs forward; it returns false where it does not.
func (d dated) through(other dated) (dated, bool) {
	switch {
	case d.yearless:
		for d.first.After(other.last) && d.first.Year() > 1 {
			d.first = addYears(d.first, -1)
		}
		for !addYears(d.first, 1).After(other.first) {
			d.first = addYears(d.first, 1)
		}
	case other.yearless:
		for other.last.Year() < d.first.Year() {
			other.last = addYears(other.last, 1)
		}
		if other.last.Before(d.first) {
			other.last = addYears(other.last, 1)
		}
		for !addYears(other.last, -1).Before(d.first) {
			other.last = addYears(other.last, -1)
		}
	}
	if other.last.Before(d.first) {
		return dated{}, false
	}
	return dated{days{first: d.first, last: other.last, yearless: d.yearless && other.yearless}, d.start, other.end}, true
}

// addYears moves a day by whole years; 29 February becomes the 28th where there is none.
func addYears(t time.Time, n int) time.Time {
	y, m, d := t.Date()
	return date(y+n, m, min(d, lastDay(y+n, m)))
}

// throughBareDay returns the range to a later day of the same month, as in "July 3 to 5", where one follows.
func (d dated) throughBareDay(low, gap string) dated {
	at := bareDay.FindStringSubmatchIndex(gap)
	if at == nil || strings.Contains(gap[:at[1]], "and") && !strings.HasSuffix(strings.TrimRight(low[:d.start], " "), "between") {
		return d
	}
	if rest := low[d.end+at[1]:]; rest != "" && (isASCIIWord(rest[0]) || rest[0] == ':') {
		return d
	}
	n, _ := strconv.Atoi(gap[at[2]:at[3]])
	if at[4] >= 0 && d.yearless {
		year, _ := strconv.Atoi(gap[at[4]:at[5]])
		d.first = addYears(d.first, year-d.first.Year())
	}
	if n <= d.first.Day() || n > lastDay(d.first.Year(), d.first.Month()) {
		return d
	}
	d.last = date(d.first.Year(), d.first.Month(), n)
	d.end += at[1]
	return d
}
