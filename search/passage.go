package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/chunker"
	"kioku/memory"
)

// passages cuts each candidate into passages of at most limit characters and returns them as candidates of their own.
// A passage is scored like a chunk, by its own text and headings, and shares in the score of its chunk where it holds a
// word of the query: the words around a passage tell what it is about. Its vector is that of its chunk.
func passages(list []*candidate, sc *scorer, limit int) []*candidate {
	out := make([]*candidate, 0, 3*len(list))
	for _, c := range list {
		lines, above := c.markdown(), chunker.ParseTrail(c.Headings)
		headings := headingLines(lines, c.StartLine)
		for _, span := range cutPassages(c.Text, lines, c.StartLine, limit, sc.w.passageOverlap) {
			p := *c
			p.Text, p.StartLine, p.EndLine = span.text, span.from, span.to
			p.Headings = headingsAt(&above, lines[span.from-c.StartLine:span.to+1-c.StartLine])
			p.heading = wholeSection(headings, span.to, c.Closed)
			p.text = p.scoreText(sc, span, c.StartLine)
			if p.text.raw > 0 {
				p.text.chunk = sc.w.passageChunk * c.text.raw
				p.text.raw += p.text.chunk
				p.text.confidence = sc.w.confidence(p.text.confidence, c.text.confidence)
			}
			out = append(out, &p)
		}
	}
	return out
}

// scoreText scores a passage of a chunk whose first line is numbered first.
func (p *candidate) scoreText(sc *scorer, at span, first int) textScore {
	if p.lines == nil || at.part {
		return sc.score(&p.Chunk)
	}
	return sc.scoreLines(&p.Chunk, p.lines, at.from-first, at.to+1-first)
}

// foremost returns the n candidates that are best on both channels together: the passages of the others would not come to
// the front. Their order is not kept.
func (r *run) foremost(n int) []*candidate {
	list := r.candidates
	if len(list) <= n {
		return list
	}
	var best float64
	for _, c := range list {
		best = max(best, c.text.raw)
	}
	both := func(c *candidate) float64 {
		if best == 0 {
			return c.cosine
		}
		return c.text.raw/best + c.cosine
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *candidate) int { return compare(both(a), both(b), a, b) })
	return r.keepIdentifiers(list[:n], list, n)
}

// confidence joins the confidence of a passage with that of its chunk.
func (w weights) confidence(passage, chunk float64) float64 {
	return clamp01((1-w.passageConfidence)*passage + w.passageConfidence*chunk)
}

// span is a passage at its place.
type span struct {
	text     string
	from, to int
	// part says that it holds a part of a line.
	part bool
}

// cutPassages cuts a text, whose first line is numbered first, into runs of whole lines of at most limit characters. A
// run ends before a heading. Where it ends because it is full, it ends before a block that fits into the next one, and
// the next one repeats up to overlap characters of it. A line longer than limit becomes several runs of whole sentences.
func cutPassages(text string, lines []chunker.Line, first, limit, overlap int) []span {
	pieces := cutPieces(text, first, limit)
	for i := range pieces {
		pieces[i].markdown = lines[pieces[i].line-first]
	}
	joinBlocks(pieces, limit)
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
			from = overlapFrom(pieces, from, to, overlap)
		}
	}
	return spans
}

// tableHead is how many lines of a table are nothing without a third: its head and the rule below it.
const tableHead = 2

// joinBlocks tells each piece whether it belongs to the one before it: in a code fence or a table that is no longer than
// limit, and in the head of one that is.
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

// passageEnd returns where the passage that begins at from ends: before a heading below which it has text, or where no
// further piece fits.
func passageEnd(pieces []piece, from, limit int) int {
	runes, body := 0, false
	for to := from; to < len(pieces); to++ {
		heading := pieces[to].markdown.Level > 0
		if heading && body {
			return to
		}
		if runes += pieces[to].runes; runes > limit {
			return max(unjoined(pieces, from, to), from+1)
		}
		body = body || !heading && !pieces[to].markdown.Underline && !isBlank(pieces[to])
	}
	return len(pieces)
}

// unjoined returns the last place in (from,to] at which pieces may be cut, to where there is none.
func unjoined(pieces []piece, from, to int) int {
	for at := to; at > from; at-- {
		if !pieces[at].joined {
			return at
		}
	}
	return to
}

func isBlank(p piece) bool { return strings.TrimSpace(p.text) == "" }

// markdown returns the lines of a chunk's text. One that does not end with its section may end within a code fence.
func (c *Chunk) markdown() []chunker.Line { return chunker.Lines(c.Text, c.Fence, c.Closed) }

// headingLines returns the numbers of the lines that are headings, ascending; the first line is numbered first.
func headingLines(lines []chunker.Line, first int) []int {
	var numbers []int
	for i, line := range lines {
		if line.Level > 0 {
			numbers = append(numbers, first+i)
		}
	}
	return numbers
}

// wholeSection returns the last of the headings of a chunk down to a line, 0 where the chunk does not hold the lines below
// that heading to their end.
func wholeSection(headings []int, line int, closed bool) int {
	i, _ := slices.BinarySearch(headings, line+1)
	if i == 0 || i == len(headings) && !closed {
		return 0
	}
	return headings[i-1]
}

// overlapFrom returns where the run after [from,to) begins: before to by at most overlap characters, behind from.
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

// trimSpan joins pieces of a text without blank lines at both ends; ok is false where nothing is left.
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
	return span{strings.TrimRight(text[pieces[i].start:pieces[j-1].end()], " \t\r\n"), pieces[i].line, pieces[j-1].line, part}, true
}

// uncovered drops, from a list ordered best first, each passage half of which a better one shows already.
func uncovered(list []*candidate) []*candidate {
	shown := make(map[string][]*candidate)
	kept := list[:0:0]
	for _, c := range list {
		covered := slices.ContainsFunc(shown[c.Path], func(better *candidate) bool { return covers(better, c) })
		if covered {
			c.outcome = memory.Covered
			continue
		}
		shown[c.Path] = append(shown[c.Path], c)
		kept = append(kept, c)
	}
	return kept
}

// covers reports whether at least half of c's lines are lines of better; of parts of one line, whether the texts overlap
// that much.
func covers(better, c *candidate) bool {
	common := min(better.EndLine, c.EndLine) - max(better.StartLine, c.StartLine) + 1
	lines := c.EndLine - c.StartLine + 1
	if common <= 0 || 2*common < lines {
		return false
	}
	if lines == 1 && better.StartLine == better.EndLine && better.Text != c.Text {
		return utf8.RuneCountInString(c.Text) > 0 && strings.Contains(better.Text, c.Text)
	}
	return true
}
