package dates

import (
	"strings"
	"time"
)

// days is a run of days, both ends included, at midnight UTC.
type days struct {
	first, last time.Time
	// yearless days are named without a year, numeric ones in digits that may also be the name of something else.
	yearless, numeric bool
	// impossible marks an expression for a day that no calendar has, such as 30 February; first and last are zero.
	impossible bool
	// byWeekday days are named by their weekday, and near days as today or yesterday: the expression beside them may move
	// both. ofWeek days are weekdays of a named week.
	byWeekday, near, ofWeek bool
	// closed days are named by both ends.
	closed bool
	// ahead marks the future, which is not read; first and last are zero.
	ahead bool
}

// single reports whether the run is one day.
func (d days) single() bool { return d.first.Equal(d.last) }

// isWeek, isMonth and isYear report whether the days are a whole week, month or year of the calendar.
func (d days) isWeek() bool { return d == weekOf(d.first, 0) }

func (d days) isMonth() bool { return d == monthFrom(d.first, 0) }

func (d days) isYear() bool { return d == yearOf(d.first.Year()) }

func date(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

// today returns the day of a moment in its own time zone.
func today(now time.Time) time.Time { return date(now.Date()) }

func lastDay(y int, m time.Month) int { return date(y, m+1, 0).Day() }

func oneDay(t time.Time) days { return days{first: t, last: t} }

// dayOf returns a day of the calendar. It returns false, and an impossible day, if there is no such day.
func dayOf(y, m, d int) (days, bool) {
	if y < 1 || y > 9999 || m < 1 || m > 12 || d < 1 || d > lastDay(y, time.Month(m)) {
		return days{impossible: true}, false
	}
	return oneDay(date(y, time.Month(m), d)), true
}

// recent returns the days that named gives for a year or, if the year is 0, the last such days that have begun.
func recent(today time.Time, y int, named func(year int) (days, bool)) (d days, ok bool) {
	if y != 0 {
		return named(y)
	}
	// Leap days can be eight years apart.
	for y = today.Year(); y >= today.Year()-8; y-- {
		if d, ok = named(y); ok && !d.first.After(today) {
			d.yearless = true
			return d, true
		}
	}
	return d, false
}

// recentDay returns the day of a year or, if the year is 0, the last such day that is not after today.
func recentDay(today time.Time, y, m, d int) (days, bool) {
	return recent(today, y, func(y int) (days, bool) { return dayOf(y, m, d) })
}

// monthOf returns a month, and false if there is no such month.
func monthOf(y, m int) (days, bool) {
	if y < 1 || y > 9999 || m < 1 || m > 12 {
		return days{}, false
	}
	return months(y, m, 1), true
}

// recentMonth returns the month of a year or, if the year is 0, the last such month that has begun.
func recentMonth(today time.Time, y, m int) (days, bool) {
	return recent(today, y, func(y int) (days, bool) { return monthOf(y, m) })
}

// months returns n months from a month of a year on, which may also be below 1 or above 12.
func months(y, m, n int) days {
	first := date(y, time.Month(m), 1)
	return days{first: first, last: first.AddDate(0, n, -1)}
}

// monthFrom returns the calendar month n months after the month of today.
func monthFrom(today time.Time, n int) days { return months(today.Year(), int(today.Month())+n, 1) }

func yearOf(y int) days { return months(y, 1, 12) }

// recentQuarter returns the quarter, 1 to 4, of a year or, if the year is 0, the last such quarter that has begun.
func recentQuarter(today time.Time, y, quarter int) (days, bool) {
	return recent(today, y, func(y int) (days, bool) { return months(y, 3*quarter-2, 3), true })
}

// seasonOf returns a meteorological season of the north: 0 is spring, March to May. Winter begins in December of the
// year and ends in the next year.
func seasonOf(y, season int) (days, bool) { return months(y, 3+3*season, 3), true }

// addYears moves a day by whole years; 29 February becomes 28 February in common years.
func addYears(t time.Time, n int) time.Time {
	y, m, d := t.Date()
	return date(y+n, m, min(d, lastDay(y+n, m)))
}

// weekdayOf returns the number of the weekday of a day; 0 is Monday.
func weekdayOf(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// weekOf returns the week, Monday to Sunday, n weeks after the week of a day.
func weekOf(day time.Time, n int) days {
	monday := day.AddDate(0, 0, 7*n-weekdayOf(day))
	return days{first: monday, last: monday.AddDate(0, 0, 6)}
}

// weekday returns a weekday of the week w; 0 is Monday.
func (w days) weekday(n int) days {
	d := oneDay(w.first.AddDate(0, 0, n))
	d.ofWeek = true
	return d
}

// weekend returns the weekend of the week w.
func (w days) weekend() days { return days{first: w.first.AddDate(0, 0, 5), last: w.last} }

// recentWeekend returns the last weekend that has begun.
func recentWeekend(today time.Time) days { return weekOf(today.AddDate(0, 0, -5), 0).weekend() }

// recentWeekday returns the last such weekday (0 is Monday) that is not after today.
func recentWeekday(today time.Time, n int) days {
	d := oneDay(today.AddDate(0, 0, -(weekdayOf(today)-n+7)%7))
	d.byWeekday = true
	return d
}

// part returns the part of a month that a phrase names, the whole month for "".
func (d days) part(phrase string) days {
	phrase = strings.TrimPrefix(phrase, "the ")
	if nth, _, ok := strings.Cut(phrase, " week"); ok {
		if nth == "last" {
			d.first = d.last.AddDate(0, 0, -6)
			return d
		}
		d.first = d.first.AddDate(0, 0, 7*enInt(nth)-7)
		d.last = d.first.AddDate(0, 0, 6)
		return d
	}
	phrase, _, _ = strings.Cut(phrase, " ")
	switch phrase {
	case "early", "beginning", "start", "上旬", "初旬", "初め", "はじめ", "始め", "初", "月初", "头", "頭":
		d.last = d.first.AddDate(0, 0, 9)
	case "mid", "middle", "中旬", "半ば", "月中":
		d.first, d.last = d.first.AddDate(0, 0, 10), d.first.AddDate(0, 0, 19)
	case "late", "end", "下旬", "終わり", "月底", "底", "末":
		d.first = d.first.AddDate(0, 0, 20)
	}
	return d
}

// yearPart returns the part of a year that a phrase names: its first or last month or months, or the whole year for "".
func (d days) yearPart(phrase string) days {
	phrase, _, _ = strings.Cut(strings.TrimPrefix(phrase, "the "), " ")
	switch phrase {
	case "beginning", "start", "年始", "年初", "初め", "初":
		d.last = d.first.AddDate(0, 1, -1)
	case "end", "年末", "年底", "末", "底":
		d.first = d.first.AddDate(0, 11, 0)
	case "early":
		d.last = d.first.AddDate(0, 4, -1)
	case "late":
		d.first = d.first.AddDate(0, 8, 0)
	}
	return d
}

// units contains the length of each unit of time: day, week, fortnight, month, quarter and year.
var units = map[byte]struct{ days, months int }{
	'd': {days: 1}, 'w': {days: 7}, 'f': {days: 14}, 'm': {months: 1}, 'q': {months: 3}, 'y': {months: 12},
}

// ago returns the calendar unit n units before the current one. One fortnight ago is the week before last.
func ago(today time.Time, n int, unit byte) (days, bool) {
	length := units[unit]
	switch {
	case n < 0 || n > 5000:
		// There are no older notes, and the arithmetic would leave the calendar.
		return days{}, false
	case unit == 'd':
		return oneDay(today.AddDate(0, 0, -n)), true
	case length.days > 0:
		return weekOf(today, -n*length.days/7), true
	}
	current := 1 + (int(today.Month())-1)/length.months*length.months
	d := months(today.Year(), current-n*length.months, length.months)
	return d, d.first.Year() > 0
}

// between returns the days from far units ago to near units ago.
func between(today time.Time, near, far int, unit byte) (days, bool) {
	first, ok := ago(today, far, unit)
	last, _ := ago(today, near, unit)
	return days{first: first.first, last: last.last}, ok && near <= far
}

// aFewAgo returns the days of "a few days ago" and "several weeks ago": the week before today, or two to five units ago.
func aFewAgo(today time.Time, unit byte) (days, bool) {
	if unit == 'd' {
		return between(today, 1, 7, 'd')
	}
	return between(today, 2, 5, unit)
}

// rolling returns the n units that end today.
func rolling(today time.Time, n int, unit byte) (days, bool) {
	if n < 1 || n > 5000 {
		return days{}, false
	}
	length := units[unit]
	return days{first: today.AddDate(0, -n*length.months, 1-n*length.days), last: today}, true
}
