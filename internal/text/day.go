package text

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// DayOrder is the order of day and month in days such as 05-06-2026.
type DayOrder int

const (
	// AnyOrder reads such a day only if it is the same day in both orders, or no day in one of them.
	AnyOrder DayOrder = iota
	DayFirst
	MonthFirst
)

// monthNames are the names of the months in English, German, French, Spanish, Italian, Portuguese, Dutch and Russian, as regular
// expressions: January first.
var monthNames = []string{
	`jan(?:uary|uar|vier|uari|eiro)?|enero|gennaio|января`, `feb(?:ruary|ruar|rero|braio|ruari)?|f[eé]v(?:rier|ereiro)?|февраля`,
	`mar(?:ch|s|zo|ço)?|märz|maart|марта`, `apr(?:il|ile)?|avr(?:il)?|abr(?:il)?|апреля`, `may|mai|mayo|maggio|maio|mei|мая`,
	`june?|juni|juin|junio|giugno|junho|июня`, `july?|juli|juil(?:let)?|julio|luglio|julho|июля`, `aug(?:ust|ustus)?|août|ago(?:sto)?|августа`,
	`sept?(?:ember|embre|iembre)?|settembre|setembro|сентября`, `oct(?:ober|obre|ubre)?|okt(?:ober)?|ottobre|out(?:ubro)?|октября`,
	`nov(?:ember|embre|iembre|embro)?|noviembre|ноября`, `dec(?:ember)?|dez(?:ember|embro)?|d[eé]c(?:embre)?|dic(?:iembre|embre)?|декабря`,
}

var monthName = `(` + strings.Join(monthNames, "|") + `)`

// monthOf returns the number of a month by its name, 0 if it is none.
var monthOf = sync.OnceValue(func() func(name string) int {
	exact := make([]*Regexp, len(monthNames))
	for i, names := range monthNames {
		exact[i] = NewRegexp(`(?i)^(?:` + names + `)$`)
	}
	return func(name string) int {
		return 1 + slices.IndexFunc(exact, func(re *Regexp) bool { return re.MatchString(name) })
	}
})

// dayForms are the forms of a day. Their groups are described by parts: y(ear), m(onth), d(ay), H(our), M(inute), S(econd), and a and b
// for day and month in an order that is not known. A space stands for a separator that is the same as the first. A text with such a day has
// that many digits in a row, one of the marks, and, if a month has a name, a letter beside a blank, a hyphen or a _: what lacks this, as
// most paths do, need not be compared with the expression.
var dayForms = []struct {
	parts  string
	digits int
	marks  string
	named  bool
	re     *Regexp
}{
	{"ymdHMS", 14, "", false, NewRegexp(`(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)`)},
	{"ymdHM", 12, "", false, NewRegexp(`(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)`)},
	{"ymd", 8, "", false, NewRegexp(`(\d{4})(\d\d)(\d\d)`)},
	{"y m d", 4, "-_/–", false, NewRegexp(`(\d{4})([-_/–])(\d\d?)([-_/–])(\d\d?)`)},
	{"ymd", 4, "", true, NewRegexp(`(?i)(\d{4})[-_ ]` + monthName + `[-_ ](\d\d?)`)},
	{"ymd", 4, ".", false, NewRegexp(`(\d{4})\.(\d\d)\.(\d\d)`)},
	{"ymd", 4, "年년", false, NewRegexp(`(\d{4}) ?[年년] ?(\d\d?) ?[月월] ?(\d\d?) ?[日일]?`)},
	{"dmy", 4, ".", false, NewRegexp(`(\d\d?)\. ?(\d\d?)\. ?(\d{4})`)},
	{"a b y", 4, "-_/", false, NewRegexp(`(\d\d?)([-_/])(\d\d?)([-_/])(\d{4})`)},
	{"mdy", 4, "", true, NewRegexp(`(?i)` + monthName + `\.?[-_ ]+(\d\d?)(?:st|nd|rd|th)?(?:[-_, ]+| \d\d:\d\d(?::\d\d)? (?:[A-Z]+ )?)(\d{4})`)},
	{"dmy", 4, "", true, NewRegexp(`(?i)(\d\d?)(?:st|nd|rd|th|\.)?[-_ ]+(?:of |de )?` + monthName + `\.?(?: de |[-_, ]+)(\d{4})`)},
}

// dayHints returns the largest number of digits in a row, and whether a letter is beside a blank, a hyphen or a _.
func dayHints(s string) (digits int, named bool) {
	isLetter := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf }
	run := 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			run++
			digits = max(digits, run)
			continue
		case c == ' ' || c == '-' || c == '_':
			named = named || i > 0 && (isLetter(s[i-1]) || s[i-1] == '.') || i+1 < len(s) && isLetter(s[i+1])
		}
		run = 0
	}
	return digits, named
}

