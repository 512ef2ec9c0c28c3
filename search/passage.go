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
// A passage is scored like a chunk, by its own text, and shares in the score of its chunk: the words around a passage
// tell what it is about. Its vector is that of its chunk.
func passages(list []*candidate, sc *scorer, limit int) []*candidate {
	out := make([]*candidate, 0, 3*len(list))
	for _, c := range list {
		for _, span := range cutPassages(c.Text, c.StartLine, limit, sc.w.passageOverlap) {
			p := *c
			p.Text, p.StartLine, p.EndLine = span.text, span.from, span.to
			p.text = sc.score(&p.Chunk)
			p.text.raw += sc.w.passageChunk * c.text.raw
			p.text.confidence = sc.w.confidence(p.text.confidence, c.text.confidence)
			out = append(out, &p)
		}
	}
	return out
}

// confidence joins the confidence of a passage with that of its chunk.
func (w weights) confidence(passage, chunk float64) float64 {
	return clamp01((1-w.passageConfidence)*passage + w.passageConfidence*chunk)
}

// span is a passage at its place.
type span struct {
	text     string
	from, to int
}

// cutPassages cuts a text, whose first line is numbered first, into runs of whole lines of at most limit characters. A
// run repeats up to overlap characters of the lines before it, and does not begin or end with a blank line. A line that
// is longer than limit becomes several runs of whole sentences.
func cutPassages(text string, first, limit, overlap int) []span {
	pieces := cutPieces(text, first, limit)
	var spans []span
	for from := 0; from < len(pieces); {
		to, runes := from, 0
		for to < len(pieces) && runes+pieces[to].runes <= limit && (to == from || !isHeading(pieces[to].text)) {
			runes += pieces[to].runes
			to++
		}
		to = max(to, from+1)
		if s, ok := trimSpan(pieces[from:to]); ok {
			spans = append(spans, s)
		}
		if to == len(pieces) {
			break
		}
		if isHeading(pieces[to].text) {
			from = to
			continue
		}
		from = overlapFrom(pieces, from, to, overlap)
	}
	return spans
}

func isHeading(line string) bool {
	n := 0
	for n < len(line) && line[n] == '#' {
		n++
	}
	return n > 0 && n <= 6 && n < len(line) && line[n] == ' '
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

// trimSpan joins pieces without blank lines at both ends; ok is false where nothing is left.
func trimSpan(pieces []piece) (s span, ok bool) {
	blank := func(p piece) bool { return strings.TrimSpace(p.text) == "" }
	i := slices.IndexFunc(pieces, func(p piece) bool { return !blank(p) })
	if i < 0 {
		return span{}, false
	}
	j := len(pieces)
	for blank(pieces[j-1]) {
		j--
	}
	var b strings.Builder
	for _, p := range pieces[i:j] {
		b.WriteString(p.text)
	}
	return span{strings.TrimRight(b.String(), " \t\r\n"), pieces[i].line, pieces[j-1].line}, true
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
