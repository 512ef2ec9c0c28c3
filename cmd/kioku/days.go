package main

import (
	"strings"
	"time"
)

// askedOn returns the time of a question: now, if it is a day or a time of RFC 3339, else the clock's time. The service
// reports a now that is neither.
func askedOn(now string, clock func() time.Time) time.Time {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, now); err == nil {
			return t
		}
	}
	return clock()
}

// daysOf returns the first and the last day of a span: a month (2026-03), today or yesterday. Any other text is returned
// as it is.
func daysOf(text string, today time.Time) (first, last string) {
	switch word := strings.ToLower(strings.TrimSpace(text)); word {
	case "today", "yesterday":
		day := today
		if word == "yesterday" {
			day = today.AddDate(0, 0, -1)
		}
		return day.Format(time.DateOnly), day.Format(time.DateOnly)
	default:
		month, err := time.Parse("2006-01", word)
		if err != nil {
			return text, text
		}
		return month.Format(time.DateOnly), month.AddDate(0, 1, -1).Format(time.DateOnly)
	}
}
