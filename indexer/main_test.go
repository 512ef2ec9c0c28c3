package indexer_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// soak is true if the long loops run in full.
var soak = os.Getenv("KIOKU_SOAK") == "1"

// rounds returns full under KIOKU_SOAK=1, and otherwise quick.
func rounds(full, quick int) int {
	if soak {
		return full
	}
	return quick
}

// TestMain runs many tests at once, since most of them wait for files.
func TestMain(m *testing.M) {
	for name, value := range map[string]int{"test.parallel": 8, "rapid.checks": rounds(100, 30)} {
		if err := flag.Set(name, fmt.Sprint(value)); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}
