package search

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Parts of the English expressions.
const (
	enMonth = `(?P<month>january|february|march|april|may|june|july|august|september|october|november|december|` +
		`jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\b\.?`
	enDay = `(?:(?P<day>\d{1,2})(?P<ord>st|nd|rd|th)?|(?P<word>(?:twenty[- ]|thirty[- ])?(?:first|second|third|fourth|` +
		`fifth|sixth|seventh|eighth|ninth)|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|` +
		`seventeenth|eighteenth|nineteenth|twentieth|thirtieth))\b`
	enYear    = `(?P<year>(?:19|20)\d\d)\b`
	enWeekday = `(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tues|tue|wed|thurs|thur|thu|fri|sat|sun)\b`
	enNumber  = `(?P<n>\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|couple of)`
	enUnit    = `(?P<unit>day|week|month|year)s?\b`
	enPart    = `(?P<part>early|mid|late|(?:the )?(?:beginning|start|middle|end) of|(?:the )?(?:first|second|third|fourth|last) week (?:of|in))(?:[ -]the\b)?[ -]`
)

// englishHints matches every text that may hold an English or a numeric date.
var englishHints = regexp.MustCompile(`\d[-/]\d|\b[rhs]\d{1,2}[./]\d|\b(?:today|tonight|yesterday|last|this|past|previous|ago|earlier|weekend|` +
	`(?:19|20)\d\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|spring|summer|autumn|` +
	`fall|winter|end|beginning|start)`)

// englishRules read English, and dates in digits as they are written anywhere.
var englishRules = []dateRule{
	{regexp.MustCompile(`\b(?P<year>\d{4})(?:-(?P<month>\d{1,2})-(?P<day>\d{1,2})|/(?P<m>\d{1,2})/(?P<d>\d{1,2}))`), readISO},
	{regexp.MustCompile(`\b` + `(?P<year>(?:19|20)\d\d)[-/](?P<month>0[1-9]|1[0-2])\b`), func(m match) (days, bool) {
		if strings.HasPrefix(m.after(), "-") || strings.HasPrefix(m.after(), "/") {
			return days{}, false
		}
		return monthOf(m.number("year"), m.number("month"))
	}},
	{regexp.MustCompile(`\b(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})\b`), readSlashes},
	{regexp.MustCompile(`\b(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])\b`), readDigits},
	{regexp.MustCompile(`\b(?P<era>[rhs])(?P<year>\d{1,2})(?:\.(?P<month>\d{1,2})\.(?P<day>\d{1,2})|/(?P<m>\d{1,2})/(?P<d>\d{1,2}))\b`), readEraDigits},
	{regexp.MustCompile(`\b(?P<week>week of (?:the )?)?` + enMonth + `[ -](?:the )?` + enDay + `(?:,? (?:of |in )?` + enYear + `)?`), readDayOfMonth},
	{regexp.MustCompile(`\b(?P<week>week of (?:the )?)?` + enDay + `(?P<of> of)?[ -]` + enMonth + `(?:,? (?:of |in )?` + enYear + `)?`), readDayOfMonth},
	{regexp.MustCompile(`\b(?:` + enPart + `)?` + enMonth + `(?:,| of)? ` + enYear), readMonth},
	{regexp.MustCompile(`\b(?:(?P<lead>in|during|since|until|of|last|this|throughout|before|after|between|from|to|by|back in) |` + enPart + `)?` + enMonth), readMonth},
	{regexp.MustCompile(`\b(?:(?P<part>(?:the )?(?:beginning|start|middle|end)) of |(?P<early>early|late) )?(?P<which>last|this|previous|the past|past|the) (?P<unit>week|month|year|weekend)\b`), readUnit},
	{regexp.MustCompile(`\b(?:the )?(?P<day>today|tonight|day before yesterday|yesterday|last night|this (?:morning|afternoon|evening))\b`), readNamedDay},
	{regexp.MustCompile(`\b` + enNumber + ` ` + enUnit + ` (?:ago|earlier|back)\b`), func(m match) (days, bool) {
		return ago(m.today, enCount(m.get("n")), m.get("unit")[0])
	}},
	{regexp.MustCompile(`\b(?:last|past|previous) ` + enNumber + ` ` + enUnit), func(m match) (days, bool) {
		return rolling(m.today, enCount(m.get("n")), m.get("unit")[0])
	}},
	{regexp.MustCompile(`\b(?P<which>last|this|this past|past|previous|on|since|until|by) ` + enWeekday), readWeekday},
	{regexp.MustCompile(`\b` + enWeekday + `,? (?:of )?(?P<week>last|this) week\b`), readWeekday},
	{regexp.MustCompile(`\b(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b`), readWeekday},
	{regexp.MustCompile(`\b(?:(?P<which>last|this|in the|during the|over the|the past) )?(?P<season>spring|summer|autumn|fall|winter)\b(?: (?:of |in )?` + enYear + `)?`), readSeason},
	{regexp.MustCompile(`\b(?:(?P<part>(?:the )?(?:beginning|start|end) of|early|late)|in|during|since|throughout|year|back in) (?:the year )?` + enYear), readYear},
}

