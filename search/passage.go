package search

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Granularities of a hit.
const (
	// GranularityPassage returns passages of whole lines, as many characters as a snippet may have.
	GranularityPassage = "passage"
	// GranularityChunk returns chunks, each with its best window as the snippet.
	GranularityChunk = "chunk"
)

// passages cuts each candidate into passages of at most limit characters and returns them as candidates of their own.
// A passage is scored like a chunk, by its own text and headings, and shares in the score of its chunk where it holds a
// word of the query: the words around a passage tell what it is about. Its vector is that of its chunk.
func passages(list []*candidate, sc *scorer, limit int) []*candidate {
	out := make([]*candidate, 0, 3*len(list))
	for _, c := range list {
		above, headings := parseTrail(c.Headings), headingLines(&c.Chunk)
		for _, span := range cutPassages(c.Text, c.StartLine, limit, sc.w.passageOverlap) {
			p := *c
			p.Text, p.StartLine, p.EndLine = span.text, span.from, span.to
			p.Headings = above.at(span.text)
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
// run ends before a heading. Where it ends because it is full, the next one repeats up to overlap characters of it. A
// line longer than limit becomes several runs of whole sentences.
func cutPassages(text string, first, limit, overlap int) []span {
	pieces := cutPieces(text, first, limit)
	var spans []span
	for from := 0; from < len(pieces); {
		to := passageEnd(pieces, from, limit)
		if s, ok := trimSpan(text, pieces[from:to]); ok {
			spans = append(spans, s)
		}
		switch {
		case to == len(pieces):
			return spans
		case isHeading(pieces[to].text):
			from = to
		default:
			from = overlapFrom(pieces, from, to, overlap)
		}
	}
	return spans
}

// passageEnd returns where the passage that begins at from ends: before a heading below which it has text, or where no
// further piece fits.
func passageEnd(pieces []piece, from, limit int) int {
	runes, body := 0, false
	for to := from; to < len(pieces); to++ {
		heading := isHeading(pieces[to].text)
		if heading && body {
			return to
		}
		if runes += pieces[to].runes; runes > limit {
			return max(to, from+1)
		}
		body = body || !heading && !isBlank(pieces[to])
	}
	return len(pieces)
}

func isBlank(p piece) bool { return strings.TrimSpace(p.text) == "" }

// isHeading reports whether a line is an ATX heading.
func isHeading(line string) bool {
	level := len(line) - len(strings.TrimLeft(line, "#"))
	return level > 0 && level <= 6 && strings.HasPrefix(line[level:], " ")
}

// headingLines returns the lines of a chunk that are headings, ascending.
func headingLines(c *Chunk) []int {
	var lines []int
	number := c.StartLine
	for line := range strings.Lines(c.Text) {
		if isHeading(line) {
			lines = append(lines, number)
		}
		number++
	}
	return lines
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
			c.outcome = Covered
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
