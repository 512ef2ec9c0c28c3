package chunker

import (
	"slices"
	"strings"
)

// Trail is the path of headings above a place that moves forward through a text.
type Trail struct {
	headings []trailHeading
}

type trailHeading struct {
	level int    // 1 to 6
	label string // "## Acme"
}

// maxLabel is the length of the longest heading and maxTrail of the longest path, in characters.
const (
	maxLabel = 80
	maxTrail = 200
)

const trailSeparator = " > "

// ParseTrail returns the Trail whose String is path.
func ParseTrail(path string) Trail {
	var t Trail
	if path == "" {
		return t
	}
	for label := range strings.SplitSeq(path, trailSeparator) {
		t.headings = append(t.headings, trailHeading{countPrefix(label, '#'), label})
	}
	return t
}

// Enter adds a heading and removes the headings of its level and below.
func (t *Trail) Enter(level int, title string) {
	t.headings = slices.DeleteFunc(t.headings, func(h trailHeading) bool { return h.level >= level })
	runes := []rune(title[:min(len(title), 4*maxLabel)])
	if len(runes) > maxLabel {
		title = string(runes[:maxLabel-1]) + "…"
	}
	t.headings = append(t.headings, trailHeading{level, strings.TrimSpace(strings.Repeat("#", level) + " " + title)})
}

// String returns the headings as "# Projects > ## Acme", at most 200 characters: it leaves out the outermost first.
func (t *Trail) String() string {
	path := ""
	for _, h := range slices.Backward(t.headings) {
		longer := h.label
		if path != "" {
			longer += trailSeparator + path
		}
		if len([]rune(longer)) > maxTrail {
			break
		}
		path = longer
	}
	return path
}
