package chunker

import (
	"slices"
	"strings"
)

// unit is the smallest part of a text that a packer moves: a line, a run of blank lines, a block of lines that fits into a
// chunk, or a part of a line that does not.
type unit struct {
	// start and end of the unit in the text, with the final newline.
	start, end int
	// line and last are its first and last line.
	line, last int
	// tokens of the unit by itself, at least those of the unit without its newline.
	tokens int
	// fence is the mark of the code fence that the unit begins in, empty if it begins in none.
	fence string
	// level of the heading, 0 if the unit is not a heading.
	level int
	// head is the head of the table that the unit is a row of, empty for the head itself and for what is no row.
	head string
	// blank is set for blank lines, part for a part of a line.
	blank, part bool
}

// outline turns a text into units.
type outline struct {
	opts    Options
	counter *counter
	kind    Kind
	text    string
	units   []unit
	// body is the index of the first unit after the front matter.
	body int
	// pos is the offset of the next line and line its number.
	pos, line int

	// open is the number of the Block that the last line belongs to, 0 for none, and openStart its first unit.
	open, openStart int
	// head is the head of the open block if that is a table.
	head string
	// entry is the first unit of the entry that the last line belongs to, -1 for none.
	entry int
}

func newOutline(opts Options, counter *counter, kind Kind, text string) *outline {
	return &outline{opts: opts, counter: counter, kind: kind, text: text, line: 1, entry: -1}
}

// pushPlain appends the units of the next lines, which are text, without looking for Markdown in them.
func (o *outline) pushPlain(text string) {
	for line := range strings.Lines(text) {
		o.pushUnits(Line{Text: line})
	}
	o.body = len(o.units)
}

// pushMarkdown appends the units of the remaining lines.
func (o *outline) pushMarkdown(lines []Line) {
	for _, line := range lines {
		o.pushLine(line)
	}
	o.endBlock()
	o.endEntry()
}

// pushLine appends the units of a line of Markdown.
func (o *outline) pushLine(line Line) {
	if line.Block != o.open {
		o.endBlock()
	}
	outside := o.kind == Entries && line.Fence == ""
	if outside && o.startsEntry(line) {
		o.endEntry()
	}
	at := len(o.units)
	if line.Block != o.open {
		o.open, o.openStart, o.head = line.Block, at, line.tableHead()
		o.pushUnits(line)
	} else {
		o.pushUnits(line)
		for i := range o.units[at:] {
			o.units[at+i].head = o.head
		}
	}
	if line.Level > 0 {
		o.units[at].level = line.Level
	} else if outside && isBullet(line.Text) {
		o.entry = at
	}
}

// startsEntry reports whether a line cannot belong to the entry before it: a heading, a top-level bullet, or a line after a
// blank one that is not indented.
func (o *outline) startsEntry(line Line) bool {
	if line.Level > 0 || isBullet(line.Text) {
		return true
	}
	afterBlank := len(o.units) > 0 && o.units[len(o.units)-1].blank
	return afterBlank && !isBlank(line.Text) && indent(line.Text) == 0
}

// textOf returns the text of a unit.
func (o *outline) textOf(u unit) string {
	return o.text[u.start:u.end]
}

// endBlock joins the units of the open block.
func (o *outline) endBlock() {
	if o.open > 0 {
		o.joinUnits(o.openStart)
		o.open = 0
	}
}

// endEntry joins the units of the open entry.
func (o *outline) endEntry() {
	if o.entry >= 0 {
		o.joinUnits(o.entry)
		o.entry = -1
	}
}

// joinUnits joins all units from first on, without blank lines at the end, if they fit into a chunk.
func (o *outline) joinUnits(first int) {
	end, tokens := len(o.units), 0
	if o.units[end-1].blank {
		end--
	}
	for _, u := range o.units[first:end] {
		if tokens += u.tokens; u.part || tokens > o.opts.Tokens {
			return
		}
	}
	whole := o.units[first]
	whole.end, whole.last = o.units[end-1].end, o.units[end-1].last
	own, fits := o.counter.fit(o.textOf(whole), o.opts.Tokens)
	if whole.tokens = max(own, tokens); fits {
		o.units = slices.Replace(o.units, first, end, whole)
	}
}

// pushUnits appends the units of the next line.
func (o *outline) pushUnits(line Line) {
	u := unit{start: o.pos, end: o.pos + len(line.Text), line: o.line, last: o.line, fence: line.Fence, blank: isBlank(line.Text)}
	o.pos, o.line = u.end, o.line+1
	if u.blank {
		o.pushBlank(u)
		return
	}
	if tokens, fits := o.counter.fit(line.Text, o.opts.Tokens); fits {
		u.tokens = tokens
		o.units = append(o.units, u)
		return
	}
	o.pushParts(u, sentence, word, o.block)
}

// pushBlank appends a blank line to the run of blank lines before it.
func (o *outline) pushBlank(u unit) {
	u.tokens = o.counter.count(o.textOf(u))
	if last := len(o.units) - 1; last >= 0 && o.units[last].blank && !o.units[last].part {
		o.units[last].end, o.units[last].last = u.end, u.last
		o.units[last].tokens += u.tokens
		return
	}
	o.units = append(o.units, u)
}
