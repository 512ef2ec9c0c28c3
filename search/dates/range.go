package dates

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The text between the ends of a range, and after its first day if the last is a bare number or a bare weekday.
var (
	rangeJoint  = regexp.MustCompile(`^\s*(?:to|until|till|through|thru|up to|and|-|–|—|~|〜|から|より|到|至|－)\s*(?:the\s+)?$`)
	bareDay     = regexp.MustCompile(`^(\s*(?:to|until|through|and|-|–|—|~|〜|から|到|至)\s*(?:the\s+)?)(?:(\d{1,2})[-/])?(\d{1,2})(st|nd|rd|th|日|号|號)?(?:,? ((?:19|20)\d\d)\b)?`)
	bareWeekday = regexp.MustCompile(`^(?:到|至|-|~|〜)([一二三四五六日天])(?:$|[^一二三四五六七八九十百日月号號个個点點次周天])`)
	endsWeekday = regexp.MustCompile(zhWeek + `[一二三四五六日天]$`)
	// A number before another letter, a clock, a fraction or a counted thing is no day.
	goesOn  = regexp.MustCompile(`^(?:[\pL\pN_%:]|[./-][\pL\pN])`)
	counted = regexp.MustCompile(`^[\s-]+[\pL\pN$€£¥]`)
	// The words that may follow a range.
	followsRange = regexp.MustCompile(`^\s(?:in|at|with|we|i|and|or|was|were|what|who)\b`)
)

// joinRanges joins adjacent expressions that are the ends of a range, and closes ranges of which one end is named.
func joinRanges(low string, list []dated, today time.Time) []dated {
	var out []dated
	from := 0
	for i := 0; i < len(list); i++ {
		d := list[i]
		// A word that opens the range before may contain the beginning of this expression: 昨日以前年末.
		if d.ahead || d.hangs || d.start < from {
			continue
		}
		next := len(low)
		if i+1 < len(list) {
			next = list[i+1].start
		}
		if i+1 < len(list) && joins(low, d, list[i+1], low[d.end:next]) {
			if joined, ok := d.through(list[i+1]); ok {
				out, from = append(out, joined), joined.end
				i++
				continue
			}
		}
		if joined, ok := d.throughBare(low, low[d.end:next], today); ok {
			d = joined
		} else {
			d = d.openEnd(low, from, today)
		}
		if !d.ahead {
			out = append(out, d)
		}
		from = d.end
	}
	return out
}

// joins reports whether the text between two expressions makes a range of them. "and" does only after "between", and a
// dash only between two expressions of a kind: "2023-05-08 - July plans" has two dates.
func joins(low string, a, b dated, gap string) bool {
	if b.ahead || !rangeJoint.MatchString(gap) {
		return false
	}
	switch strings.TrimSpace(gap) {
	case "and":
		return a.isLed(low, "between")
	case "-", "–", "—":
		return a.single() == b.single() && a.byWeekday == b.byWeekday && !b.near
	}
	return true
}

// isLed reports whether one of the words is right before the expression, or begins it.
func (d dated) isLed(low string, words ...string) bool {
	for _, w := range words {
		if strings.HasSuffix(strings.TrimRight(low[:d.start], " "), w) || strings.HasPrefix(low[d.start:d.end], w) {
			return true
		}
	}
	return false
}

