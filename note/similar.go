package note

import (
	"strings"

	"kioku/internal/text"
	"kioku/memory"
	"kioku/search/analysis"
)

const (
	// minSimilar is the part of their terms that two lines have in common if they say nearly the same.
	minSimilar = 0.5
	// minSimilarTerms is the number of terms that they have in common at least.
	minSimilarTerms = 2
	// maxCompared is the length in bytes of a text that is still compared line by line.
	maxCompared = 512 << 10
)

// similar returns the line of a file that is nearest to a new long-term note, nil if none says nearly the same. The line number is
// that before the note is added.
func (p *notePlace) similar(file *noteFile) *memory.SimilarNote {
	want := termSet(p.note.Text)
	if p.note.Target != memory.TargetLongTerm || len(want) < minSimilarTerms || len(file.text) > maxCompared {
		return nil
	}
	var best *memory.SimilarNote
	nearest := minSimilar
	for i, line := range linesOf(text.StripMarks(file.text)) {
		if line.Level > 0 || line.Fence != "" {
			continue
		}
		if s := dice(want, termSet(line.Text)); s >= nearest {
			nearest = s
			best = &memory.SimilarNote{Path: file.name, Line: i + 1, Text: strings.TrimSpace(line.Text)}
		}
	}
	return best
}

// termSet returns the terms of a text, each once.
func termSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, term := range analysis.Terms(text) {
		set[term] = true
	}
	return set
}

// dice returns the Sørensen-Dice coefficient of two sets, 0 if they have too few terms in common.
func dice(a, b map[string]bool) float64 {
	both := common(a, b)
	if both < minSimilarTerms {
		return 0
	}
	return 2 * float64(both) / float64(len(a)+len(b))
}
