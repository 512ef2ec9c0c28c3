package kioku

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/internal/marks"
	"kioku/memory"
)

// maxToldLines is the maximum number of lines that an error names.
const maxToldLines = 5

// textChange is a change of a text.
type textChange struct {
	// from and to are the offsets of what is replaced, whole lines or a part of one, and added takes its place.
	from, to int
	added    string
}

// apply returns a text with the change.
func (c textChange) apply(src []byte) []byte {
	return slices.Concat(src[:c.from], []byte(c.added), src[c.to:])
}

// changeOf returns the change that an update makes in a text. It returns a *memory.InputError if the old text does not occur exactly
// once.
func changeOf(src []byte, u memory.Update) (textChange, error) {
	from, to, err := findOld(src, u.OldText)
	if err != nil {
		return textChange{}, err
	}
	if u.NewText == "" {
		return removal(src, from, to), nil
	}
	c := textChange{from, to, u.NewText}
	if u.Source != "" {
		c = markedChange(src, c, u.Source)
	}
	if bytes.Contains(src, []byte("\r\n")) {
		c.added = strings.ReplaceAll(strings.ReplaceAll(c.added, "\r\n", "\n"), "\n", "\r\n")
	}
	return c, nil
}

// leadOf returns what stands before an old text in its line; empty if the text does not occur exactly once.
func leadOf(src []byte, old string) string {
	from, _, err := findOld(src, old)
	if err != nil {
		return ""
	}
	return string(src[1+bytes.LastIndexByte(src[:from], '\n') : from])
}

// findOld returns the offsets of the only place at which a text has another. White space and Kioku's markers do not matter.
func findOld(src []byte, old string) (from, to int, err error) {
	s, want := squeeze(src), string(squeeze([]byte(old)).text)
	var at []int
	for i := 0; want != "" && len(at) <= maxToldLines; {
		next := bytes.Index(s.text[i:], []byte(want))
		if next < 0 {
			break
		}
		at = append(at, i+next)
		i += next + 1
	}
	if len(at) == 1 {
		last := at[0] + len(want) - 1
		return s.start[at[0]], s.end[last], nil
	}
	return 0, 0, &memory.InputError{Field: "old_text", Problem: oldProblem(src, s, at, old)}
}

// oldProblem says why an old text was not found at one place: at is where a squeezed text has it.
func oldProblem(src []byte, s squeezed, at []int, old string) string {
	if len(at) > 1 {
		var lines []string
		for _, i := range at[:min(len(at), maxToldLines)] {
			lines = append(lines, fmt.Sprint(1+countLineBreaks(src[:s.start[i]])))
		}
		return "occurs more than once, in the lines " + strings.Join(lines, ", ") + "; add some of what stands around it"
	}
	near := nearLines(src, old)
	if len(near) == 0 {
		return "does not occur in the file; read it with memory_get and give the text as it stands there"
	}
	return "does not occur in the file; near it are:\n" + strings.Join(near, "\n")
}

// nearLines returns the lines of a text that have most in common with another, with their numbers.
func nearLines(src []byte, old string) []string {
	const minNear = 0.3
	type near struct {
		score float64
		text  string
	}
	want := termSet(old)
	var all []near
	for i, line := range strings.Split(string(marks.Strip(src)), "\n") {
		if s := dice(want, termSet(line)); s >= minNear {
			all = append(all, near{s, fmt.Sprintf("%d: %.300s", i+1, strings.TrimSpace(line))})
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return -cmp.Compare(a.score, b.score) })
	var out []string
	for _, n := range all[:min(len(all), 3)] {
		out = append(out, n.text)
	}
	return out
}

// squeezed is a text with one space for each run of white space and without markers, and for each byte the offsets at which what it
// stands for starts and ends.
type squeezed struct {
	text       []byte
	start, end []int
}

// squeeze returns the squeezed form of a text, without white space at its beginning and end.
func squeeze(src []byte) squeezed {
	s := squeezed{}
	markers := markerPattern.FindAllIndex(src, -1)
	blank := -1 // where the run of white space begins that was not written yet
	for i := 0; i < len(src); {
		if len(markers) > 0 && i == markers[0][0] {
			i = markers[0][1]
			markers = markers[1:]
			continue
		}
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case unicode.IsSpace(r) && blank < 0:
			blank = i
		case unicode.IsSpace(r):
		default:
			if blank >= 0 && len(s.text) > 0 {
				s.text, s.start, s.end = append(s.text, ' '), append(s.start, blank), append(s.end, i)
			}
			blank = -1
			for range size {
				s.text, s.start, s.end = append(s.text, src[i]), append(s.start, i), append(s.end, i+1)
				i++
			}
			continue
		}
		i += size
	}
	return s
}