var enMonths = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}

// monthNumber counts from 1.
func (m match) monthNumber() int { return slices.Index(enMonths, m.get("month")[:3]) + 1 }

// number returns a named group of digits, 0 where it took no part.
func (m match) number(name string) int {
	n, _ := strconv.Atoi(m.get(name))
	return n
}

func readISO(m match) (days, bool) {
	if strings.HasPrefix(m.after(), "-") || strings.HasPrefix(m.after(), "/") {
		return days{}, false
	}
	y := m.number("year")
	d, ok := dayOf(y, m.number("month")+m.number("m"), m.number("day")+m.number("d"))
	if !ok && (y < 1900 || y >= 2100) {
		// A telephone number or the like.
		return days{}, false
	}
	return d, ok
}

// readDigits reads 20260320; another number of eight digits is no date at all.
func readDigits(m match) (days, bool) {
	d, ok := dayOf(m.number("year"), m.number("month"), m.number("day"))
	if !ok {
		return days{}, false
	}
	d.numeric = true
	return d, true
}

// readEraDigits reads R7.5.8, a day in an era of Japan. What lies in the future is rather a version.
func readEraDigits(m match) (days, bool) {
	era := map[string]string{"r": "令和", "h": "平成", "s": "昭和"}[m.get("era")]
	d, ok := dayOf(firstYears[era]+m.number("year"), m.number("month")+m.number("m"), m.number("day")+m.number("d"))
	if !ok || !m.capital("era") || m.number("year") == 0 || d.first.After(m.today) {
		return days{}, false
	}
	d.numeric = true
	return d, true
}

// readSlashes reads 5/8/2023 as the 8th of May; the day comes first where there is no such month.
func readSlashes(m match) (days, bool) {
	if d, ok := dayOf(m.number("year"), m.number("month"), m.number("day")); ok {
		return d, true
	}
	return dayOf(m.number("year"), m.number("day"), m.number("month"))
}

// readDayOfMonth reads "May 8th, 2023" and "8 May". Without a capital, a year or a suffix "may 8" is no date.
func readDayOfMonth(m match) (days, bool) {
	sure := m.capital("month") || m.get("ord")+m.get("year")+m.get("of")+m.get("word")+m.get("week") != "" || len(m.get("month")) > 5
	if !sure || m.get("word") == "second" && !m.capital("month") && m.get("of") == "" && m.get("year") == "" {
		return days{}, false
	}
	n := m.number("day")
	if w := m.get("word"); w != "" {
		n = enOrdinal(w)
	}
	d, ok := recentDay(m.today, m.monthNumber(), n)
	if m.get("year") != "" {
		d, ok = dayOf(m.number("year"), m.monthNumber(), n)
	}
	if ok && m.get("week") != "" {
		d = weekOf(d.first, 0)
	}
	return d, ok
}

var enOrdinals = strings.Fields(`first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
	thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth`)

func enOrdinal(w string) int {
	switch {
	case w == "thirtieth":
		return 30
	case strings.HasPrefix(w, "twenty"):
		return 20 + enOrdinal(w[len("twenty-"):])
	case strings.HasPrefix(w, "thirty"):
		return 30 + enOrdinal(w[len("thirty-"):])
	}
	return slices.Index(enOrdinals, w) + 1
}

// readMonth reads "July", "in May", "early June" and "July 2023".
func readMonth(m match) (days, bool) {
	month, year, lead := m.monthNumber(), m.get("year"), m.get("lead")
	if year == "" && !m.isMonth() {
		return days{}, false
	}
	d, ok := recentMonth(m.today, month)
	switch {
	case year != "":
		d, ok = monthOf(m.number("year"), month)
	case lead == "this":
		d, ok = monthOf(m.today.Year(), month)
	case lead == "last" && d.last.After(m.today):
		d, ok = monthOf(d.first.Year()-1, month)
	}
	return d.part(m.get("part")), ok
}

// isMonth reports whether a month's name without a year is meant as one.
func (m match) isMonth() bool {
	name, lead, part := m.get("month"), m.get("lead"), m.get("part")
	switch {
	case part != "":
		return len(name) > 3 || m.capital("month")
	case name == "may" && (lead == "this" || lead == "to" || lead == "by" || lead == "before" || lead == "after" || lead == "from"):
		return m.capital("month") && lead != "this"
	case name == "march", name == "may", len(name) <= 4 && name != "june" && name != "july":
		// "march" and "may" are words, the short forms are words or pieces of names.
		return lead == "in" || lead == "during" || lead == "since" || lead != "" && m.capital("month")
	case name == "april", name == "june", name == "august":
		// Names of people too: "a friend of June".
		return lead != "" && lead != "of" && lead != "by" && lead != "before" && lead != "after"
	}
	return m.capital("month") || lead != ""
}

