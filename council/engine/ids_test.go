package engine

import "testing"

func TestFreeIDIsNotTaken(t *testing.T) {
	t.Parallel()
	taken := make(map[string]bool)
	for range 1000 { // without a look at what is taken, two of these are equal in all but one of 10^22 runs
		id := freeID("cmd", 1, func(id string) bool { return taken[id] })
		if taken[id] {
			t.Fatalf("%s twice", id)
		}
		taken[id] = true
	}
}
