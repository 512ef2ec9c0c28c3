package engine

import (
	"fmt"
	"math/rand/v2"
)

// freeID returns an id of a kind and a time that is not taken. The four digits at its end are random, so within a second some are drawn
// twice. If a thousand draws find no free id, freeID returns the last one.
func freeID(kind string, at int64, taken func(id string) bool) string {
	for n := 1; ; n++ {
		if id := fmt.Sprintf("%s_%d_%04d", kind, at, rand.IntN(10_000)); n == 1000 || !taken(id) {
			return id
		}
	}
}
