package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"kioku/cmd/kioku/internal/render"
)

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
