package search

import (
	"math"
	"slices"
	"strings"

	"kioku/chunker"
	"kioku/memory"
)

// passages cuts each candidate into passages of at most SnippetChars characters and returns these as candidates. A passage is
// scored like a chunk, by its own text and headings. If it contains a word of the query, a share of the score of its
// chunk is added, because the words around a passage tell what it is about. Its vectors are those of its windows and of its chunk.
func (r *searchState) passages(list []*candidate, sc *scorer) []*candidate {
	out := make([]*candidate, 0, 3*len(list))
	for _, c := range list {
		lines := c.markdown()
		headings, head := chunker.SplitTableHead(c.Headings)
		above := chunker.ParseTrail(headings)
		c.meaning.windowsOnly = r.readsTurns(c, lines)
		for _, span := range c.spans(lines, r.query.SnippetChars) {
			from, to := span.from-c.StartLine, span.to+1-c.StartLine
			p := *c
			if span.meta && !c.saysIn(sc.q, span.text) {
				continue
			}
			links := linkShare(lines[from:to])
			p.mute = span.meta || links >= mostlyLinks
			p.Text, p.StartLine, p.EndLine = span.text, span.from, span.to
			p.Headings = chunker.WithTableHead(headingsAt(&above, lines[from:to]), rowHead(lines, from, head))
			p.heading = c.wholeSection(lines, span.to)
			p.meaning.narrow(&c.Chunk, c.windowsIn(span))
			p.text = sc.scorePassage(&p.Chunk, c.tokens, span, c.StartLine)
			if p.text.raw > 0 {
				p.text.chunk = passageChunkShare * c.text.raw
				p.text.raw += p.text.chunk
				p.text.confidence = clamp01((1-passageConfidenceShare)*p.text.confidence + passageConfidenceShare*c.text.confidence)
				p.text.lessLinks(links)
			}
			out = append(out, &p)
		}
	}
	return out
}

// rowHead returns the label of the table of which the line at an index is a row, "" for none. head is the label of the table of the first
// lines of a chunk that begins among the rows.
func rowHead(lines []chunker.Line, at int, head string) string {
	isRow := func(l chunker.Line) bool { return strings.Contains(l.Text, "|") }
	for _, l := range lines[:at+1] {
		if head == "" || !isRow(l) {
			return chunker.TableHead(lines, at)
		}
	}
	return head
}

// topN returns the n candidates that are best on both channels together, among them those of files that are called
// as the query, in no particular order. Passages of the others
// would not be among the hits.
func (r *searchState) topN(n int) []*candidate {
	list := r.candidates
	if len(list) <= n {
		return list
	}
	best := highest(list, rawText)
	both := func(c *candidate) float64 {
		if slices.Contains(r.named, c.ID) {
			return math.MaxFloat64
		}
		if best == 0 {
			return c.meaning.calibrated
		}
		return c.text.raw/best + c.meaning.calibrated
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *candidate) int { return compareScores(both(a), both(b), a, b) })
	return r.keepIdentifiers(list[:n], list, n, 0)
}

// span is a passage and its first and last line.
type span struct {
	text     string
	start    int // byte offset in the text that was cut
	from, to int
	// part reports that the span contains a part of a line, and meta that it is front matter.
	part, meta bool
}

// cutPassages cuts a text into runs of whole lines of at most limit characters. first is the number of its first line. A
// run ends before a heading. A run that ends because it is full ends before a block that fits into the next run, and the
// next run repeats up to overlap characters of it. A line longer than limit becomes several runs of whole sentences.
func cutPassages(text string, lines []chunker.Line, first, limit, overlap int) []span {
	pieces := cutPieces(text, first, limit)
	for i := range pieces {
		pieces[i].markdown = lines[pieces[i].line-first]
	}
	joinBlocks(pieces, limit)
	markItems(pieces)
	var spans []span
	for from := 0; from < len(pieces); {
		to := passageEnd(pieces, from, limit)
		if s, ok := trimSpan(text, pieces[from:to]); ok {
			spans = append(spans, s)
		}
		switch {
		case to == len(pieces):
			return spans
		case pieces[to].markdown.Level > 0:
			from = to
		default:
			if pieces[to].item {
				from = overlapFrom(pieces, from, to, overlap/2)
			} else {
				from = overlapFrom(pieces, from, to, overlap)
			}
		}
	}
	return spans
}

// tableHead is the number of lines at the top of a table that mean nothing without a third: its head and the rule below
// it.
const tableHead = 2

// joinBlocks marks each piece that belongs to the piece before it: in a code fence or a table of at most limit
// characters, and in the head of a longer one.
func joinBlocks(pieces []piece, limit int) {
	for from := 0; from < len(pieces); {
		to, runes := from, 0
		for to < len(pieces) && pieces[to].markdown.Block == pieces[from].markdown.Block {
			runes += pieces[to].runes
			to++
		}
		if pieces[from].markdown.Block > 0 {
			whole := to
			if runes > limit {
				whole = min(from+tableHead+1, to)
			}
			for i := from + 1; i < whole; i++ {
				pieces[i].joined = true
			}
		}
		from = to
	}
}

