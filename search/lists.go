package search

import (
	"strings"

	"kioku/chunker"
)

// markItems marks the pieces with which an item of a list of facts begins: at least minItems items one below another, of at most
// maxItemRunes characters on average. The rows of a table that fits into a passage are joined, and stay together.
func markItems(pieces []piece) {
	for from := 0; from < len(pieces); {
		to, items, runes := from, 0, 0
		for ; to < len(pieces) && pieces[to].isInList(items > 0); to++ {
			if isItem(pieces[to].markdown) {
				items++
			}
			runes += pieces[to].runes
		}
		for i := from; i < to && items >= minItems && runes <= items*maxItemRunes; i++ {
			pieces[i].item = isItem(pieces[i].markdown)
		}
		from = max(to, from+1)
	}
}

// isInList reports whether a piece is an item of a list or, inside of one, goes on with it.
func (p piece) isInList(inside bool) bool {
	return isItem(p.markdown) || inside && p.markdown.Level == 0 && p.markdown.Fence == ""
}

// isItem reports whether an item of a list begins on a line, or the line is a row of a table.
func isItem(line chunker.Line) bool {
	if line.Fence != "" || line.Level > 0 {
		return false
	}
	text := strings.TrimLeft(line.Text, " \t")
	if strings.HasPrefix(text, "|") || line.Block > 0 {
		return strings.Contains(text, "|")
	}
	digits := strings.TrimLeft(text, "0123456789")
	if len(digits) < len(text) {
		return strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")
	}
	return len(text) > 1 && strings.IndexByte("-*+", text[0]) >= 0 && (text[1] == ' ' || text[1] == '\t')
}
