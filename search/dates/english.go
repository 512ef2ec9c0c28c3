package dates

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
	enNumber  = `(?P<n>\d{1,4}|(?:twenty|thirty|forty|fifty|sixty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|` +
		`thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|` +
		`a couple of|couple of|an?)`
	enUnit = `(?P<unit>day|week|fortnight|month|quarter|year)s?\b`
	enPart = `(?P<part>early|mid|late|(?:the )?(?:beginning|start|middle|end) of|(?:the )?(?:first|second|third|fourth|last) week (?:of|in))(?:[ -]the\b)?[ -]`
)

// englishHints matches every text that may contain an English or a numeric date.
var englishHints = regexp.MustCompile(`\d[-/]\d|\b[rhs]\d{1,2}[./]\d|\b(?:today|tonight|yesterday|last|this|past|previous|ago|earlier|weekend|` +
	`(?:19|20)\d\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|spring|summer|autumn|` +
	`fall|winter|end|beginning|start|other day|q[1-4]\b|quarter)`)

// enAhead matches the words that put an expression into the future, or into every year.
var enAhead = regexp.MustCompile(`\b(?:next|every|each|coming|upcoming|following) $`)

// englishRules read English, and dates in digits as they are written everywhere.
var englishRules = []dateRule{
	{regexp.MustCompile(`\b(?P<year>\d{4})(?:-(?P<month>\d{1,2})-(?P<day>\d{1,2})|/(?P<m>\d{1,2})/(?P<d>\d{1,2}))`), readISO},
	{regexp.MustCompile(`\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})/(?P<y2>\d{4})-(?P<m2>\d{2})-(?P<d2>\d{2})\b`), readInterval},
	{regexp.MustCompile(`\b` + `(?P<year>(?:19|20)\d\d)[-/](?P<month>0[1-9]|1[0-2])\b`), func(m match) (days, bool) {
		if m.precedes("-", "/") {
			return days{}, false
		}
		return monthOf(m.number("year"), m.number("month"))
	}},
	{regexp.MustCompile(`\b(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})\b`), readSlashes},
	{regexp.MustCompile(`\b(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])\b`), readDigits},
	{regexp.MustCompile(`\b(?P<era>[rhs])(?P<year>\d{1,2})(?:\.(?P<month>\d{1,2})\.(?P<day>\d{1,2})|/(?P<m>\d{1,2})/(?P<d>\d{1,2}))\b`), readEraDigits},
	{regexp.MustCompile(`\b(?P<week>week of (?:the )?)?` + enMonth + `[ -](?:the )?` + enDay + `(?:(?:,? (?:of |in )?|-)` + enYear + `)?`), readDayOfMonth},
	{regexp.MustCompile(`\b(?P<week>week of (?:the )?)?(?:(?P<from>\d{1,2})(?:st|nd|rd|th)?(?: ?[-–—~] ?| to (?:the )?|(?P<and> and (?:the )?)))?` + enDay +
		`(?P<of> of)?[ -]` + enMonth + `(?:(?:,? (?:of |in )?|-)` + enYear + `)?`), readDayOfMonth},
	{regexp.MustCompile(`\b(?:` + enPart + `)?` + enMonth + `(?:,| of)? ` + enYear), readMonth},
	{regexp.MustCompile(`\b(?:(?P<lead>in|during|since|until|of|last|this|throughout|before|after|between|from|to|by|back in) |` + enPart + `)?` + enMonth), readMonth},
	{regexp.MustCompile(`\b(?:(?P<part>(?:the )?(?:beginning|start|middle|end)) of |(?P<early>early|late) )?(?P<which>last|this|previous|the past|past|the) (?P<unit>week|fortnight|month|quarter|year|weekend)\b`), readUnit},
	{regexp.MustCompile(`\b(?:the )?(?P<day>today|tonight|day before yesterday|yesterday|last night|this (?:morning|afternoon|evening))\b`), readNamedDay},
	{regexp.MustCompile(`\b(?:(?P<near>\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten)(?: or | to |-))?` + enNumber + ` ` + enUnit + ` (?:ago|earlier|back)\b`), readAgo},
	{regexp.MustCompile(`\b(?:(?:a few|several|some|few) ` + enUnit + ` (?:ago|earlier|back)|the other day)\b`), func(m match) (days, bool) {
		return aFewAgo(m.today, (m.get("unit") + "d")[0])
	}},
	{regexp.MustCompile(`\b(?:the )?(?:` + enWeekday + `|(?P<unit>week|weekend|month|quarter|year)) before last\b`), readBeforeLast},
	{regexp.MustCompile(`\bnext (?:week|month|quarter|year)\b`), func(match) (days, bool) { return days{ahead: true}, true }},
	{regexp.MustCompile(`\b(?:last|past|previous) ` + enNumber + ` ` + enUnit), func(m match) (days, bool) {
		return rolling(m.today, enInt(m.get("n")), m.get("unit")[0])
	}},
	{regexp.MustCompile(`\b(?:(?P<which>last|this|this past|past|previous)|(?P<lead>on|since|until|by|before|after|from)) ` + enWeekday), readWeekday},
	{regexp.MustCompile(`\b` + enWeekday + `,? (?:of )?(?P<week>last|this) week\b`), readWeekday},
	{regexp.MustCompile(`\b(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b`), readWeekday},
	{regexp.MustCompile(`\b(?:(?P<which>last|this|in the|during the|over the|the past) )?(?P<season>spring|summer|autumn|fall|winter)\b(?: (?:of |in )?` + enYear + `)?`), readSeason},
	{regexp.MustCompile(`\b(?:(?P<part>(?:the )?(?:beginning|start|end) of|early|late)|(?P<lead>in|during|since|throughout|year|back in)) (?:the year )?` + enYear), readYear},
	{regexp.MustCompile(`\b(?:from|between|in|during) ` + enYear + `(?: ?[-–—~] ?| (?:to|until|through|and) )(?P<to>(?:19|20)\d\d)\b`), readYears},
	{regexp.MustCompile(`\b(?:` + enYear + `[ -])?(?P<q>q[1-4])(?:(?:,? (?:of |in )?|[-/])(?P<to>(?:19|20)\d\d))?\b`), readQ},
	{regexp.MustCompile(`\b(?:the )?(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th) quarter,? (?:of |in )?` + enYear), func(m match) (days, bool) {
		return recentQuarter(m.today, m.number("year"), enInt(m.get("nth")))
	}},
}

