package rule

import (
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/search/analysis"
	"kioku/search/dates"
)

var (
	// foreignList are files whose check boxes are for whoever reads them, and foreignFolder folders of what programs and forges read.
	foreignList   = text.NewRegexp(`(?i)^(?:readme|agents|bootstrap|heartbeat|identity|soul|tools|skill|claude|gemini|contributing|changelog|releasing|install|usage|pull_request.*|issue_.*|security|license|.*template|(?:.*[-_])?checklist)(?:[-_.].*)?$`)
	foreignFolder = text.NewRegexp(`(?:^|/)(?:\.[^./][^/]*|node_modules|vendor)/`)
)

// mayHaveLoops reports whether check boxes and the like in the file are the owner's: not those of forms, guides and transcripts of the
// agent.
func (d *Document) mayHaveLoops(e memory.Episode) bool {
	if memory.IsTranscript(d.file.Source) || d.longTerm || isDailyLog(d.file.Path) {
		return true
	}
	if d.asForm || foreignList.MatchString(path.Base(d.file.Path)) || foreignFolder.MatchString(d.file.Path) {
		return false
	}
	return e.Date != "" || d.file.Source == memory.SourceMemory
}

var (
	// loopLabel begins what is open.
	loopLabel = text.NewRegexp(`^(?:TODO(?:\([^)]{1,20}\))?|(?i:to-?do|action item|open question|follow[- ]up)|要対応|要確認|対応待ち|やること|宿題|未対応|待办(?:事项)?|待辦(?:事項)?|待处理|待處理)\s*[:：]\s*(\S.*)$`)
	// doneLabel begins what is done.
	doneLabel = text.NewRegexp(`^(?:(?i:done|finished|completed)|完了|対応済み?|済み?|已完成|完成)\s*[:：]\s*(\S.*)$`)
	// loopHeading is the title of a list of what is open.
	loopHeading = text.NewRegexp(`(?i)^(?:\d{1,2}:\d{2}\s*[-–—]?\s*)?(?:todos?|to-?dos?|open (?:items|loops|questions|points)|action items|next steps|やること|宿題|未対応|要対応|待办|待办事项|待辦)$`)
	// pointer is an item that only says where to read on: [Channels](/channels) - all of them.
	pointer = text.NewRegexp(`^(?:[^\[\]]{1,80}[:：]\s*)?\[[^\]]+\]\([^)]*\)(?:\s*(?:[-–—]+|[:：])\s.*)?\.?$`)
)

// maxLoop is the maximum number of characters of a loop.
const maxLoop = 300

// loopOf returns the claim of a paragraph that something is open or done; false if it says neither.
func (d *Document) loopOf(p *paragraph, e memory.Episode) (unit.Claim, bool) {
	if p.speaker == memory.SpeakerAssistant && memory.IsTranscript(d.file.Source) {
		return unit.Claim{}, false
	}
	words, done, ok := loopWords(p)
	words = vocab.Plain(text.OneLine(words))
	if !ok || vocab.Norm(words) == "" || utf8.RuneCountInString(words) > maxLoop {
		return unit.Claim{}, false
	}
	c := d.claim(unit.ClaimLoop, p, e)
	c.Confidence = 0.8
	if p.task != 0 {
		c.Confidence = 0.9
	}
	if done {
		c.Kind, c.LoopText, c.Closes = unit.ClaimClose, words, vocab.LoopKey(words)
		return c, true
	}
	c.LoopText = words
	rest, due := vocab.SplitDue(words)
	if due == "" {
		c.Due = dueWithin(words, e.OccurredAt)
	} else if c.Due = dueDay(due, e.OccurredAt); c.Due != "" {
		c.LoopText = rest
	}
	return c, true
}

