package main

import (
	"runtime"
	"testing"

	"kioku/server"
)

// Hazard D12: threads that are no search's are left for small calls, and the searches stay as many as cores.
func TestSpreadProcessorsLeavesThreadsToSmallCalls(t *testing.T) {
	cores := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(cores) })
	for _, c := range []struct {
		env                       string
		searches                  int
		wantThreads, wantSearches int
	}{
		{"", 0, 2 * cores, cores},
		{"", 5, 2 * cores, 5},
		{"3", 0, cores, cores},
	} {
		runtime.GOMAXPROCS(cores)
		t.Setenv("GOMAXPROCS", c.env)
		limits := server.Limits{Searches: c.searches}
		spreadProcessors(&limits)
		if got := runtime.GOMAXPROCS(0); got != c.wantThreads || limits.Searches != c.wantSearches {
			t.Errorf("GOMAXPROCS=%q, %d searches: %d threads and %d searches, want %d and %d",
				c.env, c.searches, got, limits.Searches, c.wantThreads, c.wantSearches)
		}
	}
}
