package rule

import (
	"strings"
	"time"
	"unicode/utf8"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

var (
	// loopLabel begins what is open.
	loopLabel = text.NewRegexp(`^(?:TODO(?:\([^)]{1,20}\))?|(?i:to-?do|action item|open question|follow[- ]up)|要対応|要確認|対応待ち|やること|宿題|未対応|待办(?:事项)?|待辦(?:事項)?|待处理|待處理)\s*[:：]\s*(\S.*)$`)
	// doneLabel begins what is done, and doneTail ends it.
	doneLabel = text.NewRegexp(`^(?:(?i:done|finished|completed)|完了|対応済み?|済み?|已完成|完成)\s*[:：]\s*(\S.*)$`)
	doneTail  = text.NewRegexp(`^(\S.*?)\s*[（(【\[](?:(?i:done)|済み?|完了|対応済み?|已完成|完成)[)）】\]]$`)
	doneAfter = text.NewRegexp(`^(\S.*?)[.;,:]?\s+(?i:done|finished)(?: at \d{1,2}:\d{2}| on \d{4}-\d{2}-\d{2})?\.?$`)
	struckOut = text.NewRegexp(`^~~(.+)~~$`)
	// loopHeading is the title of a list of what is open.
	loopHeading = text.NewRegexp(`(?i)^(?:\d{1,2}:\d{2}\s*[-–—]?\s*)?(?:todos?|to-?dos?|open (?:items|loops|questions|points)|action items|next steps|やること|宿題|未対応|要対応|待办|待办事项|待辦)$`)
	// pointer is an item that only says where to read on: [Channels](/channels) - all of them, or Compare hosts: [Linux](/vps).
	pointer = text.NewRegexp(`^(?:[^\[\]]{1,80}[:：]\s*)?\[[^\]]+\]\([^)]*\)(?:\s*(?:[-–—]+|[:：])\s.*)?\.?$`)
	// ownerBox is an answer, not something to do.
	ownerBox = text.NewRegexp(`^(?:not applicable|n/?a|yes|no|none|はい|いいえ|是|否)$`)
)

// maxLoop is the maximum number of characters of a loop.
const maxLoop = 300

// loopOf returns the claim of a paragraph that something is open or done; false if it says neither.
func (d *Document) loopOf(p *paragraph, e memory.Episode) (unit.Claim, bool) {
	if p.speaker == memory.SpeakerTool || p.speaker == memory.SpeakerAssistant && memory.IsTranscript(d.file.Source) {
		return unit.Claim{}, false
	}
	words, done, ok := loopWords(p)
	words = plain(text.OneLine(words))
	if !ok || vocab.Norm(words) == "" || utf8.RuneCountInString(words) > maxLoop || ownerBox.MatchString(strings.ToLower(words)) {
		return unit.Claim{}, false
	}
	c := d.claim(unit.ClaimLoop, p.text, p.first, p.last, p, e)
	c.Confidence = 0.8
	if p.task != 0 {
		c.Confidence = 0.9
	}
	if done {
		c.Kind, c.LoopText, c.Closes = unit.ClaimClose, words, vocab.LoopKey(words)
		return c, true
	}
	rest, due := vocab.SplitDue(words)
	if due == "" {
		rest, due = words, dueInside.FindString(words)
	}
	if c.LoopText, c.Due = words, dueDay(due, e.OccurredAt); c.Due != "" {
		c.LoopText = rest
	}
	return c, true
}

// loopWords returns what a paragraph says is open, or done.
func loopWords(p *paragraph) (words string, done, ok bool) {
	switch {
	case p.task != 0:
		return vocab.TrimLoopMark(p.text), p.task == 'x', true
	case loopLabel.MatchString(p.text):
		return stillOpen(loopLabel.FindStringSubmatch(p.text)[1])
	case doneLabel.MatchString(p.text):
		return doneLabel.FindStringSubmatch(p.text)[1], true, true
	case p.item && struckOut.MatchString(p.text):
		return struckOut.FindStringSubmatch(p.text)[1], true, true
	case p.item && doneTail.MatchString(p.text):
		return doneTail.FindStringSubmatch(p.text)[1], true, true
	}
	titles := titlesOf(p.headings)
	if p.item && p.indent == 0 && len(titles) > 0 && loopHeading.MatchString(titles[len(titles)-1]) && !pointer.MatchString(p.text) {
		return stillOpen(p.text)
	}
	return "", false, false
}

// stillOpen returns the words of a list of what is open, and whether they end by saying that it is done.
func stillOpen(text string) (words string, done, ok bool) {
	if m := doneAfter.FindStringSubmatch(text); m != nil {
		return m[1], true, true
	}
	return text, false, true
}

var (
	// dueInside is a due date in the middle of a text.
	dueInside  = text.NewRegexp(`(?i)\b(?:due(?: on| by)?|by|before|no later than)\s+(?:the |next |this |end of )*(?:\d{4}-\d{2}-\d{2}|(?:` + month + `)\b(?: \d{1,2}\b)?|\d{1,2}(?:st|nd|rd|th)? (?:` + month + `)\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|week|month)\b|(?:\d{1,2}月\d{1,2}日|(?:今|来)週の?[月火水木金土日]?曜?日?|明日|今週中|月末)までに?|(?:\d{1,2}月\d{1,2}[日号號]|(?:下|本|这)?周[一二三四五六日天末]|明天|月底)(?:之前|以前|前)`)
	isoDay     = text.NewRegexp(`\d{4}-\d{2}-\d{2}`)
	monthDay   = text.NewRegexp(`(?i)\b(?:(\d{1,2})(?:st|nd|rd|th)?(?: of)? )?(` + month + `)\b\.?(?: (\d{1,2})(?:st|nd|rd|th)?\b)?(?:,? (\d{4}))?`)
	hanMonth   = text.NewRegexp(`(?:(\d{4})年)?(\d{1,2})月(?:(\d{1,2})[日号號]?|(上旬|初)|(中旬))?`)
	slashDay   = text.NewRegexp(`\b(\d{1,2})/(\d{1,2})\b`)
	weekday    = text.NewRegexp(`(?i)\b(mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?(?:day)?\b`)
	hanWeekday = text.NewRegexp(`(?:周|星期|礼拜|禮拜)([一二三四五六日天])|([月火水木金土日])曜|週の?([月火水木金土日])`)
	nextWord   = text.NewRegexp(`(?i)\bnext\b|来週|下周|下个?星期|下禮拜|下礼拜|来月|下个?月|来年|明年`)
)

// dueDay returns the day that the words of a due date name, seen from the time of the episode; empty if they name none, or one before.
func dueDay(words string, at time.Time) string {
	if words == "" {
		return ""
	}
	day := absoluteDay(words, at)
	if day == "" && !at.IsZero() {
		day = relativeDay(strings.ToLower(words), at)
	}
	if !at.IsZero() && day < at.Format(time.DateOnly) {
		return ""
	}
	return day
}

// absoluteDay returns the day of words with a date.
func absoluteDay(words string, at time.Time) string {
	if day := isoDay.FindString(words); day != "" {
		return calendarDay(day)
	}
	var year, mon, day string
	switch {
	case hanMonth.MatchString(words):
		m := hanMonth.FindStringSubmatch(words)
		year, mon, day = m[1], m[2], m[3]
		if m[4] != "" {
			day = "10"
		} else if m[5] != "" {
			day = "20"
		}
	case monthDay.MatchString(words):
		m := monthDay.FindStringSubmatch(words)
		year, mon, day = m[4], monthNumber(m[2]), m[1]+m[3]
	case slashDay.MatchString(words):
		m := slashDay.FindStringSubmatch(words)
		mon, day = m[1], m[2]
	default:
		return ""
	}
	if year == "" && at.IsZero() {
		return ""
	}
	y, mo, d := atoi(year), atoi(mon), atoi(day)
	if mo < 1 || mo > 12 || d > 31 {
		return ""
	}
	if y == 0 {
		y = at.Year()
		if first := time.Date(y, time.Month(mo), max(d, 28), 23, 59, 0, 0, at.Location()); first.Before(at) {
			y++
		}
	}
	if d == 0 {
		return time.Date(y, time.Month(mo)+1, 0, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	}
	out := time.Date(y, time.Month(mo), d, 0, 0, 0, 0, time.UTC)
	if out.Day() != d {
		return ""
	}
	return out.Format(time.DateOnly)
}

// relativeDay returns the day of words that are relative to the time of the episode.
func relativeDay(words string, at time.Time) string {
	next := nextWord.MatchString(words)
	toSunday := (7 - int(at.Weekday())) % 7
	switch {
	case weekday.MatchString(words):
		name := strings.ToLower(weekday.FindStringSubmatch(words)[1])
		return toWeekday(at, strings.Index("sunmontuewedthufrisat", name)/3, next)
	case hanWeekday.MatchString(words):
		m := hanWeekday.FindStringSubmatch(words)
		return toWeekday(at, weekdayNumber(m[1]+m[2]+m[3]), next)
	case containsAny(words, "明後日", "后天", "後天"):
		return at.AddDate(0, 0, 2).Format(time.DateOnly)
	case containsAny(words, "tomorrow", "明日", "明天"):
		return at.AddDate(0, 0, 1).Format(time.DateOnly)
	case containsAny(words, "today", "tonight", "noon", "eod", "今日", "今天"):
		return at.Format(time.DateOnly)
	case containsAny(words, "year", "年末", "年底", "今年中"):
		return time.Date(at.Year()+bit(next), 12, 31, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	case containsAny(words, "month", "月末", "月底", "今月", "来月", "个月", "本月"):
		return time.Date(at.Year(), at.Month()+time.Month(1+bit(next)), 0, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	case containsAny(words, "week", "eow", "週", "周", "星期"):
		return at.AddDate(0, 0, toSunday+7*bit(next)).Format(time.DateOnly)
	}
	return ""
}

// toWeekday returns the next such weekday from a day on; with next, that of the next week of the calendar, which begins on Monday.
func toWeekday(at time.Time, day int, next bool) string {
	ahead := (day - int(at.Weekday()) + 7) % 7
	if next {
		monday := at.AddDate(0, 0, 7-(int(at.Weekday())+6)%7)
		return monday.AddDate(0, 0, (day+6)%7).Format(time.DateOnly)
	}
	return at.AddDate(0, 0, ahead).Format(time.DateOnly)
}

// weekdayNumber returns the number of a weekday, 0 for Sunday, by its character in Japanese or Chinese.
func weekdayNumber(name string) int {
	for _, week := range []string{"日月火水木金土", "天一二三四五六"} {
		if i := strings.Index(week, name); i >= 0 {
			return i / 3
		}
	}
	return 0
}