// passageEnd returns the end of the passage that begins at from: before a heading, if the passage has text or that is one of an entry, or
// where no further piece fits.
func passageEnd(pieces []piece, from, limit int) int {
	runes, body := 0, false
	var before chunker.Line
	for to := from; to < len(pieces); to++ {
		heading := pieces[to].markdown.Level > 0
		if heading && (body || before.EndsBefore(pieces[to].markdown)) {
			return to
		}
		if !isBlank(pieces[to]) {
			before = pieces[to].markdown
		}
		if runes += pieces[to].runes; runes > limit || runes > itemRunes && pieces[to].item && body {
			return max(unjoined(pieces, from, to), from+1)
		}
		body = body || !heading && !pieces[to].markdown.Underline && !isBlank(pieces[to])
	}
	return len(pieces)
}

// unjoined returns the last index in (from,to] at which the pieces may be cut, or to if there is none.
func unjoined(pieces []piece, from, to int) int {
	for at := to; at > from; at-- {
		if !pieces[at].joined {
			return at
		}
	}
	return to
}

func isBlank(p piece) bool { return strings.TrimSpace(p.text) == "" }

// markdown returns the lines of the text of a chunk. A chunk that does not end with its section may end within a code
// fence.
func (c *Chunk) markdown() []chunker.Line { return chunker.Lines(c.Text, c.Fence, c.Closed) }

// wholeSection returns the line of the last heading of a chunk down to a line, 0 if the chunk does not contain all lines of
// its section. lines are those of the chunk.
func (c *Chunk) wholeSection(lines []chunker.Line, line int) int {
	at := line + 1 - c.StartLine
	isHeading := func(l chunker.Line) bool { return l.Level > 0 }
	if !c.Closed && !slices.ContainsFunc(lines[at:], isHeading) {
		return 0
	}
	for at--; at >= 0; at-- {
		if isHeading(lines[at]) {
			return c.StartLine + at
		}
	}
	return 0
}

// overlapFrom returns the start of the run after [from,to): at most overlap characters before to, and after from.
func overlapFrom(pieces []piece, from, to, overlap int) int {
	next := to
	for next-1 > from && overlap-pieces[next-1].runes >= 0 {
		next--
		overlap -= pieces[next].runes
	}
	for next < to && pieces[next].joined {
		next++
	}
	return next
}

// trimSpan joins pieces of a text, without blank lines at both ends. ok is false if nothing is left.
func trimSpan(text string, pieces []piece) (s span, ok bool) {
	i := slices.IndexFunc(pieces, func(p piece) bool { return !isBlank(p) })
	if i < 0 {
		return span{}, false
	}
	j := len(pieces)
	for isBlank(pieces[j-1]) {
		j--
	}
	part := slices.ContainsFunc(pieces[i:j], func(p piece) bool { return p.part })
	return span{strings.TrimRight(text[pieces[i].start:pieces[j-1].endOffset()], " \t\r\n"), pieces[i].start, pieces[i].line, pieces[j-1].line, part, false}, true
}

// dropOverlapping removes, from a list ordered best first, each passage of which a better one shows at least half, and those that
// were removed before.
func dropOverlapping(list []*candidate) []*candidate {
	shown := make(map[string][]*candidate)
	kept := list[:0:0]
	for _, c := range list {
		if c.outcome == memory.Covered {
			continue
		}
		if slices.ContainsFunc(shown[c.Path], func(better *candidate) bool { return better.excerpt().covers(c.excerpt()) }) {
			c.outcome = memory.Covered
			continue
		}
		shown[c.Path] = append(shown[c.Path], c)
		kept = append(kept, c)
	}
	return kept
}

// excerpt is a text and the lines of a file that it is.
type excerpt struct {
	path, text string
	from, to   int
}

func (c *candidate) excerpt() excerpt { return excerpt{c.Path, c.Text, c.StartLine, c.EndLine} }

// covers reports whether at least half of the lines of o are lines of e. Of two parts of one line, e covers o if it contains its text.
func (e excerpt) covers(o excerpt) bool {
	common := min(e.to, o.to) - max(e.from, o.from) + 1
	if e.path != o.path || common <= 0 || 2*common < o.to-o.from+1 {
		return false
	}
	return o.from != o.to || e.from != e.to || strings.Contains(e.text, o.text)
}

// headingsAt moves the trail over the lines of a passage and returns the path of its headings: the headings above its
// first line, and those that follow without text between. Headings further down belong to the lines below them; they
// count for the next passage.
func headingsAt(above *chunker.Trail, lines []chunker.Line) string {
	path, body := "", false
	for _, line := range lines {
		switch {
		case line.Level > 0:
			above.Enter(line.Level, line.Title())
		case !body && !line.Underline && strings.TrimSpace(line.Text) != "":
			path, body = above.String(), true
		}
	}
	if !body {
		path = above.String()
	}
	return path
}