// listMark matches what is left of a line if the text of a bullet is gone.
var listMark = regexp.MustCompile(`^[ \t>]*(?:[-*+]|\d+[.)])?(?: \[[ xX]\])?[ \t]*\r?\n?$`)

// removal returns the change that removes a text, with its lines and their markers if nothing else is left of them.
func removal(src []byte, from, to int) textChange {
	first := 1 + bytes.LastIndexByte(src[:from], '\n')
	last := endOfLine(src, to)
	left := markerPattern.ReplaceAll(slices.Concat(src[first:from], src[to:last]), nil)
	if !listMark.Match(left) {
		return textChange{from: from, to: to}
	}
	for last < len(src) && isMarkerLine(src[last:endOfLine(src, last)], "") {
		last = endOfLine(src, last)
	}
	if before := 1 + bytes.LastIndexByte(src[:max(first-1, 0)], '\n'); isMarkerLine(src[before:first], " begins=") {
		first = before
	}
	return textChange{from: first, to: last}
}

// endOfLine returns the offset behind the line in which an offset lies.
func endOfLine(src []byte, at int) int {
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

// isMarkerLine reports whether a line has nothing but a marker that begins in a certain way. Without that, it is one at the end of a note.
func isMarkerLine(line []byte, begins string) bool {
	line = bytes.TrimSpace(line)
	if begins == "" && bytes.HasPrefix(line, []byte(markerStart+" begins=")) {
		return false
	}
	return bytes.HasPrefix(line, []byte(markerStart+begins)) && wholeMarker.Match(line)
}

var (
	// markerFrom matches the source in a marker, and markerOrigin what follows it.
	markerFrom   = regexp.MustCompile(` from=[a-z]+`)
	markerOrigin = regexp.MustCompile(` (?:channel|author)=`)
)

// markedChange returns a change with the source of the update recorded in the marker of the note that it changes, so that what a model
// writes does not pass for a person's. A note of a person without a marker gets one.
func markedChange(src []byte, c textChange, source string) textChange {
	end := endOfNote(src, c.to)
	rest := src[c.to:end]
	if m := lastEndMarker(rest); m != nil {
		marker := markerFrom.ReplaceAllString(string(rest[m[0]:m[1]]), "")
		from := " from=" + source
		if at := markerOrigin.FindStringIndex(marker); at != nil {
			marker = marker[:at[0]] + from + marker[at[0]:]
		} else {
			marker = strings.TrimSuffix(marker, markerEnd) + from + markerEnd
		}
		c.added += string(rest[:m[0]]) + marker
		c.to += m[1]
		return c
	}
	line := bytes.TrimRight(src[c.to:endOfLine(src, c.to)], "\r\n")
	if source == memory.NoteFromUser || inFence(src, c.from) || endsWithFence(c.added+string(line)) {
		return c
	}
	c.added += string(line) + " " + markerStart + " from=" + source + markerEnd
	c.to += len(line)
	return c
}

// lastEndMarker returns the offsets of the last marker in a text that ends a note, nil if there is none.
func lastEndMarker(text []byte) []int {
	for _, m := range slices.Backward(markerPattern.FindAllSubmatchIndex(text, -1)) {
		if begins := m[2] >= 0; !begins {
			return m[:2]
		}
	}
	return nil
}

// endOfNote returns the offset behind the note in which an offset lies: before the next blank line, heading or bullet.
func endOfNote(src []byte, at int) int {
	end := endOfLine(src, at)
	for end < len(src) {
		line := src[end:endOfLine(src, end)]
		if !bytes.HasPrefix(line, []byte(bulletIndent)) && !isMarkerLine(line, "") || len(bytes.TrimSpace(line)) == 0 {
			break
		}
		end += len(line)
	}
	return end
}

// inFence reports whether an offset lies in a code fence.
func inFence(src []byte, at int) bool {
	lines := linesOf(src)
	n := countLineBreaks(src[:at])
	return n < len(lines) && lines[n].Fence != ""
}
