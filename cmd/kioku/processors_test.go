package main

import "testing"

// Hazard D12: threads that are no search's are left for small calls, unless a person has said how many there are.
func TestThreadsForSmallCalls(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]int{"": 8, "4": 4} {
		if got := threadsFor(4, variable); got != want {
			t.Errorf("GOMAXPROCS=%q: %d threads, want %d", variable, got, want)
		}
	}
}
