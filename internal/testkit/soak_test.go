package testkit

import "testing"

func TestRoundsGrowWithTheMinutes(t *testing.T) {
	for _, c := range []struct {
		minutes             string
		full, quick, rounds int
	}{{"", 100, 5, 5}, {"x", 100, 5, 5}, {"1", 100, 5, 24}, {"5", 100, 5, 100}, {"60", 100, 5, 100}, {"1", 1, 67, 54}, {"9", 1, 67, 1}} {
		t.Setenv("KIOKU_SOAK", c.minutes)
		if got := Rounds(c.full, c.quick); got != c.rounds || Soak() != (c.rounds != c.quick) {
			t.Errorf("KIOKU_SOAK=%s: %d of %d rounds, soak %v; want %d", c.minutes, got, c.full, Soak(), c.rounds)
		}
	}
}
