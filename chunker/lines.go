package chunker

import (
	"slices"
	"strings"

	"kioku/internal/text"
)

// Line is a line of Markdown with its role among the lines around it.
type Line struct {
	// Text of the line, with its newline.
	Text string
	// Level of the heading that begins on the line, 1 to 6; 0 for other lines.
	Level int
	// Underline reports whether the line underlines the heading on the line before it.
	Underline bool
	// Block is the number, from 1, of the code fence, table or underlined heading that the line belongs to; 0 for other
	// lines.
	Block int
	// Fence is the mark of the code fence that is open before the line, "```"; empty if none is. The last line of a fence
	// has it, the first does not.
	Fence string
}

// IsEntry reports whether the line is the heading of an entry, "## 15:04 - decision".
func (l Line) IsEntry() bool { return l.Level > 0 && text.IsEntryHeading(l.Text) }

// isDay reports whether the line is a heading that is only a day, as that of a file of notes is.
func (l Line) isDay() bool {
	day, start, end := text.FindDay(l.Title())
	return l.Level > 0 && day != "" && start == 0 && end == len(l.Title())
}

// EndsBefore reports whether what is under a heading ends before a line, even if there is no text: an entry begins there. The first entry of
// a day stays with the heading of the day.
func (l Line) EndsBefore(next Line) bool { return next.IsEntry() && l.Text != "" && !l.isDay() }

// Title returns the words of the heading that begins on the line, the whole line if none does.
func (l Line) Title() string { return headingTitle(l.Text) }

// fileHeading returns the words of the heading that stands for the whole file: a heading of level 1 that is the first text, or
// that is the only one, above the first entry. It returns "" if there is none.
func fileHeading(lines []Line) string {
	title, first := "", true
	for _, line := range lines {
		switch {
		case line.IsEntry():
			return title
		case line.Level == 1 && first:
			return line.Title()
		case line.Level == 1 && title != "":
			return ""
		case line.Level == 1:
			title = line.Title()
		}
		first = first && isBlank(line.Text)
	}
	return title
}

// Lines returns the lines of a text. fence is the mark of the code fence that is open at its start, empty for none. Lines
// in a fence are neither headings nor tables. If whole is set, the text ends outside of any fence: then the mark of a
// fence that is never closed is plain text, so that it does not hide all headings below it, and no line after it opens a
// fence. In the same way a fence that an entry does not close ends before the next entry.
func Lines(src, fence string, whole bool) []Line {
	r := lineReader{lines: make([]Line, 0, strings.Count(src, "\n")+1), fence: fence, opened: -1}
	if fence != "" {
		r.blocks = 1
	}
	all := slices.Collect(strings.Lines(src))
	entry := false
	for i, line := range all {
		if text.IsEntryHeading(line) && (r.fence == "" || entry && r.opened >= 0 && isBlank(all[i-1])) {
			r.dropFence(all[:i])
			r.fenceless, entry = false, true
		}
		r.appendLine(line)
	}
	if whole {
		r.dropFence(all)
	}
	return r.lines
}

// dropFence makes plain text of the fence that is open at the end of lines, if it begins in them.
func (r *lineReader) dropFence(all []string) {
	if r.fence == "" || r.opened < 0 {
		return
	}
	r.lines = r.lines[:r.opened+1]
	r.lines[r.opened].Block = 0
	r.fence, r.fenceless = "", true
	for _, line := range all[len(r.lines):] {
		r.appendLine(line)
	}
}

// lineReader is the state of Lines between two lines.
type lineReader struct {
	lines []Line
	// blocks is the number of the last block.
	blocks int
	// fence is the mark of the open fence, empty for none, and opened the index of the line that opened it, -1 for none.
	fence  string
	opened int
	// fenceless is set if no line opens a fence any more.
	fenceless bool
	// table is set if the line before belongs to a table.
	table bool
}

// appendLine appends the next line.
func (r *lineReader) appendLine(text string) {
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

// newBlock returns the number of a new block.
func (r *lineReader) newBlock() int {
	r.blocks++
	return r.blocks
}

// endsWithTitle reports whether the last line is a paragraph of one line, and so a heading if the next underlines it.
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

// endsWithRow reports whether the last line may be the head of a table.
func (r *lineReader) endsWithRow() bool {
	last := len(r.lines) - 1
	return last >= 0 && r.lines[last].Block == 0 && r.lines[last].Level == 0 && strings.Contains(r.lines[last].Text, "|")
}
