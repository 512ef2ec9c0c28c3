package render

import (
	"fmt"
	"strings"

	"kioku/client"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// Took returns the time that the service took, with three digits.
func Took(resp *kiokuv1.MemorySearchResponse) string { return ThreeDigits(resp.GetTook().AsDuration()) }

// Results adds hits, best first, with a blank line between them.
func (p *Page) Results(hits []*kiokuv1.SearchResult) {
	for i, hit := range hits {
		if i > 0 {
			p.Linef("")
		}
		p.Result(i+1, hit)
	}
}

// FoundUnits adds facts, loops and summaries, best first: score, kind and text, then where they are from.
func (p *Page) FoundUnits(units []*kiokuv1.FoundUnit) {
	for _, f := range units {
		u := f.GetUnit()
		kind := u.GetKind()
		if s := u.GetState(); s != memory.StateValidated {
			kind += ", " + s
		}
		p.Linef("%.2f  %s  %s", f.GetScore(), Dim(CleanLine(kind)), Bold(CleanLine(u.GetText())))
		for _, e := range u.GetEvidence() {
			p.Linef("      %s  %s", CleanLine(e.GetCitation()), Dim(CleanLine(e.GetQuote())))
		}
	}
}

// Result adds one hit: rank, score, citation and heading, whose words it is if not the owner's,
// then the snippet with line numbers. A weak hit is dim and says so.
func (p *Page) Result(rank int, hit *kiokuv1.SearchResult) {
	citation, mark := Bold(CleanLine(hit.GetCitation())), ""
	if hit.GetWeak() {
		citation, mark = Dim(CleanLine(hit.GetCitation())), "(weak) "
	}
	p.Linef("%2d. %.2f  %s  %s", rank, hit.GetScore(), citation, Dim(mark+CleanLine(hit.GetHeading())))
	if said := client.OriginOf(hit).String(); said != "" {
		p.Linef("%s", Dim("      said by "+CleanLine(said)))
	}
	line := int(hit.GetSnippetStartLine())
	for text := range strings.Lines(strings.TrimRight(hit.GetSnippet(), "\n")) {
		p.Linef("%s %s", Dim(fmt.Sprintf("%8d │", line)), strings.TrimSuffix(text, "\n"))
		line++
	}
	if hit.GetTrace() != nil {
		p.trace(hit)
	}
}

// trace adds the parts of a score (the confidence of the hit) and of its rank value, which orders the candidates.
func (p *Page) trace(hit *kiokuv1.SearchResult) {
	t := hit.GetTrace()
	p.Linef("      score (confidence) %.3f = %s", hit.GetScore(), confidence(hit))
	name := ""
	if t.GetNameBonus() > 0 {
		name = fmt.Sprintf(" + name %.2f", t.GetNameBonus())
	}
	value := t.GetMerged()*t.GetDecay() + t.GetDateBonus() + t.GetNameBonus()
	p.Linef("      rank value %.3f = merged %.3f × decay %.3f (%.0f days) + date bonus %.2f%s: %s of the candidates",
		value, t.GetMerged(), t.GetDecay(), t.GetAgeDays(), t.GetDateBonus(), name, rank(t.GetRank()))
	if t.GetRerankRank() > 0 {
		p.Linef("      re-ranked: score %.3f, %s of the passages that were scored again", t.GetRerankScore(), rank(t.GetRerankRank()))
	}
	p.Linef("      MMR %.3f with similarity %.3f to a better result", t.GetMmrScore(), t.GetMmrSimilarity())
	p.similarity(t)
	p.shares(t)
	if missing := t.GetMissing(); len(missing) > 0 {
		p.Linef("      not found: %s", CleanLine(strings.Join(missing, ", ")))
	}
}

// similarity says what the vectors of the hit come to, if there are any.
func (p *Page) similarity(t *kiokuv1.Trace) {
	if t.GetVectorRank() == 0 {
		return
	}
	window := ""
	if first, last := t.GetWindowStartLine(), t.GetWindowEndLine(); first > 0 {
		window = fmt.Sprintf(", best window %.3f (lines %d-%d), all windows %.3f", t.GetWindowCosine(), first, last, t.GetWindowMean())
	}
	p.Linef("      cosine %.3f of the chunk%s: %.3f; in this index %.3f on average, deviation %.3f",
		t.GetCosine(), window, t.GetSimilarity(), t.GetCosineMean(), t.GetCosineDeviation())
}

// confidence returns the sum that makes a score: the channels that took part, and the share of a date.
func confidence(hit *kiokuv1.SearchResult) string {
	t := hit.GetTrace()
	var parts []string
	if t.GetVectorWeight() > 0 {
		vector := fmt.Sprintf("vector %.3f (%s)", t.GetVectorScore(), rank(t.GetVectorRank()))
		if t.GetUnembedded() {
			vector = fmt.Sprintf("text %.3f (no vector yet)", t.GetTextScore())
		}
		parts = append(parts, fmt.Sprintf("%s × %.2f", vector, t.GetVectorWeight()))
	}
	if t.GetTextWeight() > 0 {
		parts = append(parts, fmt.Sprintf("text %.3f (%s) × %.2f", t.GetTextScore(), rank(t.GetTextRank()), t.GetTextWeight()))
	}
	sum := strings.Join(parts, " + ")
	if date := t.GetDateConfidence(); date > 0 {
		sum = fmt.Sprintf("date %.2f + %.2f × (%s)", date, 1-date, sum)
	}
	if name := t.GetNameConfidence(); name > 0 {
		sum = fmt.Sprintf("name %.2f + %.2f × (%s)", name, 1-name, sum)
	}
	return sum
}

// shares adds the parts of the text score, which add up to 1.
func (p *Page) shares(t *kiokuv1.Trace) {
	var parts []string
	for _, s := range t.GetTerms() {
		parts = append(parts, fmt.Sprintf("%s %.2f (idf %.2f, %d×)", s.GetTerm(), s.GetShare(), s.GetIdf(), s.GetCount()))
	}
	for _, s := range []struct {
		name  string
		share float64
	}{
		{"words side by side", t.GetPairShare()},
		{"best part of the text", t.GetBestPartShare()},
		{"chunk around the passage", t.GetChunkShare()},
	} {
		if s.share > 0 {
			parts = append(parts, fmt.Sprintf("%s %.2f", s.name, s.share))
		}
	}
	if len(parts) > 0 {
		p.Linef("      of the text score: %s", strings.Join(parts, ", "))
	}
}

func rank(n int32) string {
	if n == 0 {
		return "not found"
	}
	return fmt.Sprintf("rank %d", n)
}

// Explanation adds the outcome for a passage, the query terms, and the results that it competed with.
func (p *Page) Explanation(req *kiokuv1.ExplainRequest, resp *kiokuv1.ExplainResponse) {
	if req.GetPath() != "" {
		p.Linef("%s:%d  %s", Bold(req.GetPath()), req.GetLine(), Cyan(strings.ReplaceAll(resp.GetOutcome(), "_", " ")))
		p.Linef("%s", resp.GetText())
		if hit := resp.GetPassage(); hit != nil {
			p.Linef("")
			p.Result(int(hit.GetTrace().GetRank()), hit)
		}
		p.Linef("")
	}
	if l := resp.GetLinks(); l != nil {
		p.Links(l)
		p.Linef("")
	}
	p.Linef("terms: %s", strings.Join(resp.GetTerms(), " "))
	if hits := resp.GetAnswer().GetResults(); len(hits) == 0 {
		p.Linef("no results (%s)", Channels(resp.GetAnswer()))
	} else {
		p.Linef("%s (%s):", Count(len(hits), "result"), Channels(resp.GetAnswer()))
		p.Linef("")
		p.Results(hits)
	}
}
