package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestDaysOfMonthsAndNearDays(t *testing.T) {
	t.Parallel()
	today := time.Date(2024, 3, 1, 0, 30, 0, 0, time.FixedZone("", 9*3600))
	for text, want := range map[string][2]string{
		"2024-02": {"2024-02-01", "2024-02-29"}, "2026-12": {"2026-12-01", "2026-12-31"},
		"today": {"2024-03-01", "2024-03-01"}, " Yesterday": {"2024-02-29", "2024-02-29"},
		"2024-01-20": {"2024-01-20", "2024-01-20"}, "2024-13": {"2024-13", "2024-13"}, "soon": {"soon", "soon"}, "": {"", ""},
	} {
		t.Run(text, func(t *testing.T) {
			if first, last, ok := daysOf(text, today); first != want[0] || last != want[1] || ok != (first > "0" && first != "2024-13" && first != "soon") {
				t.Errorf("%q: %s to %s, %v, want %v", text, first, last, ok, want)
			}
		})
	}
}

func TestMomentOfIsATimeInTheZone(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 9*3600)
	for text, want := range map[string]string{
		"": "0001-01-01T00:00:00Z", "2026-01-20": "2026-01-20T12:00:00+09:00", "2026-01-20T23:30:00-08:00": "2026-01-21T16:30:00+09:00", "soon": "",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := momentOf(text, zone)
			if (err == nil) != (want != "") || err == nil && got.Format(time.RFC3339) != want {
				t.Errorf("%q: %s, %v; want %s", text, got.Format(time.RFC3339), err, want)
			}
		})
	}
}

func TestSearchTakesMonthsAndNearDays(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{
		"memory/2026-02-28.md": "# 2026-02-28\nThe boiler was drained.\n",
		"memory/2026-03-01.md": "# 2026-03-01\nThe boiler was filled.\n",
		"memory/2026-03-31.md": "# 2026-03-31\nThe boiler was inspected.\n",
	})
	for _, tc := range []struct {
		args []string
		want int
	}{
		{[]string{"--since", "2026-03"}, 2},
		{[]string{"--until", "2026-03"}, 3},
		{[]string{"--since", "2026-02", "--until", "2026-02"}, 1},
		{[]string{"--since", "yesterday", "--now", "2026-04-01"}, 1},
		{[]string{"--since", "today", "--now", "2026-04-01"}, 0},
		{[]string{"--until", "yesterday", "--now", "2026-03-02T08:00:00Z"}, 2},
	} {
		var resp struct{ Results []struct{ Path string } }
		out := s.must(append([]string{"search", "--json", "--granularity", "chunk", "--min-score", "0", "boiler"}, tc.args...)...)
		if err := json.Unmarshal([]byte(out), &resp); err != nil || len(resp.Results) != tc.want {
			t.Errorf("%q: %v, %v; want %d", tc.args, resp.Results, err, tc.want)
		}
	}
	for condition, want := range map[string]int{"date>2026-02": 2, "date<=2026-03": 3, "date<2026-03": 1, "date>yesterday": 1, "date>=today": 1} {
		out := s.must("search", "--json", "--granularity", "chunk", "--min-score", "0", "boiler", "--where", condition, "--now", "2026-03-31")
		if n := strings.Count(out, `"citation"`); n != want {
			t.Errorf("%s: %d files, want %d", condition, n, want)
		}
	}
	for _, command := range []string{"search", "ls"} {
		s.run(command, "boiler", "--until", "tomorrow").wants(t, exitUsage, "--until must be a day", `"tomorrow"`)
		s.run(command, "boiler", "--tag", "").wants(t, exitUsage, `--tag "" names no tag`)
	}
	s.run("search", "boiler", "--since", "2026-3").wants(t, exitUsage, "--since must be a day like 2026-01-20, a month like 2026-01, today or yesterday", `not "2026-3"`)
}

// A text that is too long is refused as it is, not cut.
func TestAppendRefusesMoreThanItReads(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	s.stdin = strings.Repeat("x", 3_000_000)
	s.run("append", "-").wants(t, exitUsage, "standard input has more than 1048576 bytes")
}