// part returns the part of a month that a phrase names, all of it for "".
func (d days) part(phrase string) days {
	phrase = strings.TrimPrefix(phrase, "the ")
	if nth := slices.Index([]string{"first", "second", "third", "fourth", "last"}, before(phrase, " week")); nth >= 0 {
		if nth == 4 {
			d.first = d.last.AddDate(0, 0, -6)
			return d
		}
		d.first = d.first.AddDate(0, 0, 7*nth)
		d.last = d.first.AddDate(0, 0, 6)
		return d
	}
	switch before(phrase, " ") {
	case "early", "beginning", "start":
		return d.third(early)
	case "mid", "middle":
		return d.third(mid)
	case "late", "end":
		return d.third(late)
	}
	return d
}

func before(s, sep string) string {
	head, _, _ := strings.Cut(s, sep)
	return head
}

// readUnit reads "last week", "this month", "the past year" and "the weekend".
func readUnit(m match) (days, bool) {
	which, unit := m.get("which"), m.get("unit")
	if unit == "weekend" {
		switch {
		case which == "this":
			return weekOf(m.today, 0).weekend(), true
		case which == "the":
			return recentWeekend(m.today), true
		}
		return weekOf(m.today, -1).weekend(), true
	}
	part := cmp.Or(m.get("part"), m.get("early"))
	n := -1
	switch which {
	case "this":
		n = 0
	case "the":
		// "the end of the month" is this one's; "the week" alone names none.
		if n = 0; part == "" || unit == "week" {
			return days{}, false
		}
	case "past", "the past":
		return rolling(m.today, 1, unit[0])
	}
	d, ok := ago(m.today, -n, unit[0])
	switch {
	case unit == "month":
		d = d.part(part)
	case unit == "year":
		d = d.yearPart(part)
	}
	return d, ok
}

// yearPart returns the part of a year that a phrase names: its first or last month, all of it for "".
func (d days) yearPart(phrase string) days {
	switch before(strings.TrimPrefix(phrase, "the "), " ") {
	case "beginning", "start":
		d.last = d.first.AddDate(0, 1, -1)
	case "end":
		d.first = d.first.AddDate(0, 11, 0)
	case "early":
		d.last = d.first.AddDate(0, 4, -1)
	case "late":
		d.first = d.first.AddDate(0, 8, 0)
	}
	return d
}

func readNamedDay(m match) (days, bool) {
	switch m.get("day") {
	case "yesterday", "last night":
		return ago(m.today, 1, 'd')
	case "day before yesterday":
		return ago(m.today, 2, 'd')
	}
	return oneDay(m.today), true
}

// enCount returns the number of "three", "a" and "12".
func enCount(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	if i := slices.Index(strings.Fields("one two three four five six seven eight nine ten eleven twelve"), s); i >= 0 {
		return i + 1
	}
	if strings.HasSuffix(s, "couple of") {
		return 2
	}
	return 1
}

// readWeekday reads "last Friday", "on Monday", "Tuesday of last week". A short form needs a capital.
func readWeekday(m match) (days, bool) {
	name := m.get("weekday")
	if len(name) < 6 && !m.capital("weekday") {
		return days{}, false
	}
	n := slices.Index([]string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, name[:3])
	switch {
	case strings.HasSuffix(m.before(), "every ") || strings.HasSuffix(m.before(), "each ") || strings.HasSuffix(m.before(), "next "):
		return days{}, false
	case m.get("week") == "last":
		return weekOf(m.today, -1).weekday(n), true
	case m.get("week") == "this", m.get("which") == "this":
		return weekOf(m.today, 0).weekday(n), true
	}
	which := m.get("which")
	return recentWeekday(m.today, n, which == "last" || which == "previous" || strings.HasSuffix(which, "past")), true
}

// readSeason reads "summer 2023", "last winter" and "in the spring".
func readSeason(m match) (days, bool) {
	season := slices.Index([]string{"spring", "summer", "autumn", "winter"}, strings.Replace(m.get("season"), "fall", "autumn", 1))
	which := m.get("which")
	switch {
	case m.get("year") != "":
		return seasonOf(m.number("year"), season), true
	case which == "":
		return days{}, false
	case which == "this":
		return seasonOf(m.today.Year(), season), true
	}
	return recentSeason(m.today, season, which == "last"), true
}

func readYear(m match) (days, bool) { return yearOf(m.number("year")).yearPart(m.get("part")), true }
