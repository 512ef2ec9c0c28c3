package host

import (
	"runtime/debug"
	"testing"
)

// Beside a gigabyte of words and vectors, garbage does not grow to another one; without them the runtime decides, and so does a person.
func TestPaceCollector(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	for _, c := range []struct {
		name, gogc  string
		held        int64
		least, most int
	}{
		{"much held", "", 1 << 30, 1, 20},
		{"nothing held", "", 0, 50, 100},
		{"a person decides", "100", 1 << 30, 100, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GOGC", c.gogc)
			debug.SetGCPercent(100)
			paceCollector(c.held)
			if got := debug.SetGCPercent(100); got < c.least || got > c.most {
				t.Errorf("%d percent", got)
			}
		})
	}
}
