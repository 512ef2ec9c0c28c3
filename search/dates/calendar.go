package dates

import "time"

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

// recentDay returns the day of a year or, if the year is 0, the last such day that is not after today.
func recentDay(today time.Time, y, m, d int) (days, bool) {
	if y != 0 {
		return dayOf(y, m, d)
	}
	// Leap days can be eight years apart.
	for y = today.Year(); y >= today.Year()-8; y-- {
		if found, ok := dayOf(y, m, d); ok && !found.first.After(today) {
			found.yearless = true
			return found, true
		}
	}
	return days{impossible: true}, false
}

// monthOf returns a month, and false if there is no such month.
func monthOf(y, m int) (days, bool) {
	if y < 1 || y > 9999 || m < 1 || m > 12 {
		return days{}, false
	}
	return monthFrom(date(y, time.Month(m), 1), 0), true
}

// recentMonth returns the month of a year or, if the year is 0, the last such month that has begun.
func recentMonth(today time.Time, y, m int) (days, bool) {
	if y != 0 {
		return monthOf(y, m)
	}
	if y = today.Year(); m > int(today.Month()) {
		y--
	}
	d, ok := monthOf(y, m)
	d.yearless = true
	return d, ok
}

// monthFrom returns the calendar month n months after the month of today.
func monthFrom(today time.Time, n int) days {
	first := date(today.Year(), today.Month()+time.Month(n), 1)
	return days{first: first, last: first.AddDate(0, 1, -1)}
}

func yearOf(y int) days {
	return days{first: date(y, time.January, 1), last: date(y, time.December, 31)}
}

// weekOf returns the week, Monday to Sunday, n weeks after the week of a day.
func weekOf(day time.Time, n int) days {
	monday := day.AddDate(0, 0, 7*n-(int(day.Weekday())+6)%7)
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
func recentWeekend(today time.Time) days {
	if w := weekOf(today, 0).weekend(); !w.first.After(today) {
		return w
	}
	return weekOf(today, -1).weekend()
}

// recentWeekday returns the last such weekday (0 is Monday) that is not after today; before excludes today.
func recentWeekday(today time.Time, n int, before bool) days {
	back := ((int(today.Weekday())+6)%7 - n + 7) % 7
	if back == 0 && before {
		back = 7
	}
	d := oneDay(today.AddDate(0, 0, -back))
	d.byWeekday = true
	return d
}

// quarterOf returns a quarter of a year, 1 to 4.
func quarterOf(y, quarter int) days {
	first := date(y, time.Month(3*quarter-2), 1)
	return days{first: first, last: first.AddDate(0, 3, -1)}
}

// recentQuarter returns the quarter of a year or, if the year is 0, the last such quarter that has begun.
func recentQuarter(today time.Time, y, quarter int) days {
	if y != 0 {
		return quarterOf(y, quarter)
	}
	d := quarterOf(today.Year(), quarter)
	if d.first.After(today) {
		d = quarterOf(today.Year()-1, quarter)
	}
	d.yearless = true
	return d
}

// Parts of a month or a year.
const (
	early = iota
	mid
	late
)

// third returns a part of the month m: days 1-10, days 11-20, or the days from 21 on.
func (m days) third(part int) days {
	switch part {
	case early:
		m.last = m.first.AddDate(0, 0, 9)
	case mid:
		m.first, m.last = m.first.AddDate(0, 0, 10), m.first.AddDate(0, 0, 19)
	default:
		m.first = m.first.AddDate(0, 0, 20)
	}
	return m
}

// seasonOf returns a meteorological season of the north: 0 is spring, March to May. Winter begins in December of the
// year and ends in the next year.
func seasonOf(year, season int) days {
	first := date(year, time.Month(3+3*season), 1)
	return days{first: first, last: first.AddDate(0, 3, -1)}
}

// recentSeason returns the last such season that has begun, or that has ended if over is set.
func recentSeason(today time.Time, season int, over bool) days {
	for y := today.Year(); ; y-- {
		s := seasonOf(y, season)
		if !s.first.After(today) && !(over && !s.last.Before(today)) {
			return s
		}
	}
}

// ago returns the calendar unit n units before the current one: a day, week, month, quarter or year. One fortnight ago
// is the week before last.
func ago(today time.Time, n int, unit byte) (days, bool) {
	// There are no older notes, and the arithmetic would leave the calendar.
	if n < 0 || n > 5000 {
		return days{}, false
	}
	switch unit {
	case 'd':
		return oneDay(today.AddDate(0, 0, -n)), true
	case 'w':
		return weekOf(today, -n), true
	case 'f':
		return weekOf(today, -2*n), true
	case 'm':
		return monthFrom(today, -n), true
	case 'q':
		return quarterOf(today.Year(), 1+(int(today.Month())-1)/3).monthsBack(3 * n), true
	}
	return yearOf(today.Year() - n), today.Year() > n
}

// monthsBack moves whole months back by n months.
func (d days) monthsBack(n int) days {
	months := 12*(d.last.Year()-d.first.Year()) + int(d.last.Month()-d.first.Month()) + 1
	d.first = d.first.AddDate(0, -n, 0)
	d.last = d.first.AddDate(0, months, -1)
	return d
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
	d := oneDay(today)
	switch unit {
	case 'd':
		d.first = today.AddDate(0, 0, 1-n)
	case 'w':
		d.first = today.AddDate(0, 0, 1-7*n)
	case 'f':
		d.first = today.AddDate(0, 0, 1-14*n)
	case 'm':
		d.first = today.AddDate(0, -n, 1)
	case 'q':
		d.first = today.AddDate(0, -3*n, 1)
	default:
		d.first = today.AddDate(-n, 0, 1)
	}
	return d, true
}
