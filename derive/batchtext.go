package derive

import (
	"strings"

	"kioku/derive/unit"
	"kioku/search/analysis"
)

// textOf returns the lines of a batch that a model may see.
func textOf(batch []unit.EpisodeText) string {
	var b strings.Builder
	for _, a := range batch {
		for _, l := range a.Lines {
			b.WriteString(l.Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// sharesWord reports whether a text has one of the analysed words.
func sharesWord(words map[string]bool, text string) bool {
	for _, w := range analysis.Terms(text) {
		if words[w] {
			return true
		}
	}
	return false
}
