package search

import (
	"strings"
	"unicode/utf8"

	"kioku/chunker"
)

// itemsOf numbers the items of lists and the rows of tables in a text: of contains for each line the number, from 1, of the
// item that it belongs to, 0 for other lines. n is the number of items. It is 0 if the items are too few or too long to be a
// list of different things: the turns of a conversation, and paragraphs with a bullet before them, are one text.
func itemsOf(lines []chunker.Line) (of []int, n int) {
	of = make([]int, len(lines))
	inside, runes := false, 0
	for i, line := range lines {
		switch {
		case isItem(line):
			n++
			inside = true
		case line.Level > 0 || line.Block > 0 || strings.TrimSpace(line.Text) == "":
			inside = false
		}
		if inside {
			of[i] = n
			runes += utf8.RuneCountInString(line.Text)
		}
	}
	if n < minItems || runes > n*maxItemRunes {
		return nil, 0
	}
	return of, n
}

// isItem reports whether an item of a list begins on a line, or the line is a row of a table.
func isItem(line chunker.Line) bool {
	if line.Fence != "" || line.Level > 0 {
		return false
	}
	text := strings.TrimLeft(line.Text, " \t")
	if line.Block > 0 {
		return strings.Contains(text, "|")
	}
	digits := strings.TrimLeft(text, "0123456789")
	if len(digits) < len(text) {
		return strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")
	}
	return len(text) > 1 && strings.IndexByte("-*+", text[0]) >= 0 && (text[1] == ' ' || text[1] == '\t')
}

// cohesion returns the share of the weight of the terms in the lines [from,from+len(lines)) of a chunk that the best item of a
// list has, together with what is in no item: the headings, the names of the file and other text. It is 1 for a text that is
// no list. The lines must be those that were scored last.
func (s *scorer) cohesion(l *textLines, from int, lines []chunker.Line) float64 {
	if l.countsBefore(from+len(lines)).occurrences-l.countsBefore(from).occurrences < 2 {
		return 1
	}
	of, n := itemsOf(lines)
	if n == 0 {
		return 1
	}
	terms := len(s.q.list)
	occurs := make([]bool, (n+1)*terms) // in each item
	anywhere := make([]bool, terms)
	for i := range lines {
		for _, o := range l.occurrences[l.countsBefore(from+i).occurrences:l.countsBefore(from+i+1).occurrences] {
			occurs[of[i]*terms+o.term], anywhere[o.term] = true, true
		}
	}
	var all, best float64
	for i, t := range s.q.list {
		if s.titled[i] || s.named.of(i) > 0 {
			anywhere[i], occurs[i] = true, true
		}
		if anywhere[i] {
			all += t.idfWeight()
		}
	}
	if all == 0 {
		return 1
	}
	for item := 1; item <= n; item++ {
		var sum float64
		for i, t := range s.q.list {
			if occurs[i] || occurs[item*terms+i] {
				sum += t.idfWeight()
			}
		}
		best = max(best, sum)
	}
	return best / all
}

// asList returns the score of the lines of a chunk that were scored last. The words of one item say something together, those
// of different items little.
func (s *scorer) asList(score textScore, l *textLines, from int, lines []chunker.Line) textScore {
	if l == nil || score.raw == 0 {
		return score
	}
	factor := 1 - listPenalty*(1-s.cohesion(l, from, lines))
	score.raw *= factor
	score.confidence *= factor
	return score
}

// mayBeList reports whether a text has enough lines that look like items of a list or rows of a table.
func mayBeList(text string) bool {
	n := 0
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " \t")
		if line != "" && strings.IndexByte("-*+|0123456789", line[0]) >= 0 || strings.Contains(line, "|") {
			if n++; n >= minItems {
				return true
			}
		}
	}
	return false
}
