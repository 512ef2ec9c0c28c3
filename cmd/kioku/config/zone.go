package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// SystemZone returns the time zone that a value of the variable TZ names, as the C library of the system reads it: a name such as
// Asia/Tokyo, a rule such as EST5EDT,M3.2.0,M11.1.0, either behind a colon, or a file. Nothing means UTC.
func SystemZone(tz string) (*time.Location, error) {
	name := strings.TrimSpace(strings.TrimPrefix(tz, ":"))
	switch {
	case name == "":
		return time.UTC, nil
	case !filepath.IsAbs(name):
		return zoneOf(name)
	case time.Local.String() == time.UTC.String(): // what Go makes of a file that it cannot read
		return nil, fmt.Errorf("%q is no file of a time zone", shorten(tz))
	}
	return time.Local, nil
}

// zoneOf returns the time zone of a name such as Asia/Tokyo, or of a rule such as JST-9.
func zoneOf(s string) (*time.Location, error) {
	if zone, err := time.LoadLocation(s); err == nil && zone.String() != "Local" {
		return zone, nil
	}
	// Package time reads rules only at the end of a file of a zone. The file has but one zone, which counts if the rule cannot be read.
	const unread = "-00"
	counts := "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x01" + "\x00\x00\x00\x04"
	block := "TZif2" + strings.Repeat("\x00", 15) + counts + strings.Repeat("\x00", 6) + unread + "\x00"
	zone, err := time.LoadLocationFromTZData(s, []byte(block+block+"\n"+s+"\n"))
	if err == nil {
		if name, _ := time.Unix(0, 0).In(zone).Zone(); name != unread {
			return zone, nil
		}
	}
	return nil, fmt.Errorf("%q is not a time zone; write it like Asia/Tokyo, or UTC or Local", shorten(s))
}
