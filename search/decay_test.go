package search

import (
	"fmt"
	"math"
	"testing"
	"time"

	"kioku/memory"
)

const month = 30 * 24 * time.Hour

var testNow = time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC)

func TestDecayFactorHalvesAfterHalfLife(t *testing.T) {
	t.Parallel()
	tests := []struct{ age, floor, want float64 }{
		{0, 0.85, 1}, {30, 0, 0.5}, {60, 0, 0.25}, {30, 0.85, 0.925}, {3000, 0.85, 0.85}, {-5, 0, 1}, {30, 7, 1},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.age), func(t *testing.T) {
			if got := decayFactor(test.age, month, test.floor); math.Abs(got-test.want) > 1e-9 {
				t.Errorf("decayFactor(%v, 30 days, %v) = %v, want %v", test.age, test.floor, got, test.want)
			}
		})
	}
	if got := decayFactor(30, 0, 0); got != 1 {
		t.Errorf("without a half-life the factor is %v", got)
	}
}

// Hazard D08: future, ancient and wrong dates.
func TestAgeDaysCountsCalendarDays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		date string
		want float64
		ok   bool
	}{
		{"2026-03-01", 0, true}, {"2026-02-27", 2, true}, {"2026-03-09", 0, true}, {"0001-01-01", 739675, true},
		{"2026-02-30", 0, false}, {"2026-2-3", 0, false}, {"", 0, false}, {"yesterday", 0, false},
	}
	for _, test := range tests {
		t.Run(test.date, func(t *testing.T) {
			got, ok := ageDays(test.date, testNow)
			if got != test.want || ok != test.ok {
				t.Errorf("ageDays(%q) = %v, %v, want %v, %v", test.date, got, ok, test.want, test.ok)
			}
		})
	}
}

// Hazard D08: evergreen, undated and misdated notes do not decay.
func TestDecaySkipsEvergreenAndUndated(t *testing.T) {
	t.Parallel()
	opt := DefaultOptions()
	opt.Evergreen = []string{"memory/people/**", "*.ref.md", "[bad"}
	tests := []struct {
		name  string
		chunk Chunk
		off   bool
		want  bool
	}{
		{"an old note", Chunk{Path: "memory/2025-01-01.md", Date: "2025-01-01"}, false, true},
		{"a note of today", Chunk{Path: "memory/2026-03-01.md", Date: "2026-03-01"}, false, false},
		{"a note of tomorrow", Chunk{Path: "memory/2026-03-02.md", Date: "2026-03-02"}, false, false},
		{"an undated note", Chunk{Path: "memory/tea.md"}, false, false},
		{"a wrong date", Chunk{Path: "memory/x.md", Date: "2025-02-31"}, false, false},
		{"an evergreen chunk", Chunk{Path: "memory/x.md", Date: "2025-01-01", Evergreen: true}, false, false},
		{"an evergreen folder", Chunk{Path: "memory/people/a/2025-01-01.md", Date: "2025-01-01"}, false, false},
		{"an evergreen name", Chunk{Path: "memory/2025-01-01.ref.md", Date: "2025-01-01"}, false, false},
		{"decay switched off", Chunk{Path: "memory/2025-01-01.md", Date: "2025-01-01"}, true, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &candidate{Chunk: test.chunk}
			opt := opt
			opt.Decay = new(!test.off)
			r := searchState{query: memory.Query{Now: testNow}, candidates: []*candidate{c}}
			r.adjust(opt.ageAdjustment(&r))
			if factor := c.effect(ruleAge).factor; factor < 1 != test.want || !(factor > 0 && factor <= 1) {
				t.Errorf("factor = %v", factor)
			}
		})
	}
}

func TestMatchesAnyGlob(t *testing.T) {
	t.Parallel()
	tests := []struct {
		glob, path string
		want       bool
	}{
		{"memory/*.md", "memory/a.md", true},
		{"memory/*.md", "memory/b/a.md", false},
		{"memory/**/a.md", "memory/a.md", true},
		{"memory/**/a.md", "memory/b/c/a.md", true},
		{"memory/**", "memory/b/c/a.md", true},
		{"a.md", "memory/b/a.md", true},
		{"memory", "memory/a.md", false},
		{"memory/b/*/*.md", "memory/b/a.md", false},
		{"[", "[", false},
	}
	for _, test := range tests {
		t.Run(test.glob, func(t *testing.T) {
			if got := matchesAny([]string{test.glob}, test.path); got != test.want {
				t.Errorf("%s matches %s: %v", test.glob, test.path, got)
			}
		})
	}
}
