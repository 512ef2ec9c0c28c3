package rule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"kioku/internal/text"
)

// month are the names of months, with their abbreviations.
const month = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`

// period is a day, a month or a year as people write it.
const period = `(?:\d{4}(?:[-/]\d{1,2}(?:[-/]\d{1,2})?)?|(?:` + month + `)\.?(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? \d{4})?|\d{1,2}(?:st|nd|rd|th)? (?:` + month + `)\.?(?: \d{4})?|` +
	`(?:\d{4}年)(?:\d{1,2}月)?(?:\d{1,2}[日号號])?|\d{1,2}月(?:\d{1,2}[日号號])?)`

var (
	// bounds are the ways in which a text says from when and until when something holds. The groups are the first and the last period.
	bounds = []gate{
		{[]string{" to ", "until", "till", "–", "—", "-", "〜", "～", "から", "至", "到"}, text.NewRegexp(`(?i)[\s,;]*[(（]?(?:\bfrom )?(` + period + `)\s*(?:to|until|till|–|—|-|〜|～|から|至|到)\s*(` + period + `)(?:まで)?[)）]?`)},
		{[]string{"since", "as of", "starting", "from"}, text.NewRegexp(`(?i)[\s,;]*[(（]?\b(?:since|as of|starting(?: in| on)?|from)\s+(` + period + `)(?: on(?:wards?)?)?[)）]?()`)},
		{[]string{"until", "till", "through", "up to"}, text.NewRegexp(`(?i)[\s,;]*[(（]?\b()(?:until|till|through|up to)\s+(?:the end of )?(` + period + `)[)）]?`)},
		{[]string{"から", "以来", "以降", "以後", "より", "起", "开始", "開始"}, text.NewRegexp(`[\s、，]*[(（]?(?:自|从|從)?(` + period + `)(?:から|以来|以降|以来|以後|より|起|开始|開始)[は、，]*[)）]?()`)},
		{[]string{"まで", "为止", "為止", "止"}, text.NewRegexp(`[\s、，]*[(（]?()(?:到|直到|至)?(` + period + `)(?:まで|为止|為止|止)[は、，]*[)）]?`)},
		{[]string{" in ", " on "}, text.NewRegexp(`(?i)\s+(?:in|on)\s+(` + period + `)()$`)}, // "moved to Porto in October 2026"
	}
	// months are how the names of months begin.
	months      = strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")
	isoPeriod   = text.NewRegexp(`^(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?$`)
	hanPeriod   = text.NewRegexp(`^(?:(\d{4})年)?(?:(\d{1,2})月)?(?:(\d{1,2})[日号號])?$`)
	monthPeriod = text.NewRegexp(`(?i)^(?:(\d{1,2})(?:st|nd|rd|th)? )?(` + month + `)\.?(?: (\d{1,2})(?:st|nd|rd|th)?)?(?:,? (\d{4}))?$`)
	hasDigit    = text.NewRegexp(`\d+|(?i:\b(?:` + month + `)\b)`)
)

// takeValidity removes from a text the words that say when it holds, and returns the rest and the bounds, to excluded. A period
// without a year is the last one that began before the day of anchor, or the next one for an end. Bounds that contradict each
// other, or that no calendar has, stay in the text.
func takeValidity(text string, anchor time.Time) (rest, from, to string) {
	lower := strings.ToLower(text)
	if !strings.ContainsAny(text, "0123456789") && !containsAny(lower, months...) {
		return text, "", ""
	}
	days := hasDigit.FindAllStringIndex(text, -1)
	if len(days) == 0 {
		return text, "", ""
	}
	for i := range bounds {
		if i == 0 && len(days) < 2 || !bounds[i].opens(lower) {
			continue
		}
		m := bounds[i].form.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		var first, last string
		ok := true
		if m[2] < m[3] {
			first, ok = periodOf(text[m[2]:m[3]], anchor, false)
		}
		if ok && m[4] < m[5] {
			last, ok = periodOf(text[m[4]:m[5]], anchor, true)
			last = following(last)
		}
		if !ok || first != "" && last != "" && first >= last {
			continue
		}
		return strings.TrimSpace(text[:m[0]] + " " + text[m[1]:]), first, last
	}
	return text, "", ""
}

// periodOf returns a period as YYYY, YYYY-MM or YYYY-MM-DD; false if it is none, or if it has no year and anchor is zero.
func periodOf(text string, anchor time.Time, end bool) (string, bool) {
	year, mon, day := "", "", ""
	text = strings.TrimSpace(text)
	if m := isoPeriod.FindStringSubmatch(text); m != nil {
		year, mon, day = m[1], m[2], m[3]
	} else if m := monthPeriod.FindStringSubmatch(text); m != nil {
		year, mon, day = m[4], monthNumber(m[2]), m[1]+m[3]
	} else if m := hanPeriod.FindStringSubmatch(text); m != nil {
		year, mon, day = m[1], m[2], m[3]
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	y, mo, d := number(year), number(mon), number(day)
	if y == 0 && mo == 0 || mo > 12 || d > 31 || d > 0 && mo == 0 || y != 0 && (y < 1900 || y > 2199) {
		return "", false
	}
	if y == 0 {
		if anchor.IsZero() {
			return "", false
		}
		y = nearYear(anchor, mo, max(d, 1), end)
	}
	switch {
	case mo == 0:
		return fmt.Sprintf("%04d", y), true
	case d == 0:
		return fmt.Sprintf("%04d-%02d", y, mo), true
	}
	out := fmt.Sprintf("%04d-%02d-%02d", y, mo, d)
	return out, calendarDay(out) != ""
}

// nearYear returns the year of a day without one: of the last such day up to anchor, or of the next one from its month on.
func nearYear(anchor time.Time, mon, day int, next bool) int {
	y := anchor.Year()
	switch at := time.Date(y, time.Month(mon), day, 0, 0, 0, 0, anchor.Location()); {
	case next && time.Month(mon) < anchor.Month():
		return y + 1
	case !next && at.After(anchor):
		return y - 1
	}
	return y
}

// following returns the period of the same length after another one; empty for an empty one.
func following(p string) string {
	for _, unit := range []struct {
		layout              string
		years, months, days int
	}{{time.DateOnly, 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0}} {
		if t, err := time.Parse(unit.layout, p); err == nil {
			return t.AddDate(unit.years, unit.months, unit.days).Format(unit.layout)
		}
	}
	return ""
}

// monthNumber returns the number of a month by its name.
func monthNumber(name string) string {
	const names = "janfebmaraprmayjunjulaugsepoctnovdec"
	return strconv.Itoa(strings.Index(names, strings.ToLower(name)[:3])/3 + 1)
}
