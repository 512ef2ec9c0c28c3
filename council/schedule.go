package council

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// checkSchedules checks names, workers, times and titles of schedules.
func (s Settings) checkSchedules() error {
	seen := map[string]bool{}
	for _, c := range s.Schedules {
		switch {
		case !ValidName(c.Name) || seen[c.Name]:
			return Invalid("schedules", "name %.80q: must be lower case letters, digits, '_' and '-', and each but once", c.Name)
		case !slices.Contains(s.Workers, c.Worker):
			return Invalid("schedules", "%s: the worker %.80q is not in workers", c.Name, c.Worker)
		case (c.At == "") == (c.Search == ""):
			return Invalid("schedules", "%s: needs either at or search", c.Name)
		case strings.TrimSpace(c.Title) == "" || utf8.RuneCountInString(c.Title) > MaxSuggestTitle-len(" (2006-01-02 15:04)"):
			return Invalid("schedules", "%s: needs a title of at most %d characters", c.Name, MaxSuggestTitle-len(" (2006-01-02 15:04)"))
		case utf8.RuneCountInString(c.Description) > MaxSuggestText/2:
			return Invalid("schedules", "%s: the description has more than %d characters", c.Name, MaxSuggestText/2)
		}
		if _, err := time.LoadLocation(c.Zone); err != nil {
			return Invalid("schedules", "%s: zone: %v", c.Name, err)
		}
		if c.At != "" {
			if _, err := parseTimes(c.At); err != nil {
				return Invalid("schedules", "%s: at %q: %v", c.Name, c.At, err)
			}
		}
		seen[c.Name] = true
	}
	return nil
}

// Last returns the newest time of a schedule that is not after now; zero if there is none within a year.
func (c Schedule) Last(now time.Time) time.Time {
	t, err := parseTimes(c.At)
	zone, err2 := time.LoadLocation(c.Zone)
	if err != nil || err2 != nil {
		return time.Time{}
	}
	now = now.In(zone)
	for back := range 367 {
		day := time.Date(now.Year(), now.Month(), now.Day()-back, 0, 0, 0, 0, zone)
		if !t.matches(day) {
			continue
		}
		for minute := 24*60 - 1; minute >= 0; minute-- {
			at := time.Date(day.Year(), day.Month(), day.Day(), minute/60, minute%60, 0, 0, zone)
			if t[0][minute%60] && t[1][minute/60] && !at.After(now) {
				return at.UTC()
			}
		}
	}
	return time.Time{}
}

// times are the values that each field of a schedule allows: minute, hour, day of the month, month, day of the week.
type times [5]map[int]bool

// matches reports whether a day is allowed. As cron has it, one of the two days suffices if neither is "*".
func (t times) matches(day time.Time) bool {
	date, weekday := t[2][day.Day()], t[4][int(day.Weekday())]
	days := date && weekday
	if len(t[2]) < 31 && len(t[4]) < 7 {
		days = date || weekday
	}
	return t[3][int(day.Month())] && days
}

var (
	weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	months   = []string{"", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
)

// parseTimes reads the five fields of a schedule.
func parseTimes(s string) (t times, err error) {
	fields := strings.Fields(strings.ToLower(s))
	if len(fields) != len(t) {
		return t, Invalid("at", "has %d fields; needs minute, hour, day of the month, month and day of the week", len(fields))
	}
	bounds := [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}}
	names := [5][]string{3: months, 4: weekdays}
	for i, f := range fields {
		if t[i], err = parseField(f, bounds[i], names[i]); err != nil {
			return t, err
		}
	}
	return t, nil
}

// parseField reads a list of values, ranges and steps: "*", "5", "1-5", "*/10", "mon-fri", "0,30".
func parseField(s string, bound [2]int, names []string) (map[int]bool, error) {
	all := map[int]bool{}
	for part := range strings.SplitSeq(s, ",") {
		span, every, stepped := strings.Cut(part, "/")
		from, to, ranged := strings.Cut(span, "-")
		low, err := fieldValue(from, bound[0], names)
		high := low
		switch {
		case span == "*":
			high = bound[1]
		case ranged && err == nil:
			high, err = fieldValue(to, bound[0], names)
		}
		step := 1
		if stepped && err == nil {
			step, err = strconv.Atoi(every)
		}
		if err != nil || low < bound[0] || high > bound[1] || high < low || step < 1 {
			return nil, Invalid("at", "%.40q is not %d to %d, a range of them, or a step such as */5", part, bound[0], bound[1])
		}
		for n := low; n <= high; n += step {
			all[n] = true
		}
	}
	return all, nil
}

// fieldValue reads a value, or "*" as the lowest one.
func fieldValue(s string, lowest int, names []string) (int, error) {
	if s == "*" {
		return lowest, nil
	}
	if n := slices.Index(names, s); n >= 0 && s != "" {
		return n, nil
	}
	return strconv.Atoi(s)
}
