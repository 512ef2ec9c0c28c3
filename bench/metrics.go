package bench

import "math"

const (
	// maxResults is the number of results that are requested for each question.
	maxResults = 10
	// returnedChars is the number of characters of results that count for R@2k, shownChars that of snippets for V@4k.
	returnedChars = 2_000
	shownChars    = 4_000
)

// Result is one result for a question.
type Result struct {
	// Range of lines that was returned.
	Range
	// Score in [0,1], as the search reports it.
	Score float64
	// Weak reports that the search is not confident of the result.
	Weak bool
	// Chars is the number of characters that these lines have in the file.
	Chars int
	// Shown is the range of lines of the snippet.
	Shown Range
	// ShownChars is the number of characters of the snippet.
	ShownChars int
}

// Scores measure the results for one question. Each figure is in [0,1].
type Scores struct {
	// R1 is the share of the evidence that the first result hits.
	R1 float64 `json:"R@1"`
	// R5 is the share of the evidence that the first 5 results hit.
	R5 float64 `json:"R@5"`
	// R10 is the share of the evidence that the first 10 results hit.
	R10 float64 `json:"R@10"`
	// MRR is 1/rank of the first hit among ten results, 0 if there is none.
	MRR float64 `json:"MRR@10"`
	// NDCG is the sum over the evidence of 1/log2(1 + rank of its hit) among ten results, divided by that of an answer with
	// one evidence a rank, at most 1 (Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002).
	NDCG float64 `json:"nDCG@10"`
	// R2k is the recall of the results within the first 2,000 characters returned, each counted with its whole lines. The
	// first result always counts.
	R2k float64 `json:"R@2k"`
	// V5 is the recall of the lines that the first five snippets show. A line that is shown in part counts as shown.
	V5 float64 `json:"V@5"`
	// V4k is the recall of the snippets within the first 4,000 characters shown. The first snippet always counts.
	V4k float64 `json:"V@4k"`
	// Empty is 1 if there is no result, else 0.
	Empty float64 `json:"empty"`
}

// all returns pointers to the scores, in the order of the columns.
func (s *Scores) all() []*float64 {
	return []*float64{&s.R1, &s.R5, &s.R10, &s.MRR, &s.NDCG, &s.R2k, &s.V5, &s.V4k, &s.Empty}
}

// Judge returns the scores of the results for a question, best first. The evidence must not be empty.
func Judge(evidence []Range, results []Result) Scores {
	whole, shown := ranks(evidence, results, returned), ranks(evidence, results, snippet)
	s := Scores{
		R1: recall(whole, 1), R5: recall(whole, 5), R10: recall(whole, maxResults), MRR: reciprocal(whole), NDCG: ndcg(whole),
		R2k: recall(whole, fitting(results, returnedChars, func(r Result) int { return r.Chars })),
		V5:  recall(shown, 5),
		V4k: recall(shown, fitting(results, shownChars, func(r Result) int { return r.ShownChars })),
	}
	if len(results) == 0 {
		s.Empty = 1
	}
	return s
}

func returned(r Result) Range { return r.Range }
func snippet(r Result) Range  { return r.Shown }

// hits reports whether a result hits an evidence.
func (r Range) hits(evidence Range) bool {
	if r.Path != evidence.Path || evidence.Start == 0 {
		return r.Path == evidence.Path
	}
	shared := min(r.End, evidence.End) - max(r.Start, evidence.Start) + 1
	return shared > 0 && (2*shared >= evidence.End-evidence.Start+1 || 2*shared >= r.End-r.Start+1)
}

// ranks returns the rank of the first result that hits each evidence, 0 if none does.
func ranks(evidence []Range, results []Result, lines func(Result) Range) []int {
	firsts := make([]int, len(evidence))
	for i, r := range results {
		for j, e := range evidence {
			if firsts[j] == 0 && lines(r).hits(e) {
				firsts[j] = i + 1
			}
		}
	}
	return firsts
}

// countHits returns how many evidences the first k results hit.
func countHits(ranks []int, k int) int {
	n := 0
	for _, rank := range ranks {
		if rank > 0 && rank <= k {
			n++
		}
	}
	return n
}

// recall returns the share of the evidence that the first k results hit.
func recall(ranks []int, k int) float64 { return float64(countHits(ranks, k)) / float64(len(ranks)) }

// reciprocal returns 1/rank of the first hit, 0 if there is none.
func reciprocal(ranks []int) float64 {
	var best float64
	for _, rank := range ranks {
		if rank > 0 && rank <= maxResults {
			best = max(best, 1/float64(rank))
		}
	}
	return best
}

// ndcg returns Scores.NDCG.
func ndcg(ranks []int) float64 {
	var gain, ideal float64
	for i, rank := range ranks {
		if rank > 0 && rank <= maxResults {
			gain += 1 / math.Log2(float64(1+rank))
		}
		if i < maxResults {
			ideal += 1 / math.Log2(float64(2+i))
		}
	}
	return min(1, gain/ideal)
}

// fitting returns how many results fit into limit characters, in order and without a gap. The first always fits.
func fitting(results []Result, limit int, chars func(Result) int) int {
	total := 0
	for i, r := range results {
		total += chars(r)
		if total > limit && i > 0 {
			return i
		}
	}
	return len(results)
}