// FindDay returns the first calendar day of the years 1900 to 2199 in s, as YYYY-MM-DD, and the offsets at which it starts and
// ends, with the time behind it if that is written without a separator. A day is written 2026-01-20, 2026-1-20, 20260120, 202601201030, 20.01.2026, 20-01-2026, January 20th, 2026,
// 20 Jan 2026 or 2026年1月20日; _ and / may take the place of the hyphen, and a dot between two digits each. There is no digit beside it, and what a number with dots says that follows
// "version" or goes on is no day. day is empty if there is none, as for 05-06-2026, whose order is not known.
func FindDay(s string) (day string, start, end int) { return FindDayIn(s, AnyOrder) }

// FindDayIn returns what [FindDay] does if days such as 05-06-2026 have this order.
func FindDayIn(s string, order DayOrder) (day string, start, end int) {
	digits, named := dayHints(s)
	start = len(s)
	for _, form := range dayForms {
		if digits < form.digits || form.marks != "" && !strings.ContainsAny(s, form.marks) || form.named && !named {
			continue
		}
		for _, at := range form.re.FindAllStringSubmatchIndex(s, -1) {
			if at[0] >= start {
				break
			}
			if found := dayOfParts(s, form.parts, at, order); found != "" {
				day, start, end = found, at[0], at[1]
				break
			}
		}
	}
	if day == "" {
		return "", 0, 0
	}
	return day, start, end
}

// OrderOf returns the order of day and month that a name such as 25-06-2026 shows; AnyOrder if it shows none.
func OrderOf(s string) DayOrder {
	dayFirst, _, _ := FindDayIn(s, DayFirst)
	monthFirst, _, _ := FindDayIn(s, MonthFirst)
	switch {
	case monthFirst == "" && dayFirst != "":
		return DayFirst
	case dayFirst == "" && monthFirst != "":
		return MonthFirst
	}
	return AnyOrder
}

// beforeDay is what may be written before the day of a value: brackets of a link with its folders, quotes and a weekday.
var beforeDay = NewRegexp(`(?i)^(?:\[\[[^\]|]*/|[\s"'(\[<]*)(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?$`)

// DayOf returns the day (YYYY-MM-DD) with which a value begins: 2026-02-15T10:00:00Z, [[2026-02-15]] or Sunday, February 15, 2026; "" if
// it begins with none.
func DayOf(value string) string {
	if day, start, _ := FindDay(value); beforeDay.MatchString(value[:start]) {
		return day
	}
	return ""
}

// numberBefore is what says of a number with dots that it is no day.
var numberBefore = NewRegexp(`(?i)(?:\d\.|[a-z]|\bv(?:er|ersion)?[-_. ]*|\b(?:release|build)[-_. ]+)$`)

// dayOfParts returns the day of the groups of a form; "" if they are none or belong to a longer number.
func dayOfParts(s, parts string, at []int, order DayOrder) string {
	before, match, after := s[:at[0]], s[at[0]:at[1]], s[at[1]:]
	last, _ := utf8.DecodeLastRuneInString(before)
	if compact := len(match) == 8 && strings.Trim(match, "0123456789") == ""; compact {
		next, _ := utf8.DecodeRuneInString(after)
		if isASCIILetter(last) && isASCIILetter(next) {
			return "" // a part of an id
		}
	}
	if isDigit(match[0]) && last < utf8.RuneSelf && isDigit(byte(last)) || !isDigit(match[0]) && unicode.Is(unicode.Latin, last) || after != "" && isDigit(after[0]) {
		return ""
	}
	if dots := strings.Count(match, ".") == 2; dots && (numberBefore.MatchString(before) || len(after) > 1 && after[0] == '.' && isDigit(after[1])) {
		return ""
	}
	value := map[rune]int{}
	separator := ""
	for i, part := range parts {
		said := s[at[2*i+2]:at[2*i+3]]
		n, err := strconv.Atoi(said)
		switch {
		case part != ' ' && err != nil:
			n = monthOf()(said)
		case part == ' ' && separator != "" && said != separator:
			return ""
		case part == ' ':
			separator = said
			continue
		}
		value[part] = n
	}
	if value['H'] > 23 || value['M'] > 59 || value['S'] > 59 {
		return ""
	}
	if value['d'] != 0 {
		return calendarDay(value['y'], value['m'], value['d'])
	}
	dayFirst, monthFirst := calendarDay(value['y'], value['b'], value['a']), calendarDay(value['y'], value['a'], value['b'])
	switch {
	case order == DayFirst:
		return dayFirst
	case order == MonthFirst:
		return monthFirst
	case dayFirst == "" || dayFirst == monthFirst:
		return monthFirst
	case monthFirst == "":
		return dayFirst
	}
	return ""
}

// calendarDay returns a day of the calendar as YYYY-MM-DD; "" if it is none, or not of the years 1900 to 2199.
func calendarDay(year, month, day int) string {
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if year < 1900 || year > 2199 || int(t.Month()) != month || t.Day() != day {
		return ""
	}
	return t.Format(time.DateOnly)
}

func isASCIILetter(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
