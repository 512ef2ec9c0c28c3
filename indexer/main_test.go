package indexer_test

import (
	"flag"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"kioku/internal/testkit"
)

// TestMain runs many tests at once, since most of them wait for files.
func TestMain(m *testing.M) {
	for name, value := range map[string]int{"test.parallel": 8, "rapid.checks": testkit.Rounds(100, 30)} {
		if err := flag.Set(name, fmt.Sprint(value)); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}
