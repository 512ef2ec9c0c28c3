package search

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
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

// matchesAny reports whether a path matches one of the globs, in which "**" matches any number of folders. A glob without a slash
// matches the name of a file in any folder; a malformed glob matches nothing.
func matchesAny(globs []string, file string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		if !strings.Contains(glob, "/") {
			glob = "**/" + glob
		}
		ok, err := doublestar.Match(glob, file)
		return err == nil && ok
	})
}
