package main

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"kioku/cmd/kioku/internal/render"
)

var (
	// place matches a path with lines: path:from, path:from:count, or the citation of a result, path#L3-L9 or path#L3.
	place = regexp.MustCompile(`^(.+?)(?:#L(\d+)(?:-L?(\d+))?|:(\d+)(?::(\d+))?)$`)
	// mistaken matches the path of a memory file followed by something that is no line number.
	mistaken = regexp.MustCompile(`(?i)^(.+?\.(?:md|jsonl))([:#].*)$`)
	// memoryFile matches a path that ends like a memory file.
	memoryFile = regexp.MustCompile(`(?i)\.(?:md|jsonl)$`)
)

// parsePlace parses path, path:from, path:from:count or a citation. A number that is not given is 0. A colon without a
// number after it belongs to the path, unless the text before it is the path of a memory file.
func parsePlace(s string) (path string, from, count int32, err error) {
	m := place.FindStringSubmatch(s)
	if m == nil {
		return s, 0, 0, checkPath(s)
	}
	if from, err = lineNumber(m[2] + m[4]); err == nil && m[3]+m[5] != "" {
		count, err = lineNumber(m[3] + m[5])
	}
	if m[3] != "" {
		count = max(count-from+1, 1)
	}
	if err == nil {
		err = checkPath(m[1])
	}
	return m[1], from, count, err
}

// checkPath returns a misuse if the path of a memory file is followed by something that is no line number.
func checkPath(path string) error {
	m := mistaken.FindStringSubmatch(path)
	if m == nil || memoryFile.MatchString(path) {
		return nil
	}
	return render.Misuse("%q does not name lines of %s; write %s:7, %s:7:12 or %s#L7-L18", m[2], m[1], m[1], m[1], m[1])
}

func lineNumber(s string) (int32, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 1 {
		return 0, render.Misuse("%s is not a line number; lines count from 1", s)
	}
	return int32(n), nil
}

// momentOf parses a time of RFC 3339 or a day, which means its noon. An empty text is the zero time.
func momentOf(text string, zone *time.Location) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		return day.Add(12 * time.Hour), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, render.Misuse("--now must be a day like 2026-01-20 or a time like 2026-01-20T15:04:05Z, not %q", text)
	}
	return t.In(zone), nil
}

// daysOf returns the first and the last day of a span: a month (2026-03), today or yesterday. A day or a time is returned as it
// is, and any other text with false.
func daysOf(text string, today time.Time) (first, last string, ok bool) {
	switch word := strings.ToLower(strings.TrimSpace(text)); word {
	case "today", "yesterday":
		day := today
		if word == "yesterday" {
			day = today.AddDate(0, 0, -1)
		}
		return day.Format(time.DateOnly), day.Format(time.DateOnly), true
	default:
		month, err := time.Parse("2006-01", word)
		if err == nil {
			return month.Format(time.DateOnly), month.AddDate(0, 1, -1).Format(time.DateOnly), true
		}
		_, notDay := time.Parse(time.DateOnly, text)
		_, notTime := time.Parse(time.RFC3339, text)
		return text, text, notDay == nil || notTime == nil
	}
}

// argumentText returns the arguments as one text, or the text of standard input.
func (a *app) argumentText(args []string) (string, error) {
	if len(args) != 1 || args[0] != "-" {
		return strings.Join(args, " "), nil
	}
	text, err := io.ReadAll(io.LimitReader(a.stdin, render.MaxTextBytes+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(text) > render.MaxTextBytes {
		return "", render.Misuse("standard input has more than %d bytes; split the text", render.MaxTextBytes)
	}
	if !utf8.Valid(text) {
		return "", render.Misuse("standard input is not valid UTF-8")
	}
	return string(text), nil
}
