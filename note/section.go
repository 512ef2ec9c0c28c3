package note

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/chunker"
	"kioku/internal/text"
)

// noteSpot is where a long-term note goes in a text.
type noteSpot struct {
	// at is the offset of the note, the length of the text for its end.
	at int
	// lead and tail stand around the note.
	lead, tail string
}

// spotOf returns where a note of a category goes in a text: below what the last heading has that names the category, or else at the
// end, below a new heading. A note without a category that has no heading of its own goes to the end of a text without sections.
func spotOf(src []byte, category string) noteSpot {
	lines := linesOf(src)
	last := -1
	sections := false
	for i, line := range lines {
		sections = sections || line.Level > 1
		if line.Level > 0 && names(line.Title(), category) {
			last = i
		}
	}
	switch {
	case last >= 0:
		return belowHeading(src, lines, last)
	case category == noCategory && !sections:
		return noteSpot{at: len(src), lead: gapAfter(src, false)}
	}
	return newSection(src, category)
}

// newSection returns the end of a text, below a new heading of a category.
func newSection(src []byte, category string) noteSpot {
	lead := "## " + titleOf(category) + "\n\n"
	if len(bytes.TrimSpace(src)) > 0 {
		lead = gapAfter(src, true) + lead
	}
	return noteSpot{at: len(src), lead: lead}
}

// linesOf returns the lines of a text with their headings. The front matter, comments and bullets have none. The lines are those of src, but
// end with "\n" and are valid UTF-8.
func linesOf(src []byte) []chunker.Line {
	normal := chunker.Normalize(src)
	lines := chunker.Lines(normal, "", true)
	if _, length, err := text.FrontMatterBlock(normal); err == nil {
		for i := range strings.Count(normal[:length], "\n") {
			lines[i].Level = 0
		}
	}
	comment := false
	for i, line := range lines {
		if strings.HasPrefix(line.Text, bulletIndent) {
			lines[i].Level = 0 // a heading within a bullet
		}
		if comment {
			lines[i].Level = 0
		}
		comment = opensComment(line, comment)
	}
	return lines
}

// opensComment reports whether a comment is open behind a line, from whether one was before it.
func opensComment(line chunker.Line, open bool) bool {
	begins, ends := strings.LastIndex(line.Text, "<!--"), strings.LastIndex(line.Text, "-->")
	return line.Fence == "" && begins > ends || open && ends < 0
}

// belowHeading returns the spot behind the last line that is not blank between a heading and the next one.
func belowHeading(src []byte, lines []chunker.Line, heading int) noteSpot {
	first := heading + 1
	if first < len(lines) && lines[first].Underline {
		first++
	}
	end := first
	for end < len(lines) && lines[end].Level == 0 {
		end++
	}
	last := end - 1
	for last >= first && strings.TrimSpace(lines[last].Text) == "" {
		last--
	}
	blank := last < first || !inList(lines[last].Text)
	if end == len(lines) {
		return noteSpot{at: len(src), lead: gapAfter(src, blank)}
	}
	at := offsetOf(src, last+1)
	spot := noteSpot{at: at, lead: gapAfter(src[:at], blank)}
	if last+1 == end { // the next heading follows at once
		spot.tail = "\n"
	}
	return spot
}

// inList reports whether a bullet may follow a line without a blank line between.
func inList(line string) bool {
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ") ||
		strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, markerStart)
}

// offsetOf returns the offset behind the first n lines of a text.
func offsetOf(src []byte, n int) int {
	at := 0
	for range n {
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 {
			return len(src)
		}
		at += i + 1
	}
	return at
}

// gapAfter returns the line breaks between a text and a note, with a blank line if blank is set.
func gapAfter(src []byte, blank bool) string {
	end := strings.ReplaceAll(string(src[max(0, len(src)-4):]), "\r\n", "\n")
	switch {
	case len(src) == 0 || blank && strings.HasSuffix(end, "\n\n"):
		return ""
	case !strings.HasSuffix(end, "\n") && blank:
		return "\n\n"
	case !strings.HasSuffix(end, "\n") || blank:
		return "\n"
	}
	return ""
}

// names reports whether a heading has the name of a category, in whatever case and also as the usual English plural of it.
func names(heading, category string) bool {
	heading, category = plainTitle(heading), plainTitle(category)
	return heading != "" && (strings.EqualFold(heading, category) || isPlural(heading, category) || isPlural(category, heading))
}

// plainTitle returns the words of a heading without the marks around them.
func plainTitle(title string) string {
	title = strings.TrimSpace(removeMarkers(title))
	return strings.Join(strings.Fields(strings.Trim(title, "*_`:： \t")), " ")
}

// isPlural reports whether a word is the usual English plural of another.
func isPlural(many, one string) bool {
	many, one = strings.ToLower(many), strings.ToLower(one)
	stem, y := strings.CutSuffix(one, "y")
	return many == one+"s" || many == one+"es" || y && many == stem+"ies"
}

// titleOf returns the heading of a new section for a category.
func titleOf(category string) string {
	if category == noCategory {
		return "Notes"
	}
	first, size := utf8.DecodeRuneInString(category)
	return string(unicode.ToUpper(first)) + category[size:]
}
