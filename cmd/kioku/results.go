package main

import (
	"fmt"
	"strings"
	"time"

	kiokuv1 "kioku/proto/kioku/v1"
)

// took is how long the service needed, to three digits.
func took(resp *kiokuv1.MemorySearchResponse) string {
	d := resp.GetTook().AsDuration()
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// results adds hits, best first, a blank line between them.
func (p *page) results(hits []*kiokuv1.SearchResult) {
	for i, hit := range hits {
		if i > 0 {
			p.linef("")
		}
		p.result(i+1, hit)
	}
}

// result adds one hit: rank, score, place and heading, then the snippet with the numbers of its lines.
func (p *page) result(rank int, hit *kiokuv1.SearchResult) {
	p.linef("%2d. %.2f  %s  %s", rank, hit.GetScore(), bold(oneLine(hit.GetCitation())), dim(oneLine(hit.GetHeading())))
	line := int(hit.GetSnippetStartLine())
	for i, text := range strings.Split(strings.TrimRight(hit.GetSnippet(), "\n"), "\n") {
		p.linef("%s %s", dim(fmt.Sprintf("%8d │", line+i)), text)
	}
	if t := hit.GetTrace(); t != nil {
		p.trace(t)
	}
}

// trace adds the parts of a score.
func (p *page) trace(t *kiokuv1.Trace) {
	p.linef("      vector %.3f (%s) × %.2f + text %.3f (%s) × %.2f = %.3f", t.GetVectorScore(), rank(t.GetVectorRank()),
		t.GetVectorWeight(), t.GetTextScore(), rank(t.GetTextRank()), t.GetTextWeight(), t.GetMerged())
	p.linef("      decay %.3f at %.0f days, MMR %.3f with similarity %.3f, %s of the candidates",
		t.GetDecay(), t.GetAgeDays(), t.GetMmrScore(), t.GetMmrSimilarity(), rank(t.GetRank()))
	if t.GetDateBonus() > 0 {
		p.linef("      date bonus %.2f: the query names its date", t.GetDateBonus())
	}
	if t.GetKeywordBacked() {
		p.linef("      below the threshold, but backed by keywords")
	}
	p.shares(t)
}

// shares adds the parts of the text score, which add up to 1.
func (p *page) shares(t *kiokuv1.Trace) {
	var terms []string
	for _, s := range t.GetTerms() {
		terms = append(terms, fmt.Sprintf("%s %.2f (idf %.2f, %d×)", s.GetTerm(), s.GetShare(), s.GetIdf(), s.GetCount()))
	}
	if len(terms) > 0 {
		p.linef("      terms: %s", strings.Join(terms, ", "))
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
			p.linef("      %s: %.2f", s.name, s.share)
		}
	}
}

func rank(n int32) string {
	if n == 0 {
		return "not found"
	}
	return fmt.Sprintf("rank %d", n)
}
