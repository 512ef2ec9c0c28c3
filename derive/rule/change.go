package rule

import (
	"strings"
	"time"

	"kioku/internal/text"
	"kioku/search/dates"
)

var (
	// changing tells of a change, which happened on the day that the sentence names: "moved to Porto last week".
	changing = gate{
		strings.Fields("moved relocated started joined took switched since 引っ 引越 移住 転居 転職 入社 搬 移居 迁居 入职 跳槽 から"),
		text.NewRegexp(`(?i)\b(?:moved|relocated|started|joined|took a job|switched|since)\b|引っ?越|移住|転居|転職|入社|搬到|搬去|搬家|移居|迁居|入职|跳槽|から`),
	}
	// beforeDay and afterDay belong to the words for a day: "since last week", "先月から".
	beforeDay = text.NewRegexp(`(?i)[\s,;、，]*(?:\b(?:since|in|on))?\s*$`)
	afterDay  = text.NewRegexp(`^(?:から|より|に)?[\s,、，]*`)
)

// takeChangeDay removes from a sentence that tells of a change the words that say when it happened, as seen from the day of anchor:
// "I moved to Porto last week". It returns the rest and the first of these days, or the text as it is if it names none, or several.
func takeChangeDay(sentence string, anchor time.Time) (rest, from string) {
	if anchor.IsZero() || !changing.matches(sentence, strings.ToLower(sentence)) {
		return sentence, ""
	}
	spans, _ := dates.Parse(sentence, anchor)
	if len(spans) != 1 || spans[0].Numeric {
		return sentence, ""
	}
	day := spans[0]
	before, after := sentence[:day.Start], sentence[day.End:]
	before = before[:beforeDay.FindStringIndex(before)[0]]
	after = after[afterDay.FindStringIndex(after)[1]:]
	if before != "" && startsLatin(after) {
		after = " " + after
	}
	return strings.TrimSpace(before + after), periodFrom(day)
}

// periodFrom returns the month or the year that a span is, or else its first day.
func periodFrom(day dates.Span) string {
	first, err := time.Parse(time.DateOnly, day.First)
	if err != nil {
		return day.First
	}
	for layout, next := range map[string]time.Time{"2006": first.AddDate(1, 0, 0), "2006-01": first.AddDate(0, 1, 0)} {
		if whole, _ := time.Parse(layout, first.Format(layout)); whole.Equal(first) && next.AddDate(0, 0, -1).Format(time.DateOnly) == day.Last {
			return first.Format(layout)
		}
	}
	return day.First
}
