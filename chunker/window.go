package chunker

import (
	"strings"
	"unicode"
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
	// From and To are the first and the last line with text, counted from 0 in the text that was cut.
	From, To int
}

// Windows cuts a text into windows of at most 300 characters. A line that is longer becomes windows of its own, cut after
// the ends of sentences. Windows do not overlap, and every line that is not blank is in at least one. A blank text has no
// window.
func Windows(text string) []Window {
	var c windowCutter
	line, start := 0, 0
	for l := range strings.Lines(text) {
		runes := utf8.RuneCountInString(l)
		if runes <= windowRunes {
			c.push(l, start, runes, line)
		} else {
			c.close()
			at := start
			for _, s := range Sentences(l, windowRunes) {
				c.push(s, at, utf8.RuneCountInString(s), line)
				at += len(s)
			}
			c.close()
		}
		start += len(l)
		line++
	}
	c.close()
	return c.windows
}

// windowCutter collects pieces of a text until a window is full.
type windowCutter struct {
	windows []Window
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
		c.windows = append(c.windows, Window{Text: strings.TrimSpace(c.text.String()), Start: c.start, From: c.from, To: c.to})
	}
	c.text.Reset()
	c.runes = 0
}

// Sentences cuts a line into parts of at most limit characters, after the ends of its sentences. The parts together are the
// line. A sentence that is too long is cut into eighths of limit, after a space if there is one.
func Sentences(line string, limit int) []string {
	var out []string
	for len(line) > 0 {
		end := sentence(line)
		end += spaces(line[end:])
		s := line[:end]
		line = line[end:]
		for utf8.RuneCountInString(s) > limit {
			n := wordsWithin(s, max(1, limit/8))
			out = append(out, s[:n])
			s = s[n:]
		}
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// wordsWithin returns the offset after the last space among the first n characters of s, or after the n-th character if
// there is none.
func wordsWithin(s string, n int) int {
	space := 0
	for i, r := range s {
		if n == 0 {
			if space > 0 {
				return space
			}
			return i
		}
		n--
		if unicode.IsSpace(r) {
			space = i + utf8.RuneLen(r)
		}
	}
	return len(s)
}
