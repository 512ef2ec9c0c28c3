package kioku

import (
	"bytes"
	"regexp"
	"strings"

	"kioku/chunker"
	"kioku/memory"
)

// foundNote is what a file has of a note.
type foundNote struct {
	// line is the line of the heading or bullet, from 1; 0 if the file does not have the note.
	line int
	// otherText is set if the note of this key has another text.
	otherText bool
}

// findNote looks for a note in the text of a file by its key, and if byText is set also by its text as the whole of a section
// or bullet.
func findNote(src []byte, n memory.Note, byText bool) foundNote {
	text := chunker.Normalize(src)
	at, same := findKey(text, n)
	if at < 0 && byText {
		at, same = findText(text, n), true
	}
	if at < 0 {
		return foundNote{}
	}
	return foundNote{line: blockLine(text[:at], n.Target), otherText: !same}
}

// wholeMarker is the marker of a note with a key at the end of a line.
var wholeMarker = regexp.MustCompile(`^` + markerPattern.String() + `[ \t]*$`)

// findKey returns the offset of the marker with the key of a note, -1 if there is none, and whether the marker is that of the
// same text. A marker of an older Kioku does not know its text; then the text before it decides.
func findKey(text string, n memory.Note) (at int, same bool) {
	at = -1
	if n.Key == "" {
		return at, false
	}
	start := markerStart + markerKey(n.Key)
	for from := 0; ; {
		i := strings.Index(text[from:], start)
		if i < 0 {
			return at, false
		}
		i += from
		line, _, _ := strings.Cut(text[i:], "\n")
		from = i + len(start)
		m := wholeMarker.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if m[2] == fingerprint(n.Text) || m[2] == "" && endsWithNote(text[:i], n) {
			return i, true
		}
		if at < 0 {
			at = i
		}
	}
}

// endsWithNote reports whether a text ends with that of a note.
func endsWithNote(text string, n memory.Note) bool {
	want := n.Text
	if n.Target == memory.TargetLongTerm {
		want = bulletText(n)
	}
	return strings.HasSuffix(strings.TrimRight(text, " \t\n"), "\n"+want) || text == want+" "
}

// findText returns an offset in the block that contains the note's text and nothing else, -1 if there is none.
func findText(text string, n memory.Note) int {
	block, ends := "\n\n"+n.Text, append(markerStarts(""), "\n\n## ")
	if n.Target == memory.TargetLongTerm {
		block, ends = "\n"+bulletText(n), append(markerStarts(bulletIndent), "\n\n", "\n- ", "\n#", "\n"+markerStart)
	}
	// A line break before the first line and a heading after the last line, so that both are no special cases.
	padded := "\n" + strings.TrimRight(text, "\n") + "\n\n## "
	for _, end := range ends {
		if i := strings.Index(padded, block+end); i >= 0 {
			return min(i+len("\n- "), len(text))
		}
	}
	return -1
}

// blockLine returns the number of the last line of a text that is a heading, or a bullet for a long-term note; 1 if none is.
func blockLine(text, target string) int {
	prefix := "## "
	if target == memory.TargetLongTerm {
		prefix = "- "
	}
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i > 0; i-- {
		if strings.HasPrefix(lines[i], prefix) {
			return i + 1
		}
	}
	return 1
}

// unfinishedNote is what a crash, or a failed write that could not be taken back, has left of a long note.
type unfinishedNote struct {
	// line is the line of its heading or bullet, from 1; 0 if nothing is left of the note.
	line int
	// rest is what its block lacks, which the end of the file continues with; nil if something else follows what is left.
	rest []byte
}

// findUnfinished looks in a file for the beginning of a note that ends before its marker. block is the note as it would be
// written now; its heading may be another one by now.
func findUnfinished(src []byte, n memory.Note, block string) unfinishedNote {
	begin := beginMarkerOf(n)
	i := bytes.LastIndex(src, []byte(begin))
	if begin == "" || i < 0 {
		return unfinishedNote{}
	}
	left := src[i+len(begin):]
	_, wanted, _ := strings.Cut(block, begin)
	common := commonPrefix(left, wanted)
	if common == len(wanted) || bytes.Contains(left, []byte(" text="+fingerprint(n.Text))) {
		return unfinishedNote{} // it is whole, or somebody has edited it
	}
	found := unfinishedNote{line: 1 + countLineBreaks(src[:i])}
	if n.Target == memory.TargetLongTerm {
		found.line++ // the marker stands above the bullet
	}
	if common == len(left) {
		found.rest = []byte(wanted[common:])
	}
	return found
}

// commonPrefix returns the length of the longest prefix that a and b have in common.
func commonPrefix(a []byte, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
