package main

import (
	"strings"
	"testing"
)

// A screen has as many lines as the terminal has rows, however long the text is, and says how it ends.
func TestTopScreenFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{1, 2, 5, 50} {
		got := screenOf(strings.Repeat("line\n", 20), [2]int{80, rows})
		if n := strings.Count(got, "\r\n") + 1; n != rows {
			t.Errorf("%d lines in %d rows", n, rows)
		}
		if rows > 1 && !strings.Contains(got, "q ends") {
			t.Errorf("no way out in %d rows", rows)
		}
	}
}
