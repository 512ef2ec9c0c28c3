package note

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"kioku/internal/text"
	"kioku/memory"
)

// maxToldLines is the maximum number of lines that an error names.
const maxToldLines = 5

// patch is a change of a text.
type patch struct {
	// from and to are the offsets of what is replaced, whole lines or a part of one, and added takes its place.
	from, to int
	added    string
}

// apply returns a text with the change.
func (c patch) apply(src []byte) []byte {
	return slices.Concat(src[:c.from], []byte(c.added), src[c.to:])
}

// around returns the rest of the lines that a patch changes and the lines above and below them.
func (c patch) around(src []byte) (lead, tail string) {
	start := 1 + bytes.LastIndexByte(src[:c.from], '\n')
	if start > 0 {
		start = 1 + bytes.LastIndexByte(src[:start-1], '\n')
	}
	end := c.to
	if end == 0 || end < len(src) && src[end-1] != '\n' {
		end = endOfLine(src, end)
	}
	if end < len(src) {
		end = endOfLine(src, end)
	}
	return string(src[start:c.from]), string(src[c.to:end])
}

// narrow returns a change without what is the same at its beginning and end, in whole lines.
func narrow(c patch, src []byte) patch {
	for c.from < c.to {
		line := string(src[c.from:min(endOfLine(src, c.from), c.to)])
		if !strings.HasSuffix(line, "\n") || !strings.HasPrefix(c.added, line) {
			break
		}
		c.from += len(line)
		c.added = c.added[len(line):]
	}
	for c.from < c.to {
		line := string(src[1+bytes.LastIndexByte(src[c.from:c.to-1], '\n')+c.from : c.to])
		if !strings.HasSuffix(c.added, line) || len(c.added) > len(line) && c.added[len(c.added)-len(line)-1] != '\n' {
			break
		}
		c.to -= len(line)
		c.added = c.added[:len(c.added)-len(line)]
	}
	return c
}

// changeOf returns the change that an update makes in a text. It returns a *memory.InputError if the old text does not occur exactly
// once.
func changeOf(src []byte, u memory.Update) (patch, error) {
	from, to, err := findOld(src, u.OldText)
	if err != nil {
		return patch{}, err
	}
	if u.NewText == "" {
		return removal(src, from, to), nil
	}
	c := patch{from, to, u.NewText}
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

// findOld returns the offsets of the only place at which a text has another. White space and Kioku's markers do not matter, nor do the
// composition of characters, the forms of quotes and dashes, and what is invisible, if the text is nowhere else as it is.
func findOld(src []byte, old string) (from, to int, err error) {
	var s squeezed
	var at []int
	for _, fold := range []bool{false, true} {
		s = squeeze(src, fold)
		want := squeeze([]byte(old), fold).text
		at = s.find(want)
		if len(at) == 1 {
			last := at[0] + len(want) - 1
			return s.start[at[0]], s.end[last], nil
		}
		if len(at) > 1 {
			break
		}
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
	for i, line := range strings.Split(string(text.StripMarks(src)), "\n") {
		if s := dice(want, termSet(line)); s >= minNear {
			all = append(all, near{s, fmt.Sprintf("%d: %.300s", i+1, strings.TrimSpace(line)) + difference(line, old)})
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return -cmp.Compare(a.score, b.score) })
	var out []string
	for _, n := range all[:min(len(all), 3)] {
		out = append(out, n.text)
	}
	return out
}

// difference says what a line consists of if it looks as if it had a text; empty if people see that it does not.
func difference(line, old string) string {
	seen := func(s string) string {
		return string(squeeze([]byte(norm.NFKC.String(strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
				return -1
			}
			return r
		}, s))), true).text)
	}
	if !strings.Contains(seen(line), seen(old)) {
		return ""
	}
	return fmt.Sprintf(" (it only looks the same: %.300s)", strconv.QuoteToASCII(strings.TrimSpace(line)))
}

// squeezed is a text with one space for each run of white space and without markers, and for each byte the offsets at which what it
// stands for starts and ends.
type squeezed struct {
	text       []byte
	start, end []int
}

