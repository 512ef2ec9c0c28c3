package chunker

import "slices"

// unit is what a walk takes or leaves as a whole: a line, a run of blank lines, a block of lines that fits into a
// chunk, or a part of a line that doesn't.
type unit struct {
	// start and end of the unit in the text, with the final newline.
	start, end int
	// line and last are its first and last line.
	line, last int
	// tokens of the unit by itself, at least those of the unit without its newline.
	tokens int
	// fence is the mark of the code fence that the unit begins in, empty if it begins in none.
	fence string
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

	// open is the number of the Block that is open, 0 if none is, and openStart its first unit.
	open, openStart int
	// entry is the first unit of the entry that is open, -1 if none is.
	entry int
}

func newOutline(opts Options, counter *counter, kind Kind, text string) *outline {
	return &outline{opts: opts, counter: counter, kind: kind, text: text, line: 1, entry: -1}
}

// plain reads the lines of text, which come next, without looking for Markdown in them.
func (o *outline) plain(text string) {
	for end := o.pos + len(text); o.pos < end; {
		o.push(Line{Text: firstLine(o.text[o.pos:])})
	}
	o.body = len(o.units)
}

// markdown reads the rest of the text.
func (o *outline) markdown() {
	for _, line := range Lines(o.text[o.pos:], "", true) {
		o.add(line)
	}
	o.endBlock()
	o.endEntry()
}

// add appends the units of a line.
func (o *outline) add(line Line) {
	if line.Block != o.open {
		o.endBlock()
	}
	outside := o.kind == Entries && line.Fence == ""
	if outside && o.startsEntry(line) {
		o.endEntry()
	}
	at := len(o.units)
	if line.Block != o.open {
		o.open, o.openStart = line.Block, at
	}
	o.push(line)
	if line.Level > 0 {
		o.units[at].level = line.Level
	} else if outside && isBullet(line.Text) {
		o.entry = at
	}
}

// startsEntry is true for a line that cannot belong to the entry before it: a heading, a top-level bullet, or a
// line that is not indented after a blank one.
func (o *outline) startsEntry(line Line) bool {
	if line.Level > 0 || isBullet(line.Text) {
		return true
	}
	afterBlank := len(o.units) > 0 && o.units[len(o.units)-1].blank
	return afterBlank && !isBlank(line.Text) && indent(line.Text) == 0
}

func (o *outline) textOf(u unit) string {
	return o.text[u.start:u.end]
}

func (o *outline) endBlock() {
	if o.open > 0 {
		o.keep(o.openStart)
		o.open = 0
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
func (o *outline) push(line Line) {
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
