package search

import "strings"

// trail is a path of headings, "# Projects > ## Acme", outermost first.
type trail []string

const trailSeparator = " > "

// parseTrail takes a path of headings apart.
func parseTrail(path string) trail {
	if path == "" {
		return nil
	}
	return strings.Split(path, trailSeparator)
}

// at moves the trail on to a passage and returns its path: that of its first line, and of the headings that follow it
// without text between. Headings further down belong to the lines below them; they count for the next passage.
func (t *trail) at(text string) string {
	path, body := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case isHeading(line):
			t.enter(line)
		case line != "" && !body:
			body = true
			path = strings.Join(*t, trailSeparator)
		}
	}
	if !body {
		path = strings.Join(*t, trailSeparator)
	}
	return path
}

// enter passes a heading: it ends the sections of its level and below.
func (t *trail) enter(heading string) {
	level := headingLevel(heading)
	above := (*t)[:0:0]
	for _, h := range *t {
		if headingLevel(h) < level {
			above = append(above, h)
		}
	}
	*t = append(above, heading)
}

// headingLevel counts the signs that a heading begins with.
func headingLevel(heading string) int { return len(heading) - len(strings.TrimLeft(heading, "#")) }
