package search

import (
	"strings"
	"unicode/utf8"

	"kioku/chunker"
	"kioku/internal/text"
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
	// item reports that an item of a list of facts begins with the piece.
	item bool
	// counts of the query terms, and whether any occurs.
	counts []int
	any    bool
}

func (p piece) endOffset() int { return p.start + len(p.text) }

// snippetter cuts snippets for one query.
type snippetter struct {
	language analysis.Language
	terms    queryTerms
	// limit is the maximum number of characters.
	limit int
	// nearness tells what the vectors of the windows in some lines are worth in the score, beside textWeight for the words. Nil
	// if there are none.
	nearness   func(from, to int) float64
	textWeight float64
}

// cut returns the run of at most limit characters of a text that contains the query terms best and is nearest to the query, and
// its first and last line. first is the number of the first line of the text. The run is whole lines if they fit, otherwise
// whole sentences or words of one long line; it never splits a character. If nothing in the text answers, it is the beginning
// of the text.
func (s snippetter) cut(text string, first int) span {
	if s.limit <= 0 || strings.TrimSpace(text) == "" {
		return span{from: first, to: first}
	}
	pieces := cutPieces(text, first, s.limit)
	i, j := 0, len(pieces)
	if utf8.RuneCountInString(text) > s.limit {
		countPieces(pieces, s.language, s.terms)
		i, j = s.bestRun(pieces)
		i, j = centerRun(pieces, i, j, s.limit)
	}
	if out, ok := trimSpan(text, pieces[i:j]); ok {
		return out
	}
	return span{from: pieces[j-1].line, to: pieces[j-1].line}
}

// cutPieces cuts a text into pieces of at most limit characters each.
func cutPieces(whole string, line, limit int) []piece {
	pieces := make([]piece, 0, strings.Count(whole, "\n")+1)
	start := 0
	for l := range strings.Lines(whole) {
		if n := utf8.RuneCountInString(l); n <= limit {
			pieces = append(pieces, piece{text: l, start: start, line: line, runes: n})
			start += len(l)
			line++
			continue
		}
		for _, s := range text.Sentences(l, limit) {
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

// bestRun returns the run of pieces [i,j) within the limit that answers best, the first of equals.
func (s snippetter) bestRun(pieces []piece) (int, int) {
	runs := s.runs(pieces)
	var most float64
	for _, r := range runs {
		most = max(most, r.words)
	}
	best, highest := runs[0], -1.0
	for _, r := range runs {
		value := r.words
		if s.nearness != nil {
			value = s.nearness(pieces[r.from].line, pieces[r.to-1].line)
			if most > 0 {
				value += s.textWeight * r.words / most
			}
		}
		if value > highest {
			best, highest = r, value
		}
	}
	return best.from, best.to
}

// pieceRun is the run of pieces [from,to), and words is the weight of its terms.
type pieceRun struct {
	from, to int
	words    float64
}

// runs returns for each piece the longest run within the limit that begins with it.
func (s snippetter) runs(pieces []piece) []pieceRun {
	counts := make([]int, len(s.terms.list))
	runs := make([]pieceRun, len(pieces))
	runes, to := 0, 0
	for from := range pieces {
		for to < len(pieces) && runes+pieces[to].runes <= s.limit {
			runes += pieces[to].runes
			sumCounts(counts, pieces[to].counts, 1)
			to++
		}
		runs[from] = pieceRun{from, to, s.terms.weightOf(counts)}
		runes -= pieces[from].runes
		sumCounts(counts, pieces[from].counts, -1)
	}
	return runs
}

func sumCounts(sum, counts []int, sign int) {
	for i, n := range counts {
		sum[i] += sign * n
	}
}

// centerRun shrinks a window to the pieces with terms and lets it grow again on both sides, so that the terms are not at an
// edge. A window without terms stays as it is.
func centerRun(pieces []piece, from, to, limit int) (int, int) {
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
