package chunker

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"
)

// logEntry is a line of a daily log.
type logEntry struct {
	Time     string `json:"ts"`
	Category string `json:"category"`
	Content  string `json:"content"`
}

// splitLog returns a chunk for each line, or several if the line is over the budget.
func splitLog(opts Options, counter *counter, text string) []Chunk {
	var chunks []Chunk
	line := 0
	for raw := range strings.Lines(text) {
		line++
		entry, date := parseEntry(raw)
		o := newOutline(opts, counter, DailyLog, entry)
		o.pushPlain(entry)
		for _, chunk := range newPacker(o).chunks() {
			chunk.StartLine, chunk.EndLine, chunk.Date = line, line, date
			chunks = append(chunks, chunk)
		}
	}
	return chunks
}

// parseEntry returns the text of an entry and its date. A line that is not an entry, has no content or has other keys is
// its own text.
func parseEntry(line string) (text, date string) {
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

// calendarDay returns the date that text starts with, as YYYY-MM-DD, or "" if it is not a calendar day.
func calendarDay(text string) string {
	text = text[:min(len(text), len(time.DateOnly))]
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return ""
	}
	return text
}
