package search

import (
	"math"
	"path"
	"strings"
	"time"
)

// decayFactor returns floor + (1-floor) * exp(-ln2 * age/halfLife), in (0,1], for an age in days: an exponential decay
// of the part above floor. It is 1 for an age of 0 and if there is no half-life.
func decayFactor(age float64, halfLife time.Duration, floor float64) float64 {
	if halfLife <= 0 || !(age > 0) {
		return 1
	}
	floor = clamp01(floor)
	factor := floor + (1-floor)*math.Exp(-math.Ln2*age/(halfLife.Hours()/24))
	return max(factor, math.SmallestNonzeroFloat64)
}

// ageDays returns the number of days from a date (YYYY-MM-DD) to the day of now, never below 0. It returns false if the
// date is not valid.
func ageDays(date string, now time.Time) (float64, bool) {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return 0, false
	}
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	// Seconds, because a Duration ends after 292 years.
	return max(0, float64(today.Unix()-day.Unix())/(24*60*60)), true
}

// decay fills in the age and the factor of each candidate. The factor stays 1 for chunks that are evergreen, by
// themselves or by a glob, for chunks without a valid date, and for chunks of days that the query names.
func (o Options) decay(list []*candidate, now time.Time) {
	for _, c := range list {
		c.decay = 1
		age, ok := ageDays(c.Date, now)
		if !ok {
			continue
		}
		c.age = age
		if *o.Decay && c.dateBonus == 0 && !c.Evergreen && !matchesAny(o.Evergreen, c.Path) {
			c.decay = decayFactor(age, o.HalfLife, *o.DecayFloor)
		}
	}
}

// matchesAny reports whether a path matches one of the globs. A glob has the syntax of path.Match, and "**" matches any
// number of folders. A glob without a slash matches the name of a file in any folder; a malformed glob matches nothing.
func matchesAny(globs []string, file string) bool {
	for _, g := range globs {
		if !strings.Contains(g, "/") {
			g = "**/" + g
		}
		if matchSegments(strings.Split(g, "/"), strings.Split(file, "/")) {
			return true
		}
	}
	return false
}

func matchSegments(glob, file []string) bool {
	switch {
	case len(glob) == 0:
		return len(file) == 0
	case glob[0] == "**":
		return matchSegments(glob[1:], file) || len(file) > 0 && matchSegments(glob, file[1:])
	case len(file) == 0:
		return false
	}
	ok, err := path.Match(glob[0], file[0])
	return err == nil && ok && matchSegments(glob[1:], file[1:])
}
