package council_test

import (
	"testing"
	"time"

	"kioku/council"
)

// Times are those of cron, in the zone of the schedule.
func TestScheduleLast(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ at, zone, now, want string }{
		{"30 7 * * *", "", "2026-11-23T07:30:00Z", "2026-11-23T07:30:00Z"},
		{"30 7 * * *", "", "2026-11-23T07:29:59Z", "2026-11-22T07:30:00Z"},
		{"30 7 * * mon-fri", "", "2026-11-22T12:00:00Z", "2026-11-20T07:30:00Z"}, // a Sunday
		{"30 7 * * *", "Asia/Tokyo", "2026-11-23T00:00:00Z", "2026-11-22T22:30:00Z"},
		{"*/15 9-17 * * *", "", "2026-11-23T20:00:00Z", "2026-11-23T17:45:00Z"},
		{"0 0 1 jan *", "", "2026-11-23T20:00:00Z", "2026-01-01T00:00:00Z"},
		{"0 0 13 * fri", "", "2026-11-23T20:00:00Z", "2026-11-20T00:00:00Z"}, // either of the two days
		{"0 0 30 feb *", "", "2026-11-23T20:00:00Z", "0001-01-01T00:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, tc.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := (council.Schedule{At: tc.at, Zone: tc.zone}).Last(now).Format(time.RFC3339); got != tc.want {
			t.Errorf("%q %s at %s: %s, want %s", tc.at, tc.zone, tc.now, got, tc.want)
		}
	}
}

func TestSettingsRefuseSchedules(t *testing.T) {
	t.Parallel()
	good := council.Schedule{Name: "plants", Worker: "bot", At: "0 7 * * *", Title: "Water the plants"}
	check := func(c council.Schedule) error {
		s := council.Settings{Agent: "council", Workers: []string{"bot"}, Schedules: []council.Schedule{c}}
		for _, name := range []string{"ant", "bee", "cat"} {
			s.Members = append(s.Members, council.Member{Name: name, Model: "echo"})
		}
		return s.Validate()
	}
	if err := check(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*council.Schedule){
		"no such worker": func(c *council.Schedule) { c.Worker = "other" }, "four fields": func(c *council.Schedule) { c.At = "0 7 * *" },
		"an hour of 24": func(c *council.Schedule) { c.At = "0 24 * * *" }, "two triggers": func(c *council.Schedule) { c.Search = "x" },
		"a step of 0": func(c *council.Schedule) { c.At = "*/0 * * * *" }, "no zone": func(c *council.Schedule) { c.Zone = "Asia/Edo" },
		"no title": func(c *council.Schedule) { c.Title = " " }, "a path": func(c *council.Schedule) { c.Name = "../x" },
		"backwards": func(c *council.Schedule) { c.At = "0 9-7 * * *" }, "a word": func(c *council.Schedule) { c.At = "0 7 * * noday" },
	} {
		c := good
		change(&c)
		if check(c) == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
