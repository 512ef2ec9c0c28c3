package chunker

import (
	"strings"
	"unicode/utf8"
)

// windowRunes is the maximum number of characters of a window.
const windowRunes = 300

// Window is a run of whole lines of a text, or a part of one long line.
type Window struct {
	// Text of the window, without white space at its ends.
	Text string
	// Start is the offset of Text, in bytes, in the text that was cut.
	Start int
	// Above is the head of the table that the window is a row of; empty for others.
	Above string
	// From and To are the first and the last line with text, counted from 0 in the text that was cut.
	From, To int
}

// Windows cuts a text into windows of at most 300 characters, so that a vector is of one thing: a heading, an item of a list that is
// a sentence, and a row of a table begin a window, and the end of a paragraph ends one. A line that is longer becomes windows of its
// own, cut after the ends of sentences. Windows do not overlap, and every line that is not blank is in at least one. A blank text has
// no window.
func Windows(text string) []Window {
	var c windowCutter
	start := 0
	var before Line
	blank := false
	lines := Lines(text, "", true)
	for line, l := range lines {
		if l.beginsUnit(before, blank) {
			c.close()
			c.above = TableHead(lines, line)
		}
		runes := utf8.RuneCountInString(l.Text)
		if runes <= windowRunes {
			c.push(l.Text, start, runes, line)
		} else {
			c.close()
			at := start
			for _, s := range sentences(l.Text, windowRunes) {
				c.push(s, at, utf8.RuneCountInString(s), line)
				at += len(s)
			}
			c.close()
		}
		start += len(l.Text)
		if blank = isBlank(l.Text); !blank {
			before = l
		}
	}
	c.close()
	return c.windows
}

// beginsUnit reports whether a line says something of its own, apart from the line before it. blank reports that the last line was
// blank, and before is the last line that was not.
func (l Line) beginsUnit(before Line, blank bool) bool {
	switch {
	case isBlank(l.Text) || l.Fence != "":
		return false
	case l.Level > 0:
		return before.Level == 0 || before.EndsBefore(l) // headings that follow each other are one
	case before.Level > 0 || before.Underline:
		return isNoteHeading(before.Title())
	case l.Block > 0 && l.Block == before.Block:
		return strings.Contains(l.Text, "|") && !isTableRule(l.Text) && !isTableRule(before.Text)
	}
	return blank || isSentenceItem(l.Text)
}

// isNoteHeading reports whether a heading says only when a note was written and of which kind, "10:30 - decision".
func isNoteHeading(title string) bool {
	return len(title) >= 5 && title[2] == ':' && strings.Trim(title[:2]+title[3:5], "0123456789") == ""
}

// isSentenceItem reports whether a line is an item of a list with at least three words.
func isSentenceItem(line string) bool {
	line = strings.TrimLeft(line, " \t")
	if !isBullet(line) {
		return false
	}
	_, said, _ := strings.Cut(strings.TrimSpace(line), " ")
	words, wide := 0, 0
	for _, w := range strings.Fields(said) {
		words++
		for _, r := range w {
			if r >= 0x2E80 {
				wide++
			}
		}
	}
	return words >= 3 || wide >= 6
}

// windowCutter collects pieces of a text until a window is full.
type windowCutter struct {
	windows []Window
	// above is the head of the table of which the next window is a row.
	above string
	// text of the open window, its offset, its length in characters and its lines.
	text     strings.Builder
	start    int
	runes    int
	from, to int
}

// push adds a piece at an offset of a line to the open window, or to a new one if it does not fit.
func (c *windowCutter) push(piece string, start, runes, line int) {
	if c.runes+runes > windowRunes {
		c.close()
	}
	blank := isBlank(piece)
	if c.runes == 0 {
		if blank {
			return
		}
		c.start, c.from = start+spaces(piece), line
	}
	if !blank {
		c.to = line
	}
	c.text.WriteString(piece)
	c.runes += runes
}

// close ends the open window, if there is one.
func (c *windowCutter) close() {
	if c.runes > 0 {
		c.windows = append(c.windows, Window{Text: strings.TrimSpace(c.text.String()), Start: c.start, From: c.from, To: c.to, Above: c.above})
		c.above = ""
	}
	c.text.Reset()
	c.runes = 0
}
