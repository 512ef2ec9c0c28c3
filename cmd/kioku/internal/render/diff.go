package render

import (
	"strings"

	"kioku/history"
)

// Diff returns the lines that differ between two texts, each after "-" or "+", with some equal lines around them after a space, and
// "@@ ... @@" before each further place. It returns an empty list if the texts are equal.
func Diff(before, after []byte) []string {
	lines := []string{}
	d, err := history.DiffText("", before, after)
	if err != nil {
		return []string{"-" + string(before), "+" + string(after)}
	}
	for line := range strings.Lines(d.Text) {
		if isMark := line[0] == '\\' || line[0] == '@' && len(lines) == 0; !isMark {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}
