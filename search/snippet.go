package search

import (
	"strings"
	"unicode/utf8"

	"kioku/chunker"
	"kioku/search/analysis"
)

// piece is a line with its line break, or a part of a line that is too long for a snippet.
type piece struct {
	text  string
	start int // byte offset in the text that was cut
	line  int
	runes int
	part  bool // of a line
	// markdown is the line, and joined reports that no passage begins with the piece. Snippets ignore both.
	markdown chunker.Line
	joined   bool
	// counts of the query terms, and whether any occurs.
	counts []int
	any    bool
}

func (p piece) endOffset() int { return p.start + len(p.text) }

// snippet returns the window of at most limit characters of a text in a language that contains the query terms best, and its first and
// last line. first is the number of the first line of the text. The window is whole lines if they fit, otherwise whole
// sentences or words of one long line; it never splits a character. Without any term it is the beginning of the text.
func snippet(text string, first int, l analysis.Language, q queryTerms, limit int) span {
	if limit <= 0 || strings.TrimSpace(text) == "" {
		return span{from: first, to: first}
	}
	pieces := cutPieces(text, first, limit)
	i, j := 0, len(pieces)
	if utf8.RuneCountInString(text) > limit {
		countPieces(pieces, l, q)
		i, j = bestWindow(pieces, q, limit)
		i, j = center(pieces, i, j, limit)
	}
	if s, ok := trimSpan(text, pieces[i:j]); ok {
		return s
	}
	return span{from: pieces[j-1].line, to: pieces[j-1].line}
}

// cutPieces cuts a text into pieces of at most limit characters each.
func cutPieces(text string, line, limit int) []piece {
	pieces := make([]piece, 0, strings.Count(text, "\n")+1)
	start := 0
	for l := range strings.Lines(text) {
		if n := utf8.RuneCountInString(l); n <= limit {
			pieces = append(pieces, piece{text: l, start: start, line: line, runes: n})
			start += len(l)
			line++
			continue
		}
		for _, s := range chunker.Sentences(l, limit) {
			pieces = append(pieces, piece{text: s, start: start, line: line, runes: utf8.RuneCountInString(s), part: true})
			start += len(s)
		}
		line++
	}
	return pieces
}

// countPieces counts the query terms in each piece of a text in a language.
func countPieces(pieces []piece, l analysis.Language, q queryTerms) {
	indexes := q.indexes(l)
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.SetLanguage(l)
	for k := range pieces {
		p := &pieces[k]
		p.counts = make([]int, len(q.list))
		a.Reset()
		a.Add(p.text)
		for _, t := range a.Tokens {
			if i, ok := indexes[t.Term]; ok {
				p.counts[i]++
				p.any = true
			}
		}
	}
}

// bestWindow returns the run of pieces [i,j) within limit whose terms have the highest weight, the first of equals.
func bestWindow(pieces []piece, q queryTerms, limit int) (int, int) {
	counts := make([]int, len(q.list))
	bestFrom, bestTo, best := 0, 1, -1.0
	runes, to := 0, 0
	for from := range pieces {
		for to < len(pieces) && runes+pieces[to].runes <= limit {
			runes += pieces[to].runes
			sumCounts(counts, pieces[to].counts, 1)
			to++
		}
		if sum := q.weightOf(counts); sum > best {
			bestFrom, bestTo, best = from, to, sum
		}
		runes -= pieces[from].runes
		sumCounts(counts, pieces[from].counts, -1)
	}
	return bestFrom, bestTo
}

func sumCounts(sum, counts []int, sign int) {
	for i, n := range counts {
		sum[i] += sign * n
	}
}

// center shrinks a window to the pieces with terms and lets it grow again on both sides, so that the terms are not at an
// edge. A window without terms stays as it is.
func center(pieces []piece, from, to, limit int) (int, int) {
	i, j := from, to
	for i < j && !pieces[i].any {
		i++
	}
	for j > i && !pieces[j-1].any {
		j--
	}
	if i == j {
		return from, to
	}
	for _, p := range pieces[i:j] {
		limit -= p.runes
	}
	for grown := true; grown; {
		grown = false
		if j < len(pieces) && pieces[j].runes <= limit {
			limit -= pieces[j].runes
			j++
			grown = true
		}
		if i > 0 && pieces[i-1].runes <= limit {
			i--
			limit -= pieces[i].runes
			grown = true
		}
	}
	return i, j
}
