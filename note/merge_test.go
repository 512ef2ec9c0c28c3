package note

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
)

// merged returns what git and SettleConflicts make of three texts.
func merged(t *testing.T, base, ours, theirs string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"base": base, "ours": ours, "theirs": theirs} {
		testkit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	cmd := exec.Command("git", "merge-file", "-p", "--diff3", "--marker-size=32", "ours", "base", "theirs")
	cmd.Dir = dir
	out, _ := cmd.Output() // it fails where there are conflicts
	return string(SettleConflicts(out, 32))
}

// What two machines add to a day, and to MEMORY.md, is there once, in whole; what one removes is gone.
func TestSettleConflictsIsByEntry(t *testing.T) {
	t.Parallel()
	windows := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
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
		"one item in new sections": {
			"# Memory\n", "# Memory\n\n## Staging\n\n- Port: 8080\n", "# Memory\n\n## Production\n\n- Port: 8080\n",
			"# Memory\n\n## Staging\n\n- Port: 8080\n\n## Production\n\n- Port: 8080\n",
		},
		"one new section": {
			"# M\n", "# M\n\n## A\n\n- x\n\n## B\n\n- y\n", "# M\n\n## A\n\n- z\n\n### C\n\n- c\n\n## B\n\n- y\n",
			"# M\n\n## A\n\n- x\n- z\n\n### C\n\n- c\n\n## B\n\n- y\n",
		},
		"an item that is in another section": {"## A\n- x\n- y\n\n## B\n- w\n", "## A\n- x\n- y\n\n## B\n- w\n- v\n", "## A\n- x\n- y\n\n## B\n- w\n- x\n- z\n", "## A\n- x\n- y\n\n## B\n- w\n- v\n- x\n- z\n"},
		"one of two equal lines":             {"- x\n- x\n- y\n", "- x\n- x\n- y\n- z\n", "- x\n- y\n", "- x\n- y\n- z\n"},
		"one of two equal lines in conflict": {"- x\n- x\n", "- x\n- x\n- z\n", "- x\n- w\n", "- x\n- z\n- w\n"},
		"numbers":                            {"1. a\n2. b\n", "1. a\n2. n\n3. b\n", "1. a\n2. b\n3. c\n", "1. a\n2. n\n3. b\n3. c\n"},
		"numbers and an edit":                {"1. a\n2. b\n", "1. a\n2. n\n3. b\n", "1. a\n2. bb\n", "1. a\n2. n\n2. bb\n"},
		"a loose list":                       {"- a\n\n- b\n", "- a\n\n- b\n\n- x\n", "- a\n\n- b\n\n- y\n", "- a\n\n- b\n\n- x\n\n- y\n"},
		"the first items":                    {"# M\n", "# M\n\n- x\n", "# M\n\n- y\n", "# M\n\n- x\n- y\n"},
		"removed beside an addition":         {"- a\n- b\n", "- a\n", "- a\n- b\n- c\n", "- a\n- c\n"},
		"changed beside an addition":         {"- a\n- b\n", "- a\n- b\n- c\n", "- a\n- bb\n", "- a\n- c\n- bb\n"},
		"more of an item":                    {"- a\n", "- a\n- n\n", "- a\n  more of a\n", "- a\n  more of a\n- n\n"},
		"items in items":                     {"- a\n", "- a\n  - x\n  - y\n", "- a\n  - x\n  - z\n\n    more of z\n", "- a\n  - x\n  - y\n  - z\n\n    more of z\n"},
		"a section removed and added to":     {"# M\n\n## A\n\n- x\n", "# M\n", "# M\n\n## A\n\n- x\n- y\n", "# M\n\n## A\n\n- y\n"},
		"a section added to and removed":     {"# M\n\n## A\n\n- x\n", "# M\n\n## A\n\n- x\n- y\n", "# M\n", "# M\n\n## A\n\n- y\n"},
		"paragraphs":                         {"One.\n\nTwo.\n", "One.\n\nTwo of ours\nin two lines.\n", "One.\n\nTwo of theirs.\n", "One.\n\nTwo of ours\nin two lines.\n\nTwo of theirs.\n"},
		"each removes one":                   {"One.\n\nTwo.\n\nEnd.\n", "Two.\n\nEnd.\n", "One.\n\nEnd.\n", "End.\n"},
		"code":                               {"One.\n", "One.\n\n```sh\n# a\n\nb\n```\n", "One.\n\n```sh\n# a\n\nc\n```\n", "One.\n\n```sh\n# a\n\nb\n```\n\n```sh\n# a\n\nc\n```\n"},
		"between two sections": {
			"- a\n\n## Z\n\n- z\n", "- a\n\n## N\n\n- n\n\n## Z\n\n- z\n", "- a\n\n## M\n\n- m\n\n## Z\n\n- z\n",
			"- a\n\n## N\n\n- n\n\n## M\n\n- m\n\n## Z\n\n- z\n",
		},
		"a heading changed":         {"- a\n\n## Z\n\n- z\n", "- a\n\n## Y\n\n- z\n", "- a\n\n## N\n\n- n\n\n## Z\n\n- z\n", "- a\n\n## N\n\n- n\n\n## Y\n\n- z\n"},
		"ours with other line ends": {"- a\n- b\n", windows("- a\n- b\n- x\n"), "- a\n- y\n", windows("- a\n- x\n- y\n")},
		"an edit inside of an item": {"- a\n  b\n- c\n", "- a\n  b1\n- c\n", "- a\n  b2\n- c\n", "- a\n  b1\n  b2\n- c\n"},
		"without an end of line":    {"- a", "- a\n- x", "- a\n- y", "- a\n- x\n- y\n"},
		"marks of conflicts":        {"a\n", "a\n<<<<<<< x\n=======\n", "a\n>>>>>>> y\n", "a\n<<<<<<< x\n=======\n\n>>>>>>> y\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c[3], merged(t, c[0], c[1], c[2])); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(windows(c[3]), merged(t, windows(c[0]), windows(c[1]), windows(c[2]))); diff != "" && !strings.Contains(c[1], "\r") {
				t.Errorf("CRLF: %s", diff)
			}
		})
	}
}

