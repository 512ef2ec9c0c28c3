package dates

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"kioku/search/analysis"
)

// OfHeadings returns the day (YYYY-MM-DD) of the text below a path of headings, "" if there is none. It is the day at
// the beginning of the deepest heading that begins with a day and its year ("## 2023-05-08", "## Monday, May 8, 2023",
// "## 2023年5月8日 会議"). Otherwise it is fallback, the date of the file, and if that is empty the day elsewhere in the
// deepest heading with one.
func OfHeadings(headings, fallback string) string {
	path := strings.Split(headings, " > ")
	var inner string
	for i := len(path) - 1; i >= 0; i-- {
		day, first := OfHeading(path[i])
		if first {
			return day
		}
		if inner == "" {
			inner = day
		}
	}
	if fallback != "" {
		return fallback
	}
	return inner
}

// eras are the beginnings of years that are not written in four digits.
var eras = []string{"令和", "平成", "昭和", "大正", "〇"}

// MayNameYear reports whether a text contains four adjacent digits or the name of an era. It is a cheap test: most
// headings don't, and a search looks at hundreds of them.
func MayNameYear(heading string) bool {
	digits := 0
	for i := range len(heading) {
		if heading[i] < '0' || heading[i] > '9' {
			digits = 0
		} else if digits++; digits == 4 {
			return true
		}
	}
	return slices.ContainsFunc(eras, func(era string) bool { return strings.Contains(heading, era) })
}

// beforeDay matches the text before the day with which a heading begins.
var beforeDay = regexp.MustCompile(`(?i)^[\s#*_(\[]*(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s*)?[(\[]?$`)

// plainDay matches the usual heading of a day, without another number in it.
var plainDay = regexp.MustCompile(`^#* *(\d{4}-\d\d-\d\d)(?:[^0-9A-Za-z/_@-][^0-9年月日]*)?$`)

// OfHeading returns the one day that a heading names with its year. first reports that the heading begins with it. It
// returns "" if the heading names no day or several days.
func OfHeading(heading string) (day string, first bool) {
	if !MayNameYear(heading) {
		return "", false
	}
	if m := plainDay.FindStringSubmatch(strings.TrimSpace(heading)); m != nil {
		// Most headings of a day have this form; parsing them as a text takes thirty times as long.
		if _, err := time.Parse(time.DateOnly, m[1]); err != nil {
			return "", false
		}
		return m[1], true
	}
	norm := analysis.Normalize(heading)
	// A day that is the same a lifetime later does not depend on now.
	later := make(map[Span]bool)
	spans, _ := Parse(norm, date(2090, time.January, 1))
	for _, s := range spans {
		later[s] = true
	}
	spans, _ = Parse(norm, date(2000, time.January, 2))
	for _, s := range spans {
		if s.First != s.Last || !later[s] {
			continue
		}
		if day != "" {
			return "", false
		}
		day, first = s.First, beforeDay.MatchString(norm[:s.Start])
	}
	return day, first
}
