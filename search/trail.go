package search

import (
	"strings"

	"kioku/chunker"
)

// headingsAt moves the trail over the lines of a passage and returns the path of its headings: the headings above its
// first line, and those that follow without text between. Headings further down belong to the lines below them; they
// count for the next passage.
func headingsAt(above *chunker.Trail, lines []chunker.Line) string {
	path, body := "", false
	for _, line := range lines {
		switch {
		case line.Level > 0:
			above.Enter(line.Level, line.Title())
		case !body && !line.Underline && strings.TrimSpace(line.Text) != "":
			path, body = above.String(), true
		}
	}
	if !body {
		path = above.String()
	}
	return path
}