// find returns where a squeezed text has another one, in whole characters; not more than one place beyond maxToldLines.
func (s squeezed) find(want []byte) (at []int) {
	for i := 0; len(want) > 0 && len(at) <= maxToldLines; {
		next := bytes.Index(s.text[i:], want)
		if next < 0 {
			break
		}
		i += next + 1
		if begin := i - 1; !s.within(begin) && !s.within(begin+len(want)) {
			at = append(at, begin)
		}
	}
	return at
}

// within reports whether an offset lies in the middle of a character, which may be a letter and its marks.
func (s squeezed) within(i int) bool {
	if i <= 0 || i >= len(s.text) {
		return false
	}
	r, _ := utf8.DecodeRune(s.text[i:])
	return s.start[i] == s.start[i-1] || unicode.Is(unicode.Mn, r)
}

// squeeze returns the squeezed form of a text, without white space at its beginning and end; folded as foldCharacter says if fold is set.
func squeeze(src []byte, fold bool) squeezed {
	s := squeezed{}
	markers := markerPattern.FindAllIndex(src, -1)
	blank := -1 // where the run of white space begins that was not written yet
	add := func(text []byte, start, end int) {
		for _, c := range text {
			s.text, s.start, s.end = append(s.text, c), append(s.start, start), append(s.end, end)
		}
	}
	for i := 0; i < len(src); {
		if len(markers) > 0 && i == markers[0][0] {
			i = markers[0][1]
			markers = markers[1:]
			continue
		}
		r, size := utf8.DecodeRune(src[i:])
		if unicode.IsSpace(r) {
			if blank < 0 {
				blank = i
			}
			i += size
			continue
		}
		character := src[i : i+size]
		if fold && (r >= utf8.RuneSelf || i+1 < len(src) && src[i+1] >= utf8.RuneSelf) {
			size = max(size, norm.NFC.NextBoundary(src[i:], true))
			character = foldCharacter(src[i : i+size])
		}
		if len(character) > 0 {
			if blank >= 0 && len(s.text) > 0 {
				add([]byte(" "), blank, i)
			}
			blank = -1
			add(character, i, i+size)
		}
		i += size
	}
	return s
}

// typed are the characters of a keyboard that typographic ones stand for. Those that nobody sees stand for nothing.
var typed = strings.NewReplacer("‘", "'", "’", "'", "‚", "'", "‛", "'", "ʼ", "'", "′", "'", "´", "'", "＇", "'",
	"“", `"`, "”", `"`, "„", `"`, "‟", `"`, "«", `"`, "»", `"`, "″", `"`, "＂", `"`, "‹", "'", "›", "'",
	"‐", "-", "‑", "-", "‒", "-", "–", "-", "—", "-", "―", "-", "−", "-", "－", "-", "…", "...",
	"\u00ad", "", "\u200b", "", "\u200c", "", "\u200e", "", "\u200f", "", "\u2060", "", "\ufeff", "")

// foldCharacter returns a character with its accents composed, and as it is typed.
func foldCharacter(c []byte) []byte { return []byte(typed.Replace(string(norm.NFC.Bytes(c)))) }

// listMark matches what is left of a line if the text of a bullet is gone.
var listMark = regexp.MustCompile(`^[ \t>]*(?:[-*+]|\d+[.)]|#+)?(?: \[[ xX]\])?[ \t]*\r?\n?$`)

// removal returns the change that removes a text, with its lines and their markers if nothing else is left of them.
func removal(src []byte, from, to int) patch {
	first := 1 + bytes.LastIndexByte(src[:from], '\n')
	last := endOfLine(src, to)
	left := markerPattern.ReplaceAll(slices.Concat(src[first:from], src[to:last]), nil)
	if !listMark.Match(left) {
		return patch{from: from, to: to}
	}
	for last < len(src) && isMarkerLine(src[last:endOfLine(src, last)], "") {
		last = endOfLine(src, last)
	}
	if before := 1 + bytes.LastIndexByte(src[:max(first-1, 0)], '\n'); isMarkerLine(src[before:first], " begins=") {
		first = before
	}
	return patch{from: first, to: last}
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
func markedChange(src []byte, c patch, source string) patch {
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
