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
		"2026-01-20":                   "2026-01-20",
		"20260120":                     "2026-01-20",
		"2026_01_20":                   "2026-01-20",
		"2026.01.20":                   "2026-01-20",
		"x2026-01-20y":                 "2026-01-20",
		"Standup 20260120 kyoto":       "2026-01-20",
		"20260120T0915":                "2026-01-20",
		"会議2026-01-20":                 "2026-01-20",
		"1-2026-01-20":                 "2026-01-20",
		"2026-02-30 2026-03-01":        "2026-03-01",
		"20260230":                     "",
		"120260120":                    "",
		"202601201":                    "",
		"202601201030":                 "2026-01-20",
		"20260120103059":               "2026-01-20",
		"202601202430":                 "",
		"12345678901234":               "",
		"2026012010305":                "",
		"2026-01-201":                  "",
		"12026-01-20":                  "",
		"2026-01_20":                   "",
		"2026-0120":                    "",
		"202601-20":                    "",
		"2026-1-20":                    "2026-01-20",
		"2026_2_9":                     "2026-02-09",
		"2026/02/14":                   "2026-02-14",
		"2026.1.20":                    "",
		"2026.01.20.1":                 "",
		"v2026.01.20":                  "",
		"version 1.2.2026":             "",
		"app-5.2.2026":                 "2026-02-05",
		"v5.2.2026":                    "",
		"192.5.2.2026":                 "",
		"5.2.2026.1":                   "",
		"0171 2026 0203":               "",
		"05.02.2026":                   "2026-02-05",
		"5. 2. 2026":                   "2026-02-05",
		"February 8th, 2026":           "2026-02-08",
		"february_8_2026":              "2026-02-08",
		"Feb. 8 2026":                  "2026-02-08",
		"8 February 2026":              "2026-02-08",
		"8th of Sept 2026":             "2026-09-08",
		"08-Feb-2026":                  "2026-02-08",
		"30 February 2026":             "",
		"Sun Feb 15 10:00:00 CET 2026": "2026-02-15",
		"2026年2月9日":                    "2026-02-09",
		"2026년 2월 9일":                  "2026-02-09",
		"25-06-2026":                   "2026-06-25",
		"06-25-2026":                   "2026-06-25",
		"05-05-2026":                   "2026-05-05",
		"05-06-2026":                   "",
		"05/06-2026":                   "",
		"1899-12-31":                   "",
		"2200-01-01":                   "",
		"1900-01-01":                   "1900-01-01",
		"2026":                         "",
		"":                             "",
	} {
		t.Run(in, func(t *testing.T) {
			got, start, end := text.FindDay(in)
			if got != want {
				t.Fatalf("%q, want %q", got, want)
			}
			if again, _, _ := text.FindDay(in[start:end]); again != want || start > 0 && end < start {
				t.Errorf("the day is at %q", in[start:end])
			}
		})
	}
}

// Every day of the calendar is found in any surroundings without digits, and what is found is a day of the calendar.
func TestFindDayFindsEveryDay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		beside := rapid.StringMatching(`[ 日_]?[a-z 日_]{0,4}[ 日_]`)
		day := time.Date(1900, 1, 1+rapid.IntRange(0, 109_570).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
		layout := rapid.SampledFrom([]string{time.DateOnly, "20060102", "2006_01_02", "2006.01.02", "2006-1-2", "2006/1/2", "2.1.2006", "January 2, 2006", "2 Jan 2006", "2006年1月2日", "200601021504"}).Draw(t, "layout")
		before := beside.Draw(t, "before")
		if strings.Contains(layout, ".") {
			before += "日" // letters before dots are those of a version
		}
		s := before + day.Format(layout) + beside.Draw(t, "after")
		if got, _, _ := text.FindDay(s); got != day.Format(time.DateOnly) {
			t.Fatalf("%q has the day %q", s, got)
		}
	})
}

func TestFindDayInAnOrder(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][2]string{
		"05-06-2026": {"2026-06-05", "2026-05-06"},
		"25/06/2026": {"2026-06-25", ""},
		"06_25_2026": {"", "2026-06-25"},
		"05.06.2026": {"2026-06-05", "2026-06-05"},
		"2026-05-06": {"2026-05-06", "2026-05-06"},
	} {
		dayFirst, _, _ := text.FindDayIn(in, text.DayFirst)
		monthFirst, _, _ := text.FindDayIn(in, text.MonthFirst)
		if got := [2]string{dayFirst, monthFirst}; got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestOrderOf(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]text.DayOrder{"25-06-2026": text.DayFirst, "06-25-2026 x": text.MonthFirst, "05-06-2026": text.AnyOrder, "05-05-2026": text.AnyOrder,
		"25.06.2026": text.AnyOrder, "2026-06-25": text.AnyOrder, "x": text.AnyOrder} {
		if got := text.OrderOf(in); got != want {
			t.Errorf("%s: %d, want %d", in, got, want)
		}
	}
}

func TestDayOf(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-02-15T10:00:00+01:00": "2026-02-15", "[[2026-02-15]]": "2026-02-15", "[[2026-02-15|Sunday]]": "2026-02-15", "[[Journal/2026/2026-02-15]]": "2026-02-15",
		"Sat, 14 Feb 2026 10:00:00 +0100": "2026-02-14", "Saturday, February 14th, 2026": "2026-02-14", "(2026-02-15)": "2026-02-15",
		"on 2026-02-15": "", "due 14 Feb 2026": "", "": "", "soon": "",
	} {
		if got := text.DayOf(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
