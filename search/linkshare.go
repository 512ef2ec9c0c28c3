package search

import (
	"strings"
	"unicode/utf8"

	"kioku/chunker"
)

// linkShare returns the share, in [0,1], of the lines of a text that only name other notes, or places in the same note: the
// lines of an index page, a table of contents or a list "see also". Headings and blank lines do not count.
func linkShare(lines []chunker.Line) float64 {
	linked := make(map[int]int) // characters in the links of each line
	for _, l := range chunker.InternalLinks(lines) {
		linked[l.Line] += utf8.RuneCountInString(l.Text)
	}
	all, links := 0, 0
	for i, line := range lines {
		text := withoutMarker(line.Text)
		if text == "" || line.Level > 0 || line.Underline {
			continue
		}
		all++
		if n := linked[i]; n > 0 && isLinkLine(text, n) {
			links++
		}
	}
	if all == 0 {
		return 0
	}
	return float64(links) / float64(all)
}

// isLinkLine reports whether the links of a line have at least half of its characters, or the line is a link with a short
// remark behind it.
func isLinkLine(text string, linked int) bool {
	beside := utf8.RuneCountInString(text) - linked
	return beside <= linked || text[0] == '[' && beside <= maxLinkRemark
}

// withoutMarker returns a line without the marker of a list, a table or an embed before its text, and without blank space.
func withoutMarker(line string) string {
	return strings.TrimLeft(strings.TrimSpace(line), "-*+|!0123456789.) \t")
}

// linkPenalty returns the share of its score that a passage loses for naming other notes: what it says of them is said better
// there.
func linkPenalty(lines []chunker.Line) float64 {
	share := linkShare(lines)
	if share < 0.5 {
		return 0
	}
	return maxLinkPenalty * share
}
