package render

import (
	"fmt"
	"strings"

	"kioku/memory"
)

// Results adds hits, best first, with a blank line between them.
func (p *Page) Results(hits []memory.Hit) {
	for i, hit := range hits {
		if i > 0 {
			p.Linef("")
		}
		p.Result(i+1, hit)
	}
}

// FoundUnits adds facts, loops and summaries, best first: score, kind and text, then where they are from.
func (p *Page) FoundUnits(units []memory.FoundUnit) {
	for _, f := range units {
		kind := f.Kind
		if f.State != memory.StateValidated {
			kind += ", " + f.State
		}
		p.Linef("%.2f  %s  %s", f.Score, Dim(CleanLine(kind)), Bold(CleanLine(f.Text)))
		for _, e := range f.Evidence {
			p.Linef("      %s  %s", CleanLine(e.Citation()), Dim(CleanLine(e.Quote)))
		}
	}
}

// Result adds one hit: rank, score, citation and heading, whose words it is if not the owner's,
// then the snippet with line numbers. A weak hit is dim and says so.
func (p *Page) Result(rank int, hit memory.Hit) {
	citation, mark := Bold(CleanLine(hit.Cite())), ""
	if hit.Weak {
		citation, mark = Dim(CleanLine(hit.Cite())), "(weak) "
	}
	p.Linef("%2d. %.2f  %s  %s", rank, hit.Score, citation, Dim(mark+CleanLine(hit.Headings)))
	if said := hit.Origin.String(); said != "" {
		p.Linef("%s", Dim("      said by "+CleanLine(said)))
	}
	line := hit.SnippetStart
	for text := range strings.Lines(strings.TrimRight(hit.Snippet, "\n")) {
		p.Linef("%s %s", Dim(fmt.Sprintf("%8d │", line)), strings.TrimSuffix(text, "\n"))
		line++
	}
	if hit.Trace != nil {
		p.trace(hit)
	}
}

// trace adds the parts of a score (the confidence of the hit) and of its rank value, which orders the candidates.
func (p *Page) trace(hit memory.Hit) {
	t := hit.Trace
	p.Linef("      score (confidence) %.3f = %s", hit.Score, confidence(hit))
	name := ""
	if t.NameBonus > 0 {
		name = fmt.Sprintf(" + name %.2f", t.NameBonus)
	}
	value := t.Merged*t.Decay + t.DateBonus + t.NameBonus
	p.Linef("      rank value %.3f = merged %.3f × decay %.3f (%.0f days) + date bonus %.2f%s: %s of the candidates",
		value, t.Merged, t.Decay, t.AgeDays, t.DateBonus, name, rank(t.Rank))
	if t.RerankRank > 0 {
		p.Linef("      re-ranked: score %.3f, %s of the passages that were scored again", t.RerankScore, rank(t.RerankRank))
	}
	p.Linef("      MMR %.3f with similarity %.3f to a better result", t.MMRScore, t.MMRSimilarity)
	p.similarity(t)
	p.shares(t)
	if missing := t.Missing; len(missing) > 0 {
		p.Linef("      not found: %s", CleanLine(strings.Join(missing, ", ")))
	}
}

// similarity says what the vectors of the hit come to, if there are any.
func (p *Page) similarity(t *memory.Trace) {
	if t.VectorRank == 0 {
		return
	}
	window := ""
	if first, last := t.WindowStart, t.WindowEnd; first > 0 {
		window = fmt.Sprintf(", best window %.3f (lines %d-%d), all windows %.3f", t.WindowCosine, first, last, t.WindowMean)
	}
	p.Linef("      cosine %.3f of the text around it%s: %.3f; in this index %.3f on average, deviation %.3f",
		t.Cosine, window, t.Similarity, t.CosineMean, t.CosineDeviation)
}

// confidence returns the sum that makes a score: the channels that took part, and the share of a date.
func confidence(hit memory.Hit) string {
	t := hit.Trace
	var parts []string
	if t.VectorWeight > 0 {
		vector := fmt.Sprintf("vector %.3f (%s)", t.VectorScore, rank(t.VectorRank))
		if t.Unembedded {
			vector = fmt.Sprintf("text %.3f (no vector yet)", t.TextScore)
		}
		parts = append(parts, fmt.Sprintf("%s × %.2f", vector, t.VectorWeight))
	}
	if t.TextWeight > 0 {
		parts = append(parts, fmt.Sprintf("text %.3f (%s) × %.2f", t.TextScore, rank(t.TextRank), t.TextWeight))
	}
	sum := strings.Join(parts, " + ")
	if date := t.DateConfidence; date > 0 {
		sum = fmt.Sprintf("date %.2f + %.2f × (%s)", date, 1-date, sum)
	}
	if name := t.NameConfidence; name > 0 {
		sum = fmt.Sprintf("name %.2f + %.2f × (%s)", name, 1-name, sum)
	}
	return sum
}

// shares adds the parts of the text score, which add up to 1.
func (p *Page) shares(t *memory.Trace) {
	var parts []string
	for _, s := range t.Terms {
		parts = append(parts, fmt.Sprintf("%s %.2f (idf %.2f, %d×)", s.Term, s.Share, s.IDF, s.Count))
	}
	for _, s := range []struct {
		name  string
		share float64
	}{
		{"words side by side", t.PairShare},
		{"best part of the text", t.BestPartShare},
		{"text around the passage", t.ChunkShare},
	} {
		if s.share > 0 {
			parts = append(parts, fmt.Sprintf("%s %.2f", s.name, s.share))
		}
	}
	if len(parts) > 0 {
		p.Linef("      of the text score: %s", strings.Join(parts, ", "))
	}
}

func rank(n int) string {
	if n == 0 {
		return "not found"
	}
	return fmt.Sprintf("rank %d", n)
}

// Explanation adds the outcome for the passage at a place, empty for none, the query terms, and the results that it competed with.
func (p *Page) Explanation(path string, line int, e memory.Explanation) {
	if path != "" {
		p.Linef("%s:%d  %s", Bold(path), line, Cyan(strings.ReplaceAll(e.Outcome, "_", " ")))
		p.Linef("%s", e.Text)
		if hit := e.Passage; hit != nil {
			p.Linef("")
			p.Result(hit.Trace.Rank, *hit)
		}
		p.Linef("")
	}
	if e.Links != nil {
		p.Links(*e.Links)
		p.Linef("")
	}
	p.Linef("terms: %s", strings.Join(e.Terms, " "))
	if hits := e.Answer.Hits; len(hits) == 0 {
		p.Linef("no results (%s)", Channels(e.Answer))
	} else {
		p.Linef("%s (%s):", Count(len(hits), "result"), Channels(e.Answer))
		p.Linef("")
		p.Results(hits)
	}
}