// Whatever two sides add to sections and remove from them: what one has added is there once, below its heading, and what one has removed is gone.
func TestSettleConflictsLosesNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		base := "# M\n\n## A\n\n- a1 A\n- a2 A\n- a3 A\n\n## B\n\n- b1 B\n- b2 B\n\n## C\n\n- c1 C\n"
		var wanted, gone []string
		side := func(who string) (text string) {
			for line := range strings.Lines(base) {
				isItem := strings.HasPrefix(line, "- ")
				if isItem && random.IntN(4) == 0 {
					gone = append(gone, line)
				} else {
					text += line
				}
				if isItem && random.IntN(3) == 0 {
					wanted = append(wanted, fmt.Sprintf("- %s%d %s", who, len(wanted), line[len(line)-2:]))
					text += wanted[len(wanted)-1]
				}
			}
			return text
		}
		ours, theirs := side("ours"), side("theirs")
		got := merged(t, base, ours, theirs)
		section := ""
		for line := range strings.Lines(got) {
			if strings.HasPrefix(line, "## ") {
				section = line[3:4]
			}
			if strings.HasPrefix(line, "- ") && line[len(line)-2:len(line)-1] != section {
				t.Errorf("%s in %s", line, section)
			}
		}
		for _, w := range wanted {
			if strings.Count(got, w) != 1 {
				t.Errorf("%s is not there once", w)
			}
		}
		for _, g := range gone {
			if strings.Contains(got, g) {
				t.Errorf("%s is there", g)
			}
		}
		if t.Failed() || strings.Contains(got, "<<<<") {
			t.Fatalf("ours:\n%s\ntheirs:\n%s\ngot:\n%s", ours, theirs, got)
		}
	}
}
