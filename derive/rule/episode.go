package rule

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/search/analysis"
)

// makeEpisodes cuts the lines into episodes.
func (d *Document) makeEpisodes() {
	seen := map[string]int{}
	d.byUID = map[string]int{}
	for _, s := range d.cut() {
		s = d.trim(s)
		if !d.saysSomething(s) {
			continue
		}
		e := d.episode(s)
		content := d.identity(s, e)
		seen[content]++
		e.UID = vocab.UnitUID("episode", content, fmt.Sprint(seen[content]))
		d.byUID[e.UID] = len(d.episodes)
		d.episodes, d.spans = append(d.episodes, e), append(d.spans, s)
	}
}

// trim returns a span without the blank lines at its ends.
func (d *Document) trim(s span) span {
	for s.from < s.to && d.lines[s.from].isBlank() {
		s.from++
	}
	for s.to > s.from && d.lines[s.to-1].isBlank() {
		s.to--
	}
	return s
}

// saysSomething reports whether a span has more than headings and blank lines.
func (d *Document) saysSomething(s span) bool {
	return slices.ContainsFunc(d.lines[s.from:s.to], func(l line) bool { return !l.isBlank() && l.role != heading })
}

// episode returns the episode of a span, without its UID.
func (d *Document) episode(s span) memory.Episode {
	first, last := d.lines[s.from].number, d.lines[s.to-1].number
	e := memory.Episode{
		Path: d.file.Path, Source: d.file.Source, StartLine: first, EndLine: last,
		TextSHA256: sha256.Sum256([]byte(strings.Join(d.raw[first-1:last], "\n"))),
		Date:       d.lines[s.from].day, OccurredAt: d.lines[s.from].at, Heading: d.lines[s.from].headings,
		LongTerm: d.longTerm,
	}
	for i := s.from; i < s.to; i++ {
		l := &d.lines[i]
		// What is left out of the episode still stands in its lines, which its chunks show.
		e.Sensitivity = max(e.Sensitivity, l.sensitivity)
		if e.Date == "" {
			e.Date = l.day
		}
		if !l.isBlank() && l.role != heading && !slices.Contains(e.Speakers, l.speaker) {
			e.Speakers = append(e.Speakers, l.speaker)
		}
	}
	if e.OccurredAt.IsZero() {
		e.OccurredAt = d.timeOf(e.Date, "")
	}
	e.Trust = leastTrust(e.Speakers)
	e.Salience = salience(d.lines[s.from:s.to], e)
	return e
}

// identity returns what the UID of an episode is the hash of: its text without marks, white space and the marks of lists, and what
// decides how it is read.
func (d *Document) identity(s span, e memory.Episode) string {
	var words []string
	for i := s.from; i < s.to; i++ {
		if l := &d.lines[i]; !l.isBlank() {
			words = append(words, strings.Fields(analysis.Normalize(l.text))...)
			words = append(words, "\x01"+l.speaker)
		}
	}
	content := strings.Join(words, " ")
	return strings.Join([]string{content, e.Date, e.Heading, e.Sensitivity.String(), d.about.key(), d.namesOwner(content)}, "\x00")
}

// namesOwner returns the names of the owner from the options that a text has, which decide whom its facts are about.
func (d *Document) namesOwner(content string) string {
	if len(d.rules.users) == 0 {
		return ""
	}
	norm := vocab.Norm(content)
	var names []string
	for name := range d.rules.users {
		if strings.Contains(norm, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, "\x01")
}

// leastTrust returns the least of what speakers are trusted with. What others say is trusted like what the agent says.
func leastTrust(speakers []string) string {
	order := []string{memory.SpeakerNote, memory.SpeakerUser, memory.SpeakerAssistant, memory.SpeakerTool}
	least := 0
	for _, s := range speakers {
		at := slices.Index(order, s)
		if at < 0 {
			at = 2
		}
		least = max(least, at)
	}
	return order[least]
}

// clock is a time of day at the beginning of a heading, maybe behind a day.
var clock = text.NewRegexp(`#+ (?:\d{4}-\d{2}-\d{2}[ T,]*)?(\d{1,2}):(\d{2})(?:[^\d]|$)`)

// timeOf returns the time of what stands on a day below headings: that of a time of day in the last heading with one, else noon; zero
// without a day.
func (d *Document) timeOf(day, headings string) time.Time {
	at, err := time.ParseInLocation(time.DateOnly, day, d.rules.opt.Location)
	if err != nil {
		return time.Time{}
	}
	hour, minute := 12, 0
	if all := clock.FindAllStringSubmatch(headings, -1); all != nil {
		h, _ := strconv.Atoi(all[len(all)-1][1])
		m, _ := strconv.Atoi(all[len(all)-1][2])
		if h < 24 && m < 60 {
			hour, minute = h, m
		}
	}
	return time.Date(at.Year(), at.Month(), at.Day(), hour, minute, 0, 0, d.rules.opt.Location)
}

// decisive are words of what matters later, and unfinished words of what is open.
var (
	decisive = strings.Fields(`decided decision agreed promised deadline launched released signed resigned married born died moved hired incident outage lesson important
		決定 決めた 決まった 合意 約束 締切 重要 忘れない 引っ越し 結婚 退職 入社 障害 教訓 决定 確定 确定 同意 答应 约定 截止 记住 搬家 结婚 离职 入职 故障 教训`)
	unfinished = append(strings.Fields(`todo follow-up 要対応 要確認 対応待ち やること 宿題 未対応 待办 待辦 待处理 待處理 需要跟进`), "[ ]", "follow up")
)

// salience returns how much an episode matters by rule, in [0,1].
func salience(lines []line, e memory.Episode) float64 {
	score := 0.3
	switch {
	case e.LongTerm && e.Trust == memory.SpeakerNote:
		score += 0.3
	case e.LongTerm:
		score += 0.2
	case e.Trust == memory.SpeakerTool:
		score -= 0.1
	}
	decided, open := false, false
	for i := range lines {
		if lines[i].role == prose || lines[i].role == heading {
			lower := strings.ToLower(lines[i].text)
			decided = decided || containsAny(lower, decisive...)
			open = open || containsAny(lower, unfinished...)
		}
	}
	if decided {
		score += 0.2
	}
	if open {
		score += 0.15
	}
	return min(score, 1)
}
