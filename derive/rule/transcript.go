package rule

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
	"time"

	"kioku/chunker"
	"kioku/memory"
)

const (
	userSays      = "User: "
	assistantSays = "Assistant: "
)

// readTranscript reads a transcript: one line of the document for each line of what is said.
func (d *Document) readTranscript() {
	if d.rules.opt.Transcript == nil {
		return
	}
	spoken := d.rules.opt.Transcript(d.file.Source)
	if spoken == nil {
		return
	}
	d.sensitivity = d.rules.sensitivityOf(d.file.Path)
	number, private := 0, false
	answered := true
	for raw := range bytes.Lines(d.file.Data) {
		number++
		d.raw = append(d.raw, strings.TrimSuffix(string(raw), "\n"))
		text, at := spoken(raw)
		speaker, text := whoSays(text)
		text = memory.StripRecalled(chunker.Normalize([]byte(text)))
		if strings.TrimSpace(text) == "" {
			continue
		}
		starts := speaker != memory.SpeakerAssistant && answered
		answered = speaker == memory.SpeakerAssistant
		said := d.message(number, text, speaker, at)
		if starts && len(said) > 0 {
			said[0].starts, private = true, false
		}
		private = spreadPrivate(said, private)
		d.lines = append(d.lines, said...)
	}
}

// spreadPrivate makes the lines of a message private if what was said before it left <private> open. It reports whether this holds
// behind the message.
func spreadPrivate(said []line, open bool) bool {
	for i := range said {
		if open {
			said[i].sensitivity = max(said[i].sensitivity, memory.Private)
		}
		for _, tag := range privateTag.FindAllStringSubmatch(said[i].text, -1) {
			open = tag[1] == ""
		}
	}
	return open
}

// whoSays returns the speaker of what is said on a line of a transcript, and the words.
func whoSays(said string) (speaker, words string) {
	if words, ok := strings.CutPrefix(said, assistantSays); ok {
		return memory.SpeakerAssistant, words
	}
	words, ok := strings.CutPrefix(said, userSays)
	if !ok {
		return memory.SpeakerTool, said
	}
	if label, rest, ok := strings.Cut(strings.TrimPrefix(words, "["), "] "); ok && strings.HasPrefix(words, "[") && !strings.Contains(label, "\n") {
		if strings.HasSuffix(label, " (owner)") {
			return memory.SpeakerUser, rest
		}
		return otherSpeaker(label), rest
	}
	return memory.SpeakerUser, words
}

// message returns the lines of a message at a line of the file.
func (d *Document) message(number int, text, speaker string, at time.Time) []line {
	levels := sensitivities(text, strings.Count(text, "\n")+1)
	var said []line
	for i, in := range chunker.Lines(text, "", true) {
		l := line{number: number, text: strings.TrimRight(in.Text, " \t\r\n"), speaker: speaker, sensitivity: max(levels[i], d.sensitivity)}
		if !at.IsZero() {
			l.at, l.day = at, at.In(d.rules.opt.Location).Format(time.DateOnly)
		}
		switch {
		case in.Fence != "" || in.Block > 0 && in.Level == 0 && !in.Underline:
			l.role = code
		case strings.HasPrefix(strings.TrimLeft(l.text, " \t"), ">"):
			l.speaker = memory.SpeakerTool
		case isViewLine(l.text):
			l.role = hidden
		}
		said = append(said, l)
	}
	setOrders(said, false)
	return said
}

// isDailyLog reports whether a file has an entry of JSON on each line.
func isDailyLog(p string) bool { return chunker.KindOf(path.Clean(p)) == chunker.DailyLog }

// readDailyLog reads a file of entries {ts, category, content}, each of which is an episode.
func (d *Document) readDailyLog() {
	d.sensitivity = d.rules.sensitivityOf(d.file.Path)
	number := 0
	for raw := range bytes.Lines(d.file.Data) {
		number++
		d.raw = append(d.raw, strings.TrimSuffix(string(raw), "\n"))
		var e struct {
			Time     string `json:"ts"`
			Category string `json:"category"`
			Content  string `json:"content"`
		}
		if json.Unmarshal(raw, &e) != nil || strings.TrimSpace(e.Content) == "" {
			continue
		}
		at, _ := time.Parse(time.RFC3339, e.Time)
		// The agent wrote it, whoever told it.
		said := d.message(number, memory.StripRecalled(chunker.Normalize([]byte(e.Content))), memory.SpeakerAssistant, at)
		for i := range said {
			if said[i].day == "" && len(e.Time) >= len(time.DateOnly) {
				said[i].day = calendarDay(e.Time[:len(time.DateOnly)])
			}
			if said[i].day == "" {
				said[i].day = d.file.Date
			}
			said[i].starts = i == 0
		}
		d.lines = append(d.lines, said...)
	}
}

// calendarDay returns a day if it is one, else "".
func calendarDay(day string) string {
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return ""
	}
	return day
}