// monthNumber returns the number of the month, from 1.
func (m match) monthNumber() int {
	return strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", m.get("month")[:3])/3 + 1
}

// number returns a named group of digits, 0 if the group did not match.
func (m match) number(name string) int {
	n, _ := strconv.Atoi(m.get(name))
	return n
}

func readISO(m match) (days, bool) {
	if m.precedes("-", "/") {
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

// readDigits reads 20260320. Other numbers of eight digits are no dates.
func readDigits(m match) (days, bool) {
	d, ok := dayOf(m.number("year"), m.number("month"), m.number("day"))
	if !ok {
		return days{}, false
	}
	d.numeric = true
	return d, true
}

// readEraDigits reads R7.5.8, a day in an era of Japan. A day in the future is rather a version.
func readEraDigits(m match) (days, bool) {
	era := map[string]string{"r": "令和", "h": "平成", "s": "昭和"}[m.get("era")]
	d, ok := dayOf(firstYears[era]+m.number("year"), m.number("month")+m.number("m"), m.number("day")+m.number("d"))
	if !ok || !m.capital("era") || m.number("year") == 0 || d.first.After(m.today) {
		return days{}, false
	}
	d.numeric = true
	return d, true
}

// readInterval reads 2023-05-01/2023-05-08.
func readInterval(m match) (days, bool) {
	d, ok := dayOf(m.number("year"), m.number("month"), m.number("day"))
	end, also := dayOf(m.number("y2"), m.number("m2"), m.number("d2"))
	d.last, d.closed = end.last, true
	return d, ok && also && !d.last.Before(d.first)
}

// readSlashes reads 5/8/2023 as 8 May. The day comes first if there is no such month.
func readSlashes(m match) (days, bool) {
	if d, ok := dayOf(m.number("year"), m.number("month"), m.number("day")); ok {
		return d, true
	}
	return dayOf(m.number("year"), m.number("day"), m.number("month"))
}

// readUnit reads "last week", "this month", "the past year" and "the weekend".
func readUnit(m match) (days, bool) {
	which, unit, part := m.get("which"), m.get("unit"), cmp.Or(m.get("part"), m.get("early"))
	current := which == "this" || which == "the"
	switch {
	case unit == "weekend" && which == "the":
		return recentWeekend(m.today), true
	case unit == "weekend" && current:
		return weekOf(m.today, 0).weekend(), true
	case unit == "weekend":
		return weekOf(m.today, -1).weekend(), true
	case unit == "fortnight", which == "past", which == "the past":
		d, ok := rolling(m.today, 1, unit[0])
		return d, ok && !current
	case which == "the" && (part == "" || unit == "week"):
		// "the end of the month" means the current month; "the week" by itself names none.
		return days{}, false
	}
	n := 1
	if current {
		n = 0
	}
	d, ok := ago(m.today, n, unit[0])
	switch unit {
	case "month":
		d = d.part(part)
	case "year":
		d = d.yearPart(part)
	}
	return d, ok
}

// enWords contains the English numbers and ordinals below 100, without those of several words.
var enWords = func() map[string]int {
	words := map[string]int{"couple": 2, "thirtieth": 30}
	for _, list := range []string{
		`one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
			eighteen nineteen`,
		`first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
			fifteenth sixteenth seventeenth eighteenth nineteenth twentieth`,
	} {
		for i, w := range strings.Fields(list) {
			words[w] = i + 1
		}
	}
	for i, w := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety") {
		words[w] = 10 * (i + 2)
	}
	return words
}()

// enInt returns the number that "three", "third", "3rd", "a couple of" and "12" stand for, and 1 for other texts.
func enInt(s string) int {
	if n, err := strconv.Atoi(strings.TrimRight(s, "stndrh")); err == nil {
		return n
	}
	sum := 0
	for w := range strings.FieldsSeq(strings.Replace(s, "-", " ", 1)) {
		sum += enWords[w]
	}
	return max(sum, 1)
}

// readAgo reads "three days ago" and "3 or 4 weeks ago".
func readAgo(m match) (days, bool) {
	n, near, unit := enInt(m.get("n")), m.get("near"), m.get("unit")[0]
	if near == "" {
		return ago(m.today, n, unit)
	}
	return between(m.today, enInt(near), n, unit)
}

// readBeforeLast reads "the Friday before last" and "the week before last".
func readBeforeLast(m match) (days, bool) {
	switch unit := m.get("unit"); unit {
	case "":
		if !m.isWeekday() {
			return days{}, false
		}
		return oneDay(recentWeekday(m.today.AddDate(0, 0, -8), m.weekdayNumber()).first), true
	case "weekend":
		return weekOf(m.today, -2).weekend(), true
	default:
		return ago(m.today, 2, unit[0])
	}
}

// readWeekday reads "last Friday", "on Monday" and "Tuesday of last week". A short form needs a capital.
func readWeekday(m match) (days, bool) {
	n := m.weekdayNumber()
	switch {
	case !m.isWeekday():
		return days{}, false
	case m.follows(enAhead):
		return days{ahead: true}, true
	case m.get("week") == "last":
		return weekOf(m.today, -1).weekday(n), true
	case m.get("week") == "this", m.get("which") == "this":
		return weekOf(m.today, 0).weekday(n), true
	}
	today := m.today
	if m.get("which") != "" {
		today = today.AddDate(0, 0, -1)
	}
	return recentWeekday(today, n), true
}

// isWeekday reports whether the name of a weekday means the weekday.
func (m match) isWeekday() bool { return len(m.get("weekday")) >= 6 || m.capital("weekday") }

// weekdayNumber returns the number of the weekday; 0 is Monday.
func (m match) weekdayNumber() int {
	return strings.Index("montuewedthufrisatsun", m.get("weekday")[:3]) / 3
}

// readSeason reads "summer 2023", "last winter" and "in the spring".
func readSeason(m match) (days, bool) {
	season := slices.Index([]string{"spring", "summer", "autumn", "winter"}, strings.Replace(m.get("season"), "fall", "autumn", 1))
	which, today := m.get("which"), m.today
	switch {
	case m.get("year") != "":
		return seasonOf(m.number("year"), season)
	case which == "":
		return days{}, false
	case which == "this":
		return seasonOf(today.Year(), season)
	case which == "last":
		// A season that began by then is over.
		today = date(today.Year(), today.Month()-3, 1)
	}
	d, ok := recent(today, 0, func(y int) (days, bool) { return seasonOf(y, season) })
	d.yearless = false
	return d, ok
}

func readYear(m match) (days, bool) { return yearOf(m.number("year")).yearPart(m.get("part")), true }

// readYears reads "from 2021 to 2022".
func readYears(m match) (days, bool) {
	d := yearOf(m.number("year"))
	d.last, d.closed = yearOf(m.number("to")).last, true
	return d, d.first.Before(d.last)
}

// readQ reads Q1, "Q1 2023" and "2023 Q1", but not "Q1:", the number of a question.
func readQ(m match) (days, bool) {
	if !m.capital("q") || m.follows(enAhead) || m.precedes(":", ".") {
		return days{}, false
	}
	quarter := int(m.get("q")[1] - '0')
	return recentQuarter(m.today, max(m.number("year"), m.number("to")), quarter)
}

var (
	// dayLead matches the words that make "may 8" and "the 8th march" a date, dayEnd the text after them that does so.
	dayLead = regexp.MustCompile(`\b(?:on|by|since|until|till|before|after|from|between) (?:the )?$`)
	dayEnd  = regexp.MustCompile(`^\s*(?:$|[^\w\s%-])`)
	// unitAfter matches the unit in "July 2 years ago", in which 2 counts years.
	unitAfter = regexp.MustCompile(`^ (?:day|week|fortnight|month|year)s?\b`)
)

// isDayOfMonth reports whether a day beside the name of a month makes a date: "may" and "march" are also words.
func (m match) isDayOfMonth() bool {
	switch {
	case m.at[2*m.rule.re.SubexpIndex("month")] < m.at[2*m.rule.re.SubexpIndex("day")] && unitAfter.MatchString(m.after()):
		return false
	case m.capital("month"), m.get("year")+m.get("of")+m.get("week") != "", m.get("month") != "may" && m.get("month") != "march":
		return true
	}
	return m.number("day") <= 31 && (m.follows(dayLead) || dayEnd.MatchString(m.after()))
}

// readDayOfMonth reads "May 8th, 2023", "8 May" and "6-8 May".
func readDayOfMonth(m match) (days, bool) {
	if m.get("year") == "" && m.follows(enAhead) {
		return days{ahead: true}, true
	}
	if !m.isDayOfMonth() {
		return days{}, false
	}
	n := enInt(m.get("day") + m.get("word"))
	d, ok := recentDay(m.today, m.number("year"), m.monthNumber(), n)
	switch from := m.number("from"); {
	case ok && m.get("week") != "":
		d = weekOf(d.first, 0)
	case ok && from > 0 && from < n && (m.get("and") == "" || strings.HasSuffix(m.before(), "between ")):
		d.first, d.closed = d.first.AddDate(0, 0, from-n), true
	}
	return d, ok
}

// readMonth reads "July", "in May", "early June" and "July 2023".
func readMonth(m match) (days, bool) {
	month, year, lead := m.monthNumber(), m.get("year"), m.get("lead")
	if year == "" && m.follows(enAhead) {
		return days{ahead: true}, true
	}
	if year == "" && !m.isMonth() {
		return days{}, false
	}
	d, ok := recentMonth(m.today, m.number("year"), month)
	switch {
	case year != "":
	case lead == "this":
		d, ok = monthOf(m.today.Year(), month)
	case lead == "last" && d.last.After(m.today):
		d, ok = monthOf(d.first.Year()-1, month)
	}
	return d.part(m.get("part")), ok
}

// isMonth reports whether the name of a month without a year means the month.
func (m match) isMonth() bool {
	name, lead, part := m.get("month"), m.get("lead"), m.get("part")
	switch {
	case m.capital("month") && toMonth.MatchString(m.after()):
		return true
	case part != "":
		return len(name) > 3 || m.capital("month")
	case name == "may" && (lead == "this" || lead == "to" || lead == "by" || lead == "before" || lead == "after" || lead == "from"):
		return m.capital("month") && lead != "this"
	case name == "march", name == "may", len(name) <= 4 && name != "june" && name != "july":
		// "march" and "may" are also words, the short forms also words or pieces of names.
		return lead == "in" || lead == "during" || lead == "since" || lead != "" && m.capital("month")
	case name == "april", name == "june", name == "august":
		// Also names of people: "a friend of June".
		return lead != "" && lead != "of" && lead != "by" && lead != "before" && lead != "after"
	}
	return m.capital("month") || lead != ""
}

// toMonth matches the continuation of a range to another month.
var toMonth = regexp.MustCompile(`^(?: ?[-–—~] ?| (?:to|through|thru|until|till) )(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)`)
