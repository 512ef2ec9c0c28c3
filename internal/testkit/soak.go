package testkit

import "os"

// Soak reports whether tests run their long loops in full: if the environment variable KIOKU_SOAK is 1.
func Soak() bool { return os.Getenv("KIOKU_SOAK") == "1" }

// Rounds returns the number of rounds of a long loop: full if Soak, else quick.
func Rounds(full, quick int) int {
	if Soak() {
		return full
	}
	return quick
}
