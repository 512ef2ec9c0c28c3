package note

import (
	"regexp"
	"slices"
	"strings"

	"kioku/chunker"
	"kioku/memory"
)

// wholeMarker is a marker at the end of a line.
var wholeMarker = regexp.MustCompile(`^` + markerPattern.String() + `[ \t]*$`)

// sectionHeading matches the heading of a daily note. Its group is the category.
var sectionHeading = regexp.MustCompile(`^## \d\d:\d\d - (.*?)(?:` + markerPattern.String() + `)?[ \t]*$`)

// findKey returns the line of the note with the key of n, 0 if there is none, and whether it is of the same text. The marker of
// an older Kioku does not say of which; then it counts as the same.
func findKey(src []byte, n memory.Note) (line int, same bool) {
	if n.Key == "" {
		return 0, false
	}
	text := chunker.Normalize(src)
	start := markerStart + markerKey(n.Key)
	for from := 0; ; {
		i := strings.Index(text[from:], start)
		if i < 0 {
			return line, false
		}
		i += from
		from = i + len(start)
		marker, _, _ := strings.Cut(text[i:], "\n")
		m := wholeMarker.FindStringSubmatch(marker)
		if m == nil {
			continue
		}
		line = blockLine(text[:i], blockPrefix(n.Target))
		if m[3] == fingerprint(n.Text) || m[3] == "" {
			return line, true
		}
	}
}

// findText returns the line of the section or bullet that contains the note's text and nothing else, 0 if there is none. A section
// of another category is another note; a bullet has no category.
func findText(src []byte, n memory.Note) (line int) {
	text := chunker.Normalize(src)
	block := "\n\n" + n.Text
	if n.Target == memory.TargetLongTerm {
		block = "\n" + bulletText(n)
	}
	// A line break before the first line and a heading after the last line, so that both are no special cases.
	whole := strings.TrimRight(text, "\n")
	padded := "\n" + whole + "\n\n## "
	for from := 0; ; {
		i := strings.Index(padded[from:], block)
		if i < 0 {
			return 0
		}
		from += i + 1
		end := from - 1 + len(block)
		// A last line without a line break may be one that a crash has cut off before the marker.
		cut := end == 1+len(whole) && whole == text && markerOf(n) != ""
		if cut || !endsNote(padded[end:], n.Target) {
			continue
		}
		line := blockLine(text[:min(from-1+len("\n- "), len(text))], blockPrefix(n.Target))
		if n.Target == memory.TargetLongTerm || hasCategory(text, line, n.Category) {
			return line
		}
	}
}

// hasCategory reports whether the heading at a line of a text is of a category, or not one that section has written.
func hasCategory(text string, line int, category string) bool {
	lines := strings.SplitN(text, "\n", line+1)
	m := sectionHeading.FindStringSubmatch(lines[line-1])
	return m == nil || m[1] == category
}

// endsNote reports whether a text that follows that of a note shows that the note is over: with a whole marker, or without one.
func endsNote(after, target string) bool {
	indent, ends := "", []string{"\n\n## "}
	if target == memory.TargetLongTerm {
		indent, ends = bulletIndent, []string{"\n\n", "\n- ", "\n#", "\n" + markerStart}
	}
	for _, lead := range []string{" ", "\n" + indent} {
		if marker, found := strings.CutPrefix(after, lead+markerStart); found {
			line, _, _ := strings.Cut(marker, "\n")
			return wholeMarker.MatchString(markerStart + line)
		}
	}
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasPrefix(after, end) })
}

// blockPrefix returns what the first line of a note of a target begins with.
func blockPrefix(target string) string {
	if target == memory.TargetLongTerm {
		return "-"
	}
	return "##"
}

// blockLine returns the number of the last line of a text that is a heading, or a bullet, as the prefix says; 1 if none is.
func blockLine(text, prefix string) int {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i > 0; i-- {
		if strings.HasPrefix(lines[i], prefix+" ") {
			return i + 1
		}
	}
	return 1
}