// through returns the range from d to the end of other. A missing year or week is taken from the other end, so that the
// range runs forward. It returns false if the range runs backward.
func (d dated) through(other dated) (dated, bool) {
	switch {
	case d.byWeekday:
		d.first = recentWeekday(other.first, weekdayOf(d.first)).first
	case other.byWeekday && d.single():
		other.last = d.first.AddDate(0, 0, (weekdayOf(other.first)-weekdayOf(d.first)+7)%7)
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
	return dated{days: days{first: d.first, last: other.last, yearless: d.yearless && other.yearless}, start: d.start, end: other.end}, true
}

// throughBare returns the range to a day that a bare number or a bare weekday names: "July 3 to 5", 周一到五.
func (d dated) throughBare(low, gap string, today time.Time) (dated, bool) {
	if !d.single() {
		return dated{}, false
	}
	if at := bareWeekday.FindStringSubmatchIndex(gap); at != nil && endsWeekday.MatchString(low[d.start:d.end]) {
		return d.through(dated{days: recentWeekday(today, hanWeekday(gap[at[2]:at[3]])), start: d.end, end: d.end + at[3]})
	}
	return d.throughBareDay(low, gap)
}

// throughBareDay returns the range to a later day of the same month, or to a month and a day if the first day is written
// in digits with its year. A number of things ("May 3 - 12 eggs") is no day.
func (d dated) throughBareDay(low, gap string) (dated, bool) {
	at := bareDay.FindStringSubmatch(gap)
	if at == nil {
		return dated{}, false
	}
	joint, month, day, suffix, year := at[1], at[2], at[3], at[4], at[5]
	led := d.isLed(low, "between", "from")
	if strings.TrimSpace(joint) == "and" && !d.isLed(low, "between") || month != "" && d.yearless ||
		!endsRange(low[d.end+len(at[0]):], joint, suffix+year != "", led) {
		return dated{}, false
	}
	if n, _ := strconv.Atoi(year); n != 0 && d.yearless {
		d.first = addYears(d.first, n-d.first.Year())
	}
	m := int(d.first.Month())
	if month != "" {
		m, _ = strconv.Atoi(month)
	}
	n, _ := strconv.Atoi(day)
	last, ok := dayOf(d.first.Year(), m, n)
	if !ok || !last.first.After(d.first) {
		return dated{}, false
	}
	d.last = last.last
	d.end += len(at[0])
	return d, true
}

// endsRange reports whether a bare number ends a range, by the joint before it and the text after it. marked reports a
// suffix or a year, led a range after "from".
func endsRange(rest, joint string, marked, led bool) bool {
	switch {
	case marked:
		return !strings.ContainsAny(firstRune(rest), "間间前後后")
	case goesOn.MatchString(rest):
		return false
	}
	return led || strings.TrimSpace(joint) == joint && !isLower(joint[0]) || !counted.MatchString(rest) || followsRange.MatchString(rest)
}

func firstRune(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return s[:size]
}

// opening says how a range is open of which only one end is named; 0 for no range.
type opening int

const (
	since opening = iota + 1
	after
	until
	earlier
)

var openings = map[string]opening{
	"since": since, "自从": since, "自從": since, "以降": since, "以後": since, "以后": since, "以来": since, "以來": since, "から": since,
	"至今": since, "起": since, "开始": since, "開始": since,
	"after": after, "之后": after, "之後": after, "より後": after, "后": after, "後": after,
	"until": until, "till": until, "up to": until, "以前": until, "まで": until,
	"before": earlier, "prior to": earlier, "之前": earlier, "より前": earlier, "前": earlier,
}

// The words that open a range, before an expression and after it. Words that are pieces of many other words count only at
// the end of a phrase, or after 从.
var (
	openBefore = regexp.MustCompile(`(?:\b(since|after|until|till|up to|before|prior to) (?:the )?|(自从|自從))$`)
	openAfter  = regexp.MustCompile(`^の?(?:(以降|以[後后]|以[来來]|至今|之[后後]|より後|以前|之前|より前|から|まで)|([后後前])(?:$|[\s、,。?の的に]))`)
	openFrom   = regexp.MustCompile(`^(起|开始|開始)`)
	// までに names the day on which something is due, and から5日間 counts its days.
	noOpening = regexp.MustCompile(`^(?:までに|から\s*[\d一二三四五六七八九十])`)
)

// openEnd returns the range that an expression opens, or d itself if it opens none. The text before the expression
// begins at from. The range ends today or begins a year before its end; a range that begins after today is ahead.
func (d dated) openEnd(low string, from int, today time.Time) dated {
	if d.closed {
		return d
	}
	var how opening
	before, rest := low[from:d.start], low[d.end:]
	if at := openBefore.FindStringSubmatch(tail(before)); at != nil {
		d.start -= len(at[0])
		how = openings[at[1]+at[2]]
	} else if at := openAfter.FindStringSubmatch(rest); at != nil && !noOpening.MatchString(rest) {
		d.end += len(at[0])
		how = openings[at[1]+at[2]]
	} else if at := openFrom.FindString(rest); at != "" && (strings.HasSuffix(before, "从") || strings.HasSuffix(before, "從") || strings.HasSuffix(before, "自")) {
		d.end += len(at)
		how = openings[at]
	}
	d.days = d.days.opened(how, today)
	return d
}

// opened returns the days of an open range, or d itself if it is none.
func (d days) opened(how opening, today time.Time) days {
	switch how {
	case since:
		d.last = today
	case after:
		d.first, d.last = d.last.AddDate(0, 0, 1), today
	case until:
		if first := addYears(d.last, -1).AddDate(0, 0, 1); first.Before(d.first) {
			d.first = first
		}
	case earlier:
		d.last = d.first.AddDate(0, 0, -1)
		d.first = addYears(d.first, -1)
	}
	d.ahead = d.last.Before(d.first)
	return d
}
