package config_test

import (
	"strings"
	"testing"
	"time"

	"kioku/cmd/kioku/config"
)

// Hazard K07: a zone in each form that TZ may have is understood, with its summer time, or an error.
func TestSystemZoneReadsWhatTheSystemReads(t *testing.T) {
	t.Parallel()
	january, july := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC), time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC)
	for tz, want := range map[string][2]int{ // hours before UTC in winter and summer
		"JST-9": {9, 9}, "<+09>-9": {9, 9}, "Asia/Tokyo": {9, 9}, ":Asia/Tokyo": {9, 9}, ":JST-9": {9, 9}, "EST5EDT,M3.2.0,M11.1.0": {-5, -4},
		"EST5EDT": {-5, -4}, "CET-1CEST,M3.5.0,M10.5.0/3": {1, 2}, "AEST-10AEDT,M10.1.0,M4.1.0/3": {11, 10}, "UTC0": {0, 0}, "Etc/UTC": {0, 0}, "UTC": {0, 0}, "": {0, 0}, ":": {0, 0},
	} {
		zone, err := config.SystemZone(tz)
		if err != nil {
			t.Errorf("%q: %v", tz, err)
			continue
		}
		_, winter := january.In(zone).Zone()
		_, summer := july.In(zone).Zone()
		if got := [2]int{winter / 3600, summer / 3600}; got != want {
			t.Errorf("%q: %v, want %v", tz, got, want)
		}
	}
	for _, tz := range []string{"America/Nope", "JST", "X-9", "JST-99999", "EST5EDT,nonsense", "Local", "<+09", "../etc/passwd", "JST-9\nx"} {
		if zone, err := config.SystemZone(tz); err == nil {
			t.Errorf("%q is %v", tz, zone)
		}
	}
}

// Hazard K07: a zone that cannot be loaded is told of, unless a setting names another.
func TestLoadTellsOfAnUnknownZone(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{"": true, "timezone: Asia/Tokyo\n": false, "timezone: JST-9\n": false} {
		src := write(t, file)
		src.Env = append(src.Env, "TZ=America/Nope")
		if got := strings.Join(load(t, src).Notices, "\n"); strings.Contains(got, `"America/Nope" is not a time zone`) != want {
			t.Errorf("%q: %s", file, got)
		}
	}
}
