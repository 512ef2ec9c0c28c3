package text_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kioku/internal/text"
)

func TestFindDay(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-01-20":             "2026-01-20",
		"20260120":               "2026-01-20",
		"2026_01_20":             "2026-01-20",
		"2026.01.20":             "2026-01-20",
		"x2026-01-20y":           "2026-01-20",
		"Standup 20260120 kyoto": "2026-01-20",
		"20260120T0915":          "2026-01-20",
		"会議2026-01-20":           "2026-01-20",
		"1-2026-01-20":           "2026-01-20",
		"2026-02-30 2026-03-01":  "2026-03-01",
		"20260230":               "",
		"120260120":              "",
		"202601201":              "",
		"202601201030":           "",
		"2026-01-201":            "",
		"12026-01-20":            "",
		"2026-01_20":             "",
		"2026-0120":              "",
		"202601-20":              "",
		"2026-1-20":              "",
		"1899-12-31":             "",
		"2200-01-01":             "",
		"1900-01-01":             "1900-01-01",
		"2026":                   "",
		"":                       "",
	} {
		t.Run(in, func(t *testing.T) {
			got, start, end := text.FindDay(in)
			if got != want {
				t.Fatalf("%q, want %q", got, want)
			}
			if compact := strings.NewReplacer("-", "", "_", "", ".", ""); compact.Replace(in[start:end]) != compact.Replace(want) {
				t.Errorf("the day is at %q", in[start:end])
			}
		})
	}
}

// Every day of the calendar is found in any surroundings without digits, and what is found is a day of the calendar.
func TestFindDayFindsEveryDay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		beside := rapid.StringMatching(`[a-z 日_]{0,5}`)
		day := time.Date(1900, 1, 1+rapid.IntRange(0, 109_570).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
		layout := rapid.SampledFrom([]string{time.DateOnly, "20060102", "2006_01_02", "2006.01.02"}).Draw(t, "layout")
		s := beside.Draw(t, "before") + day.Format(layout) + beside.Draw(t, "after")
		if got, _, _ := text.FindDay(s); got != day.Format(time.DateOnly) {
			t.Fatalf("%q has the day %q", s, got)
		}
	})
}
