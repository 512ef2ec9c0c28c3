package dates

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"kioku/search/analysis"
)

// Span is a run of days that a text names.
type Span struct {
	// First and Last day, both included, as YYYY-MM-DD.
	First, Last string
	// Extent is the place of the expression in the text.
	Extent
	// Numeric reports an expression in digits (20260320) that may also be the name of something else.
	Numeric bool
}

// Extent is the place of an expression in the normalised text.
type Extent struct {
	Start, End int // byte offsets, End excluded
}

// Overlaps reports whether the extent and the bytes [from,to) have a byte in common.
func (e Extent) Overlaps(from, to int) bool { return from < e.End && e.Start < to }

// Len returns the number of days in the span, at least 1.
func (s Span) Len() int {
	first, _ := time.Parse(time.DateOnly, s.First)
	last, _ := time.Parse(time.DateOnly, s.Last)
	return int((last.Unix()-first.Unix())/(24*60*60)) + 1
}

// Contains reports whether a day (YYYY-MM-DD) lies in the span; an empty date does not.
func (s Span) Contains(date string) bool { return date != "" && s.First <= date && date <= s.Last }

// Days returns all days of the span as YYYY-MM-DD.
func (s Span) Days() []string {
	first, err := time.Parse(time.DateOnly, s.First)
	if err != nil {
		return nil
	}
	list := make([]string, s.Len())
	for i := range list {
		list[i] = first.AddDate(0, 0, i).Format(time.DateOnly)
	}
	return list
}

