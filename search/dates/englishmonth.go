package dates

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// dayLead matches the words that make "may 8" and "the 8th march" a date, dayEnd the text after them that does so.
	dayLead = regexp.MustCompile(`\b(?:on|by|since|until|till|before|after|from|between) (?:the )?$`)
	dayEnd  = regexp.MustCompile(`^\s*(?:$|[^\w\s%-])`)
	// unitAfter matches the unit in "July 2 years ago", where 2 counts years.
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
	n := m.number("day")
	if w := m.get("word"); w != "" {
		n = enOrdinal(w)
	}
	d, ok := recentDay(m.today, m.number("year"), m.monthNumber(), n)
	switch from := m.number("from"); {
	case ok && m.get("week") != "":
		d = weekOf(d.first, 0)
	case ok && from > 0 && from < n && (m.get("and") == "" || strings.HasSuffix(m.before(), "between ")):
		d.first, d.closed = d.first.AddDate(0, 0, from-n), true
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

// part returns the part of a month that a phrase names, the whole month for "".
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
