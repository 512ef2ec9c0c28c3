package lineedit

import (
	"fmt"
	"strings"

	"github.com/rivo/uniseg"
)

// screen is where a text is being edited: it knows where it has left the cursor.
type screen struct {
	prompt string
	// row of the cursor, from 0, below the first row that was drawn.
	row int
}

// layout is a text in the rows of a terminal, with the place of the cursor in columns.
type layout struct {
	rows        []string
	row, column int
}

// lay puts a text with its prompt into rows of a width. Rows after a newline are indented as far as the first one.
func lay(prompt string, b *buffer, width int) layout {
	indent := uniseg.StringWidth(prompt)
	l := layout{rows: []string{prompt}, row: -1}
	column, state := indent, -1
	for at, text := 0, b.text(); at < len(text); {
		cluster, _, _, next := uniseg.FirstGraphemeClusterInString(text[at:], state)
		shown, w := glyph(cluster)
		if column+w > width {
			l.rows, column = append(l.rows, ""), 0
		}
		if l.row < 0 && at >= len(b.before) {
			l.row, l.column = len(l.rows)-1, min(column, width-1)
		}
		l.rows[len(l.rows)-1] += shown
		column += w
		if cluster == "\n" {
			l.rows, column = append(l.rows, strings.Repeat(" ", indent)), indent
		}
		at, state = at+len(cluster), next
	}
	if l.row >= 0 {
		return l
	}
	// A terminal shows no cursor behind its last column.
	if column >= width {
		l.rows, column = append(l.rows, ""), 0
	}
	l.row, l.column = len(l.rows)-1, column
	return l
}

// glyph is how a character is shown, and how many columns that takes.
func glyph(cluster string) (shown string, width int) {
	switch cluster {
	case "\n":
		return "", 0
	case "\t":
		return "    ", 4
	}
	return cluster, uniseg.StringWidth(cluster)
}

// draw returns what shows a text in place of what was drawn before. Of a text with more rows than the terminal has, those
// around the cursor are shown.
func (s *screen) draw(b *buffer, width, height int) string {
	l := lay(s.prompt, b, max(width, 4))
	if height = max(height, 2); len(l.rows) > height {
		first := min(max(l.row-height/2, 0), len(l.rows)-height)
		l.rows, l.row = l.rows[first:first+height], l.row-first
	}
	out := s.start() + strings.Join(l.rows, "\r\n") + up(len(l.rows)-1-l.row) + "\r"
	if l.column > 0 {
		out += fmt.Sprintf("\x1b[%dC", l.column)
	}
	s.row = l.row
	return out
}

// start goes back to where the first row begins and clears all from there.
func (s *screen) start() string { return up(s.row) + "\r\x1b[J" }

func up(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA", n)
}
