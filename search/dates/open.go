package dates

import (
	"regexp"
	"strings"
	"time"
)

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
