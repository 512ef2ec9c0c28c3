package search

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/chunker"
)

// linkShare returns the share, in [0,1], of the lines of a text that only name other notes, or places in the same note (the
// lines of an index page, a table of contents or a list "see also").
// Headings and blank lines do not count.
func linkShare(lines []chunker.Line) float64 {
	if !slices.ContainsFunc(lines, func(l chunker.Line) bool { return strings.Contains(l.Text, "[") }) {
		return 0
	}
	linked := make(map[int]int) // characters in the links of each line
	for _, l := range chunker.InternalLinks(lines) {
		linked[l.Line] += utf8.RuneCountInString(l.Text)
	}
	all, links := 0, 0
	for i, line := range lines {
		text := strings.TrimSpace(line.Text)
		if text == "" || line.Level > 0 || line.Underline {
			continue
		}
		all++
		if linked[i] > 0 && isLinkLine(text, linked[i]) {
			links++
		}
	}
	if all == 0 {
		return 0
	}
	return float64(links) / float64(all)
}

// linkSyntax is what a reader does not see of a link: "](refund.md)", and the name in "[[refund|shown text]]".
var linkSyntax = regexp.MustCompile(`\]\([^)]*\)|\[\[[^\]|]*\||[\[\]]`)

// isLinkLine reports whether the links of a line show at least half of its characters, or the line is a link with a short
// remark behind it. The marker of a list, a table or an embed does not count.
func isLinkLine(text string, linked int) bool {
	text = strings.TrimLeft(text, "-*+|!0123456789.) \t")
	beside := utf8.RuneCountInString(linkSyntax.ReplaceAllString(text, "")) - linked
	return beside <= linked || strings.HasPrefix(text, "[") && beside <= maxLinkRemark
}

// lessLinks takes a share of its score by words from a passage that mostly names other notes: what it says of them is said better there.
func (s *textScore) lessLinks(share float64) {
	if share < mostlyLinks {
		return
	}
	factor := 1 - maxLinkPenalty*share
	s.bm25 = slices.Clone(s.bm25)
	for i := range s.bm25 {
		s.bm25[i] *= factor
	}
	s.raw, s.pairs, s.best, s.chunk = factor*s.raw, factor*s.pairs, factor*s.best, factor*s.chunk
}