// loopWords returns what a paragraph says is open, or done.
func loopWords(p *paragraph) (words string, done, ok bool) {
	if p.task != 0 {
		return vocab.TrimLoopMark(p.text), p.task == 'x', true
	}
	if m := loopLabel.FindStringSubmatch(p.text); m != nil {
		return m[1], false, true
	}
	if m := doneLabel.FindStringSubmatch(p.text); m != nil {
		return m[1], true, true
	}
	titles := titlesOf(p.headings)
	listed := p.item && p.indent == 0 && len(titles) > 0 && loopHeading.MatchString(titles[len(titles)-1]) && !pointer.MatchString(p.text)
	return p.text, false, listed
}

var (
	// dueBefore and dueAfter stand beside the day on which something in the middle of a text is due: "before December 5", 12月1日までに.
	dueBefore = text.NewRegexp(`(?i)\b(?:due(?: on| by)?|by|before|no later than)\s+(?:the )?$`)
	dueAfter  = text.NewRegexp(`^(?:までに?|之前|以前|前)`)
	// limit are the words for an end, without which package dates reads the day itself.
	limit = text.NewRegexp(`(?i)\b(?:due|by|before|until|no later than|(?:the )?end of)\b|(?:まで|迄)に?|之前|以前|前$`)
	// plainWeek is a week, a month or a year by itself: that which is now.
	plainWeek = text.NewRegexp(`(?i)^\W*(?:the |eo)?(week|month|year|w)\b`)
)

// presentFor replaces the words for the week and the month after this one by those for this one.
var presentFor = strings.NewReplacer("next ", "this ", "来週", "今週", "下周", "本周", "下星期", "这星期", "来月", "今月", "下个月", "这个月")

// nearDays are the words for days that are not past, which package dates does not read, and how many days they are ahead.
var nearDays = []struct {
	words []string
	ahead int
}{
	{[]string{"明後日", "后天", "後天"}, 2},
	{[]string{"tomorrow", "明日", "明天"}, 1},
	{[]string{"today", "tonight", "noon", "eod", "今日", "今天"}, 0},
}

// dueDay returns the day that the words of a due date name, seen from the time of the episode; empty if they name none, or one before.
func dueDay(words string, at time.Time) string {
	if at.IsZero() {
		spans, _ := dates.Parse(analysis.Normalize(limit.ReplaceAllString(words, "")), at)
		return lastFrom(spans, "")
	}
	words = limit.ReplaceAllString(strings.ToLower(analysis.Normalize(words)), "")
	for _, day := range nearDays {
		if containsAny(words, day.words...) {
			return at.AddDate(0, 0, day.ahead).Format(time.DateOnly)
		}
	}
	words = plainWeek.ReplaceAllString(words, "this $1")
	if present := presentFor.Replace(words); present != words {
		ahead := at.AddDate(0, 0, 7)
		if containsAny(present, "month", "今月", "这个月") {
			ahead = at.AddDate(0, 1, 0)
		}
		words, at = present, ahead
	}
	return upcoming(words, at)
}

// upcoming returns the first day from a time on that a text names. Package dates reads a day without its year as the last one, so that
// it is asked again as if a week and a year had passed.
func upcoming(words string, at time.Time) string {
	for _, ahead := range []int{0, 6, 364} {
		spans, _ := dates.Parse(words, at.AddDate(0, 0, ahead))
		if day := lastFrom(spans, at.Format(time.DateOnly)); day != "" {
			return day
		}
	}
	return ""
}

// lastFrom returns the last day of the first span, empty if it is before another day or there is no span.
func lastFrom(spans []dates.Span, day string) string {
	if len(spans) == 0 || spans[0].Last < day {
		return ""
	}
	return spans[0].Last
}

// dueWithin returns the day on which something is due that stands in the middle of a text, empty if there is none.
func dueWithin(words string, at time.Time) string {
	words = analysis.Normalize(words)
	spans, _ := dates.Parse(limit.ReplaceAllStringFunc(words, blankOut), at)
	for _, s := range spans {
		if dueBefore.MatchString(words[:s.Start]) || dueAfter.MatchString(words[s.End:]) {
			return dueDay(words[s.Start:s.End], at)
		}
	}
	return ""
}

// blankOut returns as many blanks as a text has bytes.
func blankOut(s string) string { return strings.Repeat(" ", len(s)) }

func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
