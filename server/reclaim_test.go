package server

import (
	"testing"
	"time"
)

// Memory is given back once after each storm of calls, when it has been calm for a while.
func TestReclaimerGivesMemoryBackOnceAfterAStorm(t *testing.T) {
	t.Parallel()
	freed := 0
	r := reclaimer{free: func() { freed++ }}
	now := time.Now()
	pass := func(d time.Duration, used int64) {
		for end := now.Add(d); now.Before(end); now = now.Add(housekeeping) {
			r.look(now, used)
		}
	}
	pass(time.Hour, stormBytes-1)
	pass(time.Minute, 0)
	if freed != 0 {
		t.Fatal("memory is given back without a storm")
	}
	for storms := range 3 {
		pass(time.Minute, 10*stormBytes)
		pass(calmTime-time.Second, stormBytes)
		pass(time.Second, 10*stormBytes)
		if freed != storms {
			t.Fatalf("memory is given back %d times during storm %d", freed, storms)
		}
		pass(time.Minute, 0)
		if freed != storms+1 {
			t.Fatalf("memory is given back %d times after storm %d", freed, storms)
		}
	}
}
