package text_test

import (
	"testing"

	"kioku/internal/text"
)

func TestPeriod(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][2]string{
		"2026": {"2026-01-01", "2026-12-31"}, "2026-02": {"2026-02-01", "2026-02-28"}, "2024-02": {"2024-02-01", "2024-02-29"},
		"2026-12": {"2026-12-01", "2026-12-31"}, "2026-01-20": {"2026-01-20", "2026-01-20"}, "1900": {"1900-01-01", "1900-12-31"},
		"1899": {}, "2200": {}, "2026-13": {}, "2026-00": {}, "2026-02-30": {}, "202602": {}, "-026": {}, "26": {}, "": {},
		"2026-2": {}, "2026-01-20T10:00:00Z": {}, "abcd": {},
	} {
		first, last, ok := text.Period(in)
		if [2]string{first, last} != want || ok != (want[0] != "") {
			t.Errorf("Period(%q) = %q, %q, %v", in, first, last, ok)
		}
	}
}
