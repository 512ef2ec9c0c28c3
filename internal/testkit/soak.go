package testkit

import (
	"math/rand/v2"
	"os"
	"strconv"
)

// wholeSoak is the number of minutes from which make soak runs the long loops in full.
const wholeSoak = 5

// soakMinutes returns how long make soak is to be, 0 in ordinary tests: KIOKU_SOAK.
func soakMinutes() int {
	n, err := strconv.Atoi(os.Getenv("KIOKU_SOAK"))
	if err != nil || n < 0 {
		return 0
	}
	return min(n, wholeSoak)
}

// Soak reports whether make soak runs the tests.
func Soak() bool { return soakMinutes() > 0 }

// Rounds returns the number of rounds of a long loop: quick in ordinary tests, full in make soak of 5 minutes or more, and in a shorter
// one as much less as it is shorter.
func Rounds(full, quick int) int { return quick + (full-quick)*soakMinutes()/wholeSoak }

// Seed returns the first seed of generated schedules: KIOKU_SEED, else 1 in ordinary tests, and a random one in make soak.
func Seed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("KIOKU_SEED"), 10, 64); err == nil && n > 0 {
		return n
	}
	if Soak() {
		return rand.Uint64N(1_000_000)
	}
	return 1
}
