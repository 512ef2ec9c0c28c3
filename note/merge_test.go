package note

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What two machines add to a day, and to MEMORY.md, is there once, in whole; what one removes is gone.
func TestMergeIsByEntry(t *testing.T) {
	t.Parallel()
	day := "# 2026-01-05\n\n## 09:30 - fact\n\nThe beta opens in June.\n"
	memory := "# Memory\n\n## People\n\n- Ines prefers tea.\n- Dario lives in Porto.\n\n## Facts\n\n- The office is in Trieste.\n"
	for name, c := range map[string][4]string{
		"two notes of a day": {
			day, day + "\n## 10:00 - note\n\nBuy milk.\n", day + "\n## 10:05 - note\n\nCall Ana.\n",
			day + "\n## 10:00 - note\n\nBuy milk.\n\n## 10:05 - note\n\nCall Ana.\n",
		},
		"of the same minute": {
			day, day + "\n## 10:00 - note\n\nBuy milk.\n", day + "\n## 10:00 - note\n\nCall Ana.\n",
			day + "\n## 10:00 - note\n\nBuy milk.\n\n## 10:00 - note\n\nCall Ana.\n",
		},
		"the same note": {day, day + "\n## 10:00 - note\n\nBuy milk.\n", day + "\n## 10:00 - note\n\nBuy milk.\n", day + "\n## 10:00 - note\n\nBuy milk.\n"},
		"a new day":     {"", day, "# 2026-01-05\n\n## 11:00 - fact\n\nRain.\n", day + "\n## 11:00 - fact\n\nRain.\n"},
		"items of MEMORY.md": {
			memory, "# Memory\n\n## People\n\n- Ines prefers tea.\n- Dario lives in Porto.\n- Ana is new.\n\n## Facts\n\n- The office is in Trieste.\n",
			"# Memory\n\n## People\n\n- Ines prefers tea.\n- Dario lives in Lisbon.\n\n## Facts\n\n- The office is in Trieste.\n- The beta is open.\n",
			"# Memory\n\n## People\n\n- Ines prefers tea.\n- Ana is new.\n- Dario lives in Lisbon.\n\n## Facts\n\n- The office is in Trieste.\n- The beta is open.\n",
		},
		"one changed by both": {
			"- Dario lives in Porto.\n", "- Dario lives in Lisbon.\n", "- Dario lives in Faro.\n", "- Dario lives in Lisbon.\n- Dario lives in Faro.\n",
		},
		"removed by one": {memory, memory, "# Memory\n\n## People\n\n- Ines prefers tea.\n\n## Facts\n\n- The office is in Trieste.\n", "# Memory\n\n## People\n\n- Ines prefers tea.\n\n## Facts\n\n- The office is in Trieste.\n"},
	} {
		if diff := cmp.Diff(c[3], string(Merge([]byte(c[0]), []byte(c[1]), []byte(c[2])))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(c[0], string(Merge([]byte(c[0]), []byte(c[0]), []byte(c[0])))); c[0] != "" && diff != "" {
			t.Errorf("%s, unchanged: %s", name, diff)
		}
	}
}
