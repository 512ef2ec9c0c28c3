package chunker

import (
	"slices"
	"strings"

	"kioku/internal/text"
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

// tableHead returns the label of the table whose first line l is: its cells, "| Name | Extension |". It returns "" for a line that is not in
// a table.
func (l Line) tableHead() string {
	if l.Block == 0 || l.Level > 0 || fenceMark(l.Text) != "" || !strings.Contains(l.Text, "|") {
		return ""
	}
	return "| " + strings.Trim(shortLabel(strings.TrimSpace(l.Text)), "| ") + " |"
}

// TableHead returns the label of the table that a line is a row of; "" for the head itself, the rule below it, and what is no row.
func TableHead(lines []Line, at int) string {
	first := at
	for first > 0 && lines[first].Block > 0 && lines[first-1].Block == lines[at].Block {
		first--
	}
	if at < first+2 {
		return ""
	}
	return lines[first].tableHead()
}

// SplitTableHead splits the path of the headings of a chunk that begins among the rows of a table into the headings and the label of the
// table, which is empty for other chunks.
func SplitTableHead(path string) (headings, head string) {
	if strings.HasPrefix(path, "| ") {
		return "", path
	}
	headings, head, isRow := strings.Cut(path, trailSeparator+"| ")
	if !isRow {
		return path, ""
	}
	return headings, "| " + head
}

// WithTableHead is the inverse of SplitTableHead.
func WithTableHead(headings, head string) string {
	if headings == "" || head == "" {
		return headings + head
	}
	return headings + trailSeparator + head
}

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

// Enter adds a heading and removes the headings of its level and below. The heading of an entry also removes those that the entry before it
// has opened, and no heading within an entry removes that of the entry or those above it.
func (t *Trail) Enter(level int, title string) {
	h := trailHeading{level, strings.TrimSpace(strings.Repeat("#", level) + " " + shortLabel(title))}
	own := slices.IndexFunc(t.headings, trailHeading.isEntry)
	switch {
	case own >= 0 && h.isEntry():
		t.headings = t.headings[:own]
	case own >= 0:
		own++
	default:
		own = 0
	}
	t.headings = append(t.headings[:own], slices.DeleteFunc(t.headings[own:], func(h trailHeading) bool { return h.level >= level })...)
	t.headings = append(t.headings, h)
}

func (h trailHeading) isEntry() bool { return text.IsEntryHeading(h.label) }

// shortLabel returns a label without what is too long.
func shortLabel(label string) string {
	runes := []rune(label[:min(len(label), 4*maxLabel)])
	if len(runes) > maxLabel {
		return string(runes[:maxLabel-1]) + "…"
	}
	return label
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
