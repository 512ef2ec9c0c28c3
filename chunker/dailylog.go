package chunker

import (
	"bytes"
	"encoding/json"
	"io"
	"time"
)

// logEntry is a line of a daily log.
type logEntry struct {
	Time     string `json:"ts"`
	Category string `json:"category"`
	Content  string `json:"content"`
}

// splitLog makes a chunk of every line, or several of one that is over the budget.
func splitLog(opts Options, counter *counter, text string) []Chunk {
	var chunks []Chunk
	for line := 1; text != ""; line++ {
		raw := firstLine(text)
		text = text[len(raw):]
		entry, date := readEntry(raw)
		o := newOutline(opts, counter, DailyLog, entry)
		o.plain(entry)
		for _, chunk := range newWalk(o).chunks() {
			chunk.StartLine, chunk.EndLine, chunk.Date = line, line, date
			chunks = append(chunks, chunk)
		}
	}
	return chunks
}

// readEntry returns the text of a line and the date it tells. A line that is no entry, says nothing, or holds more
// than an entry has room for is its own text.
func readEntry(line string) (text, date string) {
	var e logEntry
	d := json.NewDecoder(bytes.NewReader([]byte(line)))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return line, ""
	}
	if _, err := d.Token(); err != io.EOF {
		return line, ""
	}
	date = calendarDay(e.Time)
	content := Normalize([]byte(e.Content))
	switch {
	case isBlank(content):
		return line, date
	case isBlank(e.Category):
		return content, date
	}
	return e.Category + ": " + content, date
}

// calendarDay returns the date that text starts with, as YYYY-MM-DD; empty if it is no calendar day.
func calendarDay(text string) string {
	text = text[:min(len(text), len(time.DateOnly))]
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return ""
	}
	return text
}