// Parse returns the days that a text names, in the order of the text: absolute or relative to the day of now, in English,
// Japanese or Chinese, and relative ones also in the languages whose words are stemmed and in Korean (gestern, il y a 3 jours, в
// пятницу, 지난주). It also returns the places where the text names days that no calendar has. Both are nil if there are
// none. Expressions do not overlap. The text is normalised by [analysis.Normalize].
//
// In all languages:
//   - Without a year, an expression means the most recent such day, month or weekday that is not after now. Today counts.
//   - Weeks begin on Monday. A week or a month counted from now ("last week", "two weeks ago", 先月, 上周) is a week or a
//     month of the calendar; "the last two weeks" are the 14 days that end today.
//   - A weekday of a named week (先週の金曜, 上周五, "Friday of last week", "this Monday") is in this week of the calendar,
//     while "last Friday" and 前の金曜 mean the last such day before today.
//   - Early, mid and late in a month (上旬 中旬 下旬, 月初 月底, "end of") are the days 1-10, 11-20 and from 21 on. The
//     end of a year is its December. The first week of a month is its days 1-7, the last week its last seven days.
//   - Two days with a word for a range between them ("from ... to", 〜から〜まで, 从...到) are the days between them. An open
//     range ends today ("since March", 以降); "until" and 以前 mean the year that ends there.
//   - "this weekend", この週末 and 这个周末 are in this week; a weekend by itself is the last one that has begun.
//   - An approximate number (三四天前, "3 or 4 days ago") means a span; "a few days ago" is the week before today.
//
// Words with another meaning (may, march, second, sat) count only beside a day, a year or a preposition. Versions, times
// of day, numbers in identifiers, days after now ("tomorrow", 来年5月) and recurring days ("every Friday") are skipped.
func Parse(norm string, now time.Time) (spans []Span, impossible []Extent) {
	low := analysis.ToLower(norm)
	var found []dated
	// Most texts name no date: one match is cheaper than all rules.
	if englishHints.MatchString(low) {
		found = appendDates(found, englishRules, norm, low, today(now))
	}
	if kanjiHints.MatchString(low) {
		found = appendDates(found, hanRules, norm, low, today(now))
	}
	found = appendRelative(found, norm, low, today(now))
	slices.SortStableFunc(found, func(a, b dated) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	var real []dated
	for _, d := range withoutOverlaps(found) {
		if d.impossible {
			impossible = append(impossible, Extent{d.start, d.end})
		} else {
			real = append(real, d)
		}
	}
	list := joinNeighbours(low, real, today(now))
	return toSpans(joinRanges(low, list, today(now))), impossible
}

// namedDays contains how many days ago a named day is; all others are today.
var namedDays = map[string]int{
	"yesterday": 1, "last night": 1, "day before yesterday": 2,
	"昨日": 1, "昨夜": 1, "昨晩": 1, "きのう": 1, "一昨日": 2, "おととい": 2, "おとつい": 2, "さきおととい": 3, "一昨々日": 3, "一昨昨日": 3,
	"昨天": 1, "昨晚": 1, "前天": 2, "前晚": 2, "大前天": 3,
}

// readNamedDay reads "yesterday", 一昨日 and 大前天.
func readNamedDay(m match) (days, bool) {
	d := oneDay(m.today.AddDate(0, 0, -namedDays[m.get("day")]))
	d.near = true
	return d, true
}

// dated is an expression and its place in a text.
type dated struct {
	days
	start, end int
	// hangs reports a hyphen before the expression: it is the end of a range, or no date.
	hangs bool
}

// withoutOverlaps keeps the first of the expressions that overlap; of expressions with the same start the longest comes
// first.
func withoutOverlaps(list []dated) []dated {
	var kept []dated
	for _, d := range list {
		if len(kept) == 0 || d.start >= kept[len(kept)-1].end {
			kept = append(kept, d)
		}
	}
	return kept
}

// toSpans formats the days.
func toSpans(list []dated) []Span {
	var out []Span
	for _, d := range list {
		if d.first.Year() < 1 || d.last.Year() > 9999 {
			continue
		}
		out = append(out, Span{
			First: d.first.Format(time.DateOnly), Last: d.last.Format(time.DateOnly),
			Extent: Extent{d.start, d.end}, Numeric: d.numeric,
		})
	}
	return out
}

// dateRule is a family of expressions: their form and the days that they mean.
type dateRule struct {
	re *regexp.Regexp
	// days returns false for an expression that is no date, and for a day that is impossible.
	days func(m match) (days, bool)
}

// match is an occurrence of the expression of a rule.
type match struct {
	rule  dateRule
	norm  string
	low   string
	at    []int
	today time.Time
}

// appendDates appends all occurrences of the rules that are dates, including impossible ones.
func appendDates(found []dated, rules []dateRule, norm, low string, today time.Time) []dated {
	for _, r := range rules {
		for _, at := range r.re.FindAllStringSubmatchIndex(low, -1) {
			m := match{r, norm, low, at, today}
			if !m.standsAlone() {
				continue
			}
			if d, ok := r.days(m); ok || d.impossible && !m.hangs() {
				found = append(found, dated{d, m.start(), at[1], m.hangs()})
			}
		}
	}
	return found
}

// get returns a named group, "" if the group did not match.
func (m match) get(name string) string {
	i := m.rule.re.SubexpIndex(name)
	if i < 0 || m.at[2*i] < 0 {
		return ""
	}
	return m.low[m.at[2*i]:m.at[2*i+1]]
}

// start returns the start of the expression, without a word that only leads to it, such as "in".
func (m match) start() int {
	if i := m.rule.re.SubexpIndex("lead"); i >= 0 && m.at[2*i] >= 0 {
		return m.at[2*i+1] + 1
	}
	return m.at[0]
}

// capital reports whether a named group begins with a capital letter.
func (m match) capital(name string) bool {
	i := m.rule.re.SubexpIndex(name)
	return i >= 0 && m.at[2*i] >= 0 && analysis.StartsUpper(m.norm[m.at[2*i]:])
}

// before and after return the text around the expression.
func (m match) before() string { return m.low[:m.at[0]] }
func (m match) after() string  { return m.low[m.at[1]:] }

// follows reports whether the text right before the expression matches.
func (m match) follows(re *regexp.Regexp) bool { return re.MatchString(tail(m.before())) }

// precedes reports whether the text right after the expression begins with one of the words.
func (m match) precedes(words ...string) bool { return hasAnyPrefix(m.after(), words...) }

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// tail returns the end of a text, long enough for the words that lead to a date.
func tail(s string) string { return s[max(0, len(s)-40):] }

// hangs reports whether a hyphen joins the expression to the text before it.
func (m match) hangs() bool { return isASCIIWord(m.low[m.at[0]]) && strings.HasSuffix(m.before(), "-") }

// standsAlone reports whether the expression is no piece of an identifier, a path, a number or a time. A hyphen may
// precede it.
func (m match) standsAlone() bool {
	before, after := m.before(), m.after()
	if n := len(before); n > 0 && isASCIIWord(m.low[m.at[0]]) {
		if isASCIIWord(before[n-1]) || strings.IndexByte(`/._@#\$+`, before[n-1]) >= 0 {
			return false
		}
	}
	if after == "" || !isASCIIWord(m.low[m.at[1]-1]) {
		return true
	}
	if isASCIIWord(after[0]) || after[0] == '%' {
		return after[0] == 't' && isoClock.MatchString(after)
	}
	if len(after) == 1 || !isASCIIWord(after[1]) {
		return true
	}
	// A hyphen may lead to the end of a range.
	return strings.IndexByte(`/._@\:`, after[0]) < 0
}

// isoClock matches the time after the day in 2023-05-08T10:00.
var isoClock = regexp.MustCompile(`^t\d\d:?\d\d`)

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

func isASCIIWord(c byte) bool {
	return isLower(c) || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
