package chunker

import (
	"slices"
	"strings"
)

// unit is what a walk takes or leaves as a whole: a line, a run of blank lines, a block of lines that fits into a
// chunk, or a part of a line that doesn't.
type unit struct {
	// start and end of the unit in the text, with the final newline.
	start, end int
	// line and last are its first and last line.
	line, last int
	// tokens of the unit by itself, at least those of the unit without its newline.
	tokens int
	// level of the heading that the unit is, 0 if it is none.
	level int
	blank bool
	part  bool
}

// outline makes units of a text.
type outline struct {
	opts    Options
	counter *counter
	kind    Kind
	text    string
	units   []unit
	// body is the index of the first unit after the front matter.
	body int
	// pos and line are where the next line starts.
	pos, line int

	fence fence
	// fenceless is true after a fence that is never closed: then no line opens one any more.
	fenceless bool
	// table and entry are the first units of what is open, -1 if nothing is.
	table, entry int
}

// fence is an open code fence; its mark is 0 if there is none.
type fence struct {
	mark byte
	size int
	// first is the first unit of the opening line.
	first int
	// next, pos and line are where the line after it starts.
	next, pos, line int
}

func newOutline(opts Options, counter *counter, kind Kind, text string) *outline {
	return &outline{opts: opts, counter: counter, kind: kind, text: text, line: 1, table: -1, entry: -1}
}

// plain reads the lines of text, which come next, without looking for Markdown in them.
func (o *outline) plain(text string) {
	for end := o.pos + len(text); o.pos < end; {
		o.push(firstLine(o.text[o.pos:]))
	}
	o.body = len(o.units)
}

// markdown reads the rest of the text. What looks like a fence that is never closed is none, lest one stray mark
// hide all headings below it.
func (o *outline) markdown() {
	for {
		for o.pos < len(o.text) {
			o.add(firstLine(o.text[o.pos:]))
		}
		if o.fence.mark == 0 {
			break
		}
		o.units = o.units[:o.fence.next]
		o.pos, o.line = o.fence.pos, o.fence.line
		o.fence, o.fenceless = fence{}, true
	}
	o.endTable()
	o.endEntry()
}

// add reads a line of Markdown.
func (o *outline) add(line string) {
	if o.fence.mark != 0 {
		o.push(line)
		if closesFence(line, o.fence.mark, o.fence.size) {
			o.keep(o.fence.first)
			o.fence = fence{}
		}
		return
	}
	if o.table >= 0 && !strings.Contains(line, "|") {
		o.endTable()
	}
	if o.kind == Entries && o.startsEntry(line) {
		o.endEntry()
	}
	at := len(o.units)
	if level := underlineLevel(line); level > 0 && o.endsWithTitle() {
		o.push(line)
		o.keep(at - 1)
		o.units[at-1].level = level
		return
	}
	o.push(line)
	mark, size := opensFence(line)
	switch {
	case mark != 0 && !o.fenceless:
		o.fence = fence{mark: mark, size: size, first: at, next: len(o.units), pos: o.pos, line: o.line}
	case headingLevel(line) > 0:
		o.units[at].level = headingLevel(line)
	case o.kind == Entries && isBullet(line):
		o.entry = at
	case o.table < 0 && isTableRule(line) && o.endsWithRow(at):
		o.table = at - 1
	}
}

// startsEntry is true for a line that cannot belong to the entry before it: a heading, a top-level bullet, or a
// line that is not indented after a blank one.
func (o *outline) startsEntry(line string) bool {
	if headingLevel(line) > 0 || isBullet(line) {
		return true
	}
	afterBlank := len(o.units) > 0 && o.units[len(o.units)-1].blank
	return afterBlank && !isBlank(line) && indent(line) == 0
}

// endsWithTitle is true if the last line read would be a heading were it underlined: a paragraph of one line.
func (o *outline) endsWithTitle() bool {
	last := len(o.units) - 1
	if last < o.body || !o.isLine(last) {
		return false
	}
	if before := last - 1; before >= o.body && !o.units[before].blank && o.units[before].level == 0 {
		return false
	}
	return o.units[last].level == 0 && isParagraph(o.textOf(o.units[last]))
}

// endsWithRow is true if the unit before at may be the head of a table.
func (o *outline) endsWithRow(at int) bool {
	return at > o.body && o.isLine(at-1) && strings.Contains(o.textOf(o.units[at-1]), "|")
}

// isLine is true if the unit at index i is a single whole line that is not blank.
func (o *outline) isLine(i int) bool {
	u := o.units[i]
	return !u.blank && !u.part && u.line == u.last
}

func (o *outline) textOf(u unit) string {
	return o.text[u.start:u.end]
}

func (o *outline) endTable() {
	if o.table >= 0 {
		o.keep(o.table)
		o.table = -1
	}
}

func (o *outline) endEntry() {
	if o.entry >= 0 {
		o.keep(o.entry)
		o.entry = -1
	}
}

// keep makes one unit of all units from first on, without blank lines at the end, if they fit into a chunk.
func (o *outline) keep(first int) {
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

// push appends the units of the next line.
func (o *outline) push(line string) {
	u := unit{start: o.pos, end: o.pos + len(line), line: o.line, last: o.line, blank: isBlank(line)}
	o.pos, o.line = u.end, o.line+1
	if u.blank {
		o.pushBlank(u)
		return
	}
	if tokens, fits := o.counter.fit(line, o.opts.Tokens); fits {
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
