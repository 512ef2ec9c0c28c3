package text

import (
	"strings"
	"time"
)

// Period returns the first and the last day, as YYYY-MM-DD, of the day (2026-01-20), month (2026-01) or year (2026) that s is,
// between the years 1900 and 2199. ok is false if s is none of them.
func Period(s string) (first, last string, ok bool) {
	if strings.Trim(s, "0123456789-") != "" {
		return "", "", false
	}
	var from, next time.Time
	var err error
	switch len(s) {
	case len("2026"):
		from, err = time.Parse("2006", s)
		next = from.AddDate(1, 0, 0)
	case len("2026-01"):
		from, err = time.Parse("2006-01", s)
		next = from.AddDate(0, 1, 0)
	case len(time.DateOnly):
		from, err = time.Parse(time.DateOnly, s)
		next = from.AddDate(0, 0, 1)
	default:
		return "", "", false
	}
	if err != nil || from.Year() < 1900 || from.Year() > 2199 {
		return "", "", false
	}
	return from.Format(time.DateOnly), next.AddDate(0, 0, -1).Format(time.DateOnly), true
}
