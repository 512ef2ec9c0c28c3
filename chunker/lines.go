package chunker

import (
	"slices"
	"strings"
)

// Line is a line of Markdown, and what it is to the lines around it.
type Line struct {
	// Text of the line, with its newline.
	Text string
	// Level of the heading that begins on the line, 1 to 6; 0 where none does.
	Level int
	// Underline says that the line underlines the heading on the line before it.
	Underline bool
	// Block numbers from 1 the code fences, tables and underlined headings of a text; 0 for a line of none.
	Block int
	// Fence is the mark of the code fence that was open before the line, "```"; empty where none was. The last line of a
	// fence has it, the first has not.
	Fence string
}

// Title returns the words of the heading that begins on the line.
func (l Line) Title() string { return headingTitle(l.Text) }

// Lines reads a text line by line. It begins within the fence with the mark fence, empty for none. Lines in a fence are
// neither headings nor tables. A fence that is open at the end is cut off there; but where the end of the text is known
// to lie in no fence (whole), its mark was none, lest a stray one hide all headings below it, and no line after it opens
// another.
func Lines(text, fence string, whole bool) []Line {
	r := lineReader{lines: make([]Line, 0, strings.Count(text, "\n")+1), fence: fence, opened: -1}
	if fence != "" {
		r.blocks = 1
	}
	all := slices.Collect(strings.Lines(text))
	for _, line := range all {
		r.read(line)
	}
	if r.fence == "" || r.opened < 0 || !whole {
		return r.lines
	}
	r.lines = r.lines[:r.opened+1]
	r.lines[r.opened].Block = 0
	r.fence, r.fenceless = "", true
	for _, line := range all[len(r.lines):] {
		r.read(line)
	}
	return r.lines
}

// lineReader is what Lines knows of the lines before the next one.
type lineReader struct {
	lines []Line
	// blocks so far.
	blocks int
	// fence is the mark of the open fence, empty for none, and opened the place of the line that opened it.
	fence  string
	opened int
	// fenceless says that no line opens a fence any more.
	fenceless bool
	// table says that the line before belongs to one.
	table bool
}

// read appends a line.
func (r *lineReader) read(text string) {
	line := Line{Text: text, Fence: r.fence}
	if r.fence != "" {
		line.Block = r.blocks
		if closesFence(text, r.fence) {
			r.fence = ""
		}
		r.lines = append(r.lines, line)
		return
	}
	mark, level, underline := fenceMark(text), headingLevel(text), underlineLevel(text)
	table := r.table
	r.table = false
	switch {
	case underline > 0 && r.endsWithTitle():
		title := &r.lines[len(r.lines)-1]
		title.Level, title.Block = underline, r.newBlock()
		line.Underline, line.Block = true, r.blocks
	case mark != "" && !r.fenceless:
		r.fence, r.opened, line.Block = mark, len(r.lines), r.newBlock()
	case level > 0:
		line.Level = level
	case isBullet(text) || !strings.Contains(text, "|"):
	case table:
		r.table, line.Block = true, r.blocks
	case isTableRule(text) && r.endsWithRow():
		r.table, line.Block = true, r.newBlock()
		r.lines[len(r.lines)-1].Block = r.blocks
	}
	r.lines = append(r.lines, line)
}

func (r *lineReader) newBlock() int {
	r.blocks++
	return r.blocks
}

// endsWithTitle is true if the last line read would be a heading were it underlined: a paragraph of one line.
func (r *lineReader) endsWithTitle() bool {
	last := len(r.lines) - 1
	if last < 0 || r.lines[last].Level > 0 || r.lines[last].Block > 0 || isBlank(r.lines[last].Text) {
		return false
	}
	if last > 0 {
		before := r.lines[last-1]
		if !isBlank(before.Text) && before.Level == 0 && !before.Underline {
			return false
		}
	}
	return isParagraph(r.lines[last].Text)
}

// endsWithRow is true if the last line read may be the head of a table.
func (r *lineReader) endsWithRow() bool {
	last := len(r.lines) - 1
	return last >= 0 && r.lines[last].Block == 0 && r.lines[last].Level == 0 && strings.Contains(r.lines[last].Text, "|")
}
