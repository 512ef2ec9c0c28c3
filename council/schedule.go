package council

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robfig/cron/v3"
)

// checkSchedules checks names, workers, times and titles of schedules.
func (s Settings) checkSchedules() error {
	seen := map[string]bool{}
	for _, c := range s.Schedules {
		switch {
		case !ValidName(c.Name) || seen[c.Name]:
			return Invalid("schedules", "name %.80q: must be lower case letters, digits, '_' and '-', and each but once", c.Name)
		case !slices.Contains(s.Workers, c.Worker):
			return Invalid("schedules", "%s: the worker %.80q is not in workers", c.Name, c.Worker)
		case (c.At == "") == (c.Search == ""):
			return Invalid("schedules", "%s: needs either at or search", c.Name)
		case strings.TrimSpace(c.Title) == "" || utf8.RuneCountInString(c.Title) > MaxSuggestTitle-len(" (2006-01-02 15:04)"):
			return Invalid("schedules", "%s: needs a title of at most %d characters", c.Name, MaxSuggestTitle-len(" (2006-01-02 15:04)"))
		case utf8.RuneCountInString(c.Description) > MaxSuggestText/2:
			return Invalid("schedules", "%s: the description has more than %d characters", c.Name, MaxSuggestText/2)
		}
		if _, err := time.LoadLocation(c.Zone); err != nil {
			return Invalid("schedules", "%s: zone: %v", c.Name, err)
		}
		if c.At != "" {
			if _, err := c.times(); err != nil {
				return Invalid("schedules", "%s: at %q: %v", c.Name, c.At, err)
			}
		}
		seen[c.Name] = true
	}
	return nil
}

// Last returns the newest time of a schedule that is not after now; zero if there is none within a year.
func (c Schedule) Last(now time.Time) time.Time {
	times, err := c.times()
	if err != nil {
		return time.Time{}
	}
	for _, back := range []time.Duration{time.Hour, day, 8 * day, 32 * day, 367 * day} {
		last := time.Time{}
		for at := times.Next(now.Add(-back)); !at.IsZero() && !at.After(now); at = times.Next(at) {
			last = at
		}
		if !last.IsZero() {
			return last.UTC()
		}
	}
	return time.Time{}
}

const day = 24 * time.Hour

// times returns when a schedule comes, as cron has it.
func (c Schedule) times() (cron.Schedule, error) {
	return cron.ParseStandard("CRON_TZ=" + cmp.Or(c.Zone, "UTC") + " " + c.At)
}
