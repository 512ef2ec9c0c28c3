package kioku

import (
	"bytes"
	"regexp"
	"strings"

	"kioku/chunker"
	"kioku/memory"
)

// wholeMarker is the marker of a note with a key at the end of a line.
var wholeMarker = regexp.MustCompile(`^` + markerPattern.String() + `[ \t]*$`)

// findKey returns the line of the note with the key of n, 0 if there is none, and whether it is of the same text. A marker of
// an older Kioku does not know its text; then the text before it decides.
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
		line = blockLine(text[:i], n.Target)
		if m[2] == fingerprint(n.Text) || m[2] == "" && endsWithNote(text[:i], n) {
			return line, true
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

// findText returns the line of the section or bullet that contains the note's text and nothing else, 0 if there is none.
func findText(src []byte, n memory.Note) (line int) {
	text := chunker.Normalize(src)
	block, ends := "\n\n"+n.Text, append(markerStarts(""), "\n\n## ")
	if n.Target == memory.TargetLongTerm {
		block, ends = "\n"+bulletText(n), append(markerStarts(bulletIndent), "\n\n", "\n- ", "\n#", "\n"+markerStart)
	}
	// A line break before the first line and a heading after the last line, so that both are no special cases.
	padded := "\n" + strings.TrimRight(text, "\n") + "\n\n## "
	for _, end := range ends {
		if i := strings.Index(padded, block+end); i >= 0 {
			return blockLine(text[:min(i+len("\n- "), len(text))], n.Target)
		}
	}
	return 0
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
	wanted = strings.TrimSuffix(wanted, "\n")
	common := commonPrefix(left, wanted)
	if common == len(wanted) || hasEnd(left, n) {
		return unfinishedNote{} // it is whole, or somebody has edited it
	}
	found := unfinishedNote{line: 1 + countLineBreaks(src[:i])}
	if n.Target == memory.TargetLongTerm {
		found.line++ // the marker stands above the bullet
	}
	if common == len(left) {
		found.rest = []byte(wanted[common:] + "\n")
	}
	return found
}

// hasEnd reports whether a text has the whole marker at the end of a long note.
func hasEnd(text []byte, n memory.Note) bool {
	_, after, found := bytes.Cut(text, []byte(" text="+fingerprint(n.Text)))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	return found && bytes.HasSuffix(bytes.TrimRight(line, " \t\r"), []byte(markerEnd))
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
