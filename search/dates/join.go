package dates

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	// besides matches the text between two expressions that name days together, as in "July of last year".
	besides = regexp.MustCompile(`^(?:(?:'s|’s)?[\s,、(]{0,3}(?:(?:of|in|on) )?(?:the )?|の|的)$`)
	// listed matches the text between weekdays of one week.
	listed = regexp.MustCompile(`^(?:と|や|、|・|和|跟|及|,? (?:and|or) |, | & )$`)
)

// joinNeighbours merges adjacent expressions that name days together: "Monday, May 6", "May 8 last year", "a month ago
// today" and "3 days before yesterday".
func joinNeighbours(low string, list []dated, today time.Time) []dated {
	var out []dated
	for _, d := range list {
		from := 0
		if len(out) > 0 {
			last := out[len(out)-1]
			if from = last.end; d.start < from {
				// A count of days contains this expression.
				continue
			}
			d = d.after(last, low[from:d.start])
			if both, ok := last.together(d, low[from:d.start], today); ok {
				out[len(out)-1] = both
				continue
			}
		}
		out = append(out, d.shiftBefore(low, from).shiftAfter(low))
	}
	return out
}

// after returns the meaning of d after another expression, with a gap between them: "every Monday and Friday" and
// 来年5月から7月 stay in the future, and the second day of 先週の月曜と火曜 is in the same week as the first.
func (d dated) after(last dated, gap string) dated {
	list := listed.MatchString(gap)
	switch {
	case last.ahead && (d.byWeekday && list || (d.byWeekday || d.yearless) && rangeJoint.MatchString(gap)):
		d.days = days{ahead: true}
	case last.ofWeek && d.byWeekday && list:
		d.days = weekOf(last.first, 0).weekday(weekdayOf(d.first))
	}
	return d
}

// together returns the days that two adjacent expressions name together, and false if each names its own.
func (d dated) together(next dated, gap string, today time.Time) (dated, bool) {
	if !besides.MatchString(gap) {
		return dated{}, false
	}
	both, ok := d.within(next.days, gap, today)
	if !ok {
		both, ok = next.within(d.days, gap, today)
	}
	return dated{days: both, start: d.start, end: next.end, hangs: d.hangs}, ok
}

// within returns the days d of a longer time, or beside a day that is more precise than a weekday.
func (d days) within(wide days, gap string, today time.Time) (days, bool) {
	switch {
	case wide.ahead:
		return wide, d.yearless || d.byWeekday
	case wide.byWeekday:
		return days{}, false
	case d.byWeekday && wide.isWeek():
		return wide.weekday(weekdayOf(d.first)), true
	case d.byWeekday:
		return wide, wide.single() && !strings.HasSuffix(strings.TrimSpace(gap), "s")
	case d.yearless && wide.isYear():
		return d.inYear(wide.first.Year())
	case d.near && slices.Contains([]string{"", " ", "の", "的"}, gap):
		return d.movedTo(wide, today)
	}
	return days{}, false
}

// inYear returns the same days in another year, and false for a leap day in a common year.
func (d days) inYear(y int) (days, bool) {
	n := y - d.first.Year()
	first, last := addYears(d.first, n), addYears(d.last, n)
	if first.Day() != d.first.Day() {
		return days{}, false
	}
	if !d.single() && d.last.AddDate(0, 0, 1).Day() == 1 {
		last = date(last.Year(), last.Month()+1, 0)
	}
	return days{first: first, last: last}, true
}

// movedTo returns the day whose place in a week, a month or a year is the place of d in its own.
func (d days) movedTo(wide days, today time.Time) (days, bool) {
	switch {
	case wide.isWeek():
		return oneDay(d.first.AddDate(0, 0, int(wide.first.Sub(weekOf(today, 0).first).Hours())/24)), true
	case wide.isMonth():
		n := 12*(wide.first.Year()-today.Year()) + int(wide.first.Month()-today.Month())
		to := monthFrom(d.first, n)
		return oneDay(to.first.AddDate(0, 0, min(d.first.Day(), to.last.Day())-1)), true
	case wide.isYear():
		return oneDay(addYears(d.first, wide.first.Year()-today.Year())), true
	}
	return days{}, false
}

// The expressions that count days from the expression that follows, and from the one before.
var (
	countBefore = regexp.MustCompile(`\b(?:` + enNumber + `|the) ` + enUnit + ` (?P<way>before|after|following) (?:the )?$`)
	countAfter  = regexp.MustCompile(`^(?:(?:の|的)?(?:(?P<before>前日|前一天|前の日)|(?P<after>翌日|次の日|第二天|[后後]一天))|` +
		`(?:の|的)(?P<n>` + hanNumber + `)[日天](?P<way>前|[后後]))`)
)

// shiftBefore applies "3 days before" and "the week after", which begins no earlier than from. Months and years put all
// days into the future, which is not read, because they are no fixed number of days.
func (d dated) shiftBefore(low string, from int) dated {
	lead := tail(low[from:d.start])
	at := countBefore.FindStringSubmatch(lead)
	if at == nil || d.ahead {
		return d
	}
	d.start -= len(at[0])
	number, unit := at[countBefore.SubexpIndex("n")], at[countBefore.SubexpIndex("unit")][0]
	n := enInt(number)
	if at[countBefore.SubexpIndex("way")] == "before" {
		n = -n
	}
	switch {
	case unit == 'd':
		d.days = d.days.moved(n)
	case unit == 'w' && number != "":
		d.days = d.days.moved(7 * n)
	case unit == 'w' && n < 0:
		d.days = days{first: d.first.AddDate(0, 0, -7), last: d.first.AddDate(0, 0, -1)}
	case unit == 'w':
		d.days = days{first: d.last.AddDate(0, 0, 1), last: d.last.AddDate(0, 0, 7)}
	default:
		d.days = days{ahead: true}
	}
	return d
}

// shiftAfter applies の前日, 的第二天 and の3日前 to a day.
func (d dated) shiftAfter(low string) dated {
	at := countAfter.FindStringSubmatch(low[d.end:])
	if at == nil || d.ahead || !d.single() {
		return d
	}
	n := 1
	if number := at[countAfter.SubexpIndex("n")]; number != "" {
		if n = hanInt(number); n < 0 || strings.HasPrefix(low[d.end+len(at[0]):], "後") {
			return d
		}
	}
	if at[countAfter.SubexpIndex("before")] != "" || at[countAfter.SubexpIndex("way")] == "前" {
		n = -n
	}
	d.days = d.days.moved(n)
	d.end += len(at[0])
	return d
}

// moved returns the single day n days after the last day, or before the first if n is negative.
func (d days) moved(n int) days {
	if n < 0 {
		return oneDay(d.first.AddDate(0, 0, n))
	}
	return oneDay(d.last.AddDate(0, 0, n))
}
