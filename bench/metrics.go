package bench

import "math"

const (
	// maxResults is how many results each question asks for.
	maxResults = 10
	// returnedChars and shownChars are how many characters of results, and of snippets, R@2k and V@4k look at.
	returnedChars = 2_000
	shownChars    = 4_000
)

// Result is one answer to a question.
type Result struct {
	Range
	Score float64
	// Chars is how many characters its lines have in the file.
	Chars int
	// Shown is the lines of the snippet, ShownChars how many characters it has.
	Shown      Range
	ShownChars int
}

// Scores is how good the answer to one question is; each figure lies in [0,1].
type Scores struct {
	// R1, R5 and R10 are the share of the evidence that the first 1, 5 and 10 results hit.
	R1, R5, R10 float64
	// MRR is 1/rank of the first hit among ten results, 0 without one.
	MRR float64
	// NDCG is the sum over the evidence of 1/log2(1 + rank of its hit) among ten results, over that of an answer with
	// one evidence a rank, at most 1 (Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002).
	NDCG float64
	// R2k is the recall of the results within the first 2,000 characters returned, each counted with its whole lines;
	// the first counts however long it is.
	R2k float64
	// V5 is the recall of the lines that the first five snippets show, V4k that of the snippets within the first 4,000
	// characters shown; the first counts however long it is. A line that is shown in part counts as shown.
	V5, V4k float64
	// Empty is 1 where there is no result.
	Empty float64
}

// Judge compares the results of a question, best first, with its evidence, which must not be empty.
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
	if r.Path != evidence.Path {
		return false
	}
	shared := min(r.End, evidence.End) - max(r.Start, evidence.Start) + 1
	return shared > 0 && (2*shared >= evidence.End-evidence.Start+1 || 2*shared >= r.End-r.Start+1)
}

// ranks returns the rank of the first result that hits each evidence, 0 where none does.
func ranks(evidence []Range, results []Result, lines func(Result) Range) []int {
	found := make([]int, len(evidence))
	for i, r := range results {
		for j, e := range evidence {
			if found[j] == 0 && lines(r).hits(e) {
				found[j] = i + 1
			}
		}
	}
	return found
}

// count returns how many evidences are hit by the first k results.
func count(ranks []int, k int) int {
	n := 0
	for _, rank := range ranks {
		if rank > 0 && rank <= k {
			n++
		}
	}
	return n
}

func recall(ranks []int, k int) float64 { return float64(count(ranks, k)) / float64(len(ranks)) }

func reciprocal(ranks []int) float64 {
	var best float64
	for _, rank := range ranks {
		if rank > 0 && rank <= maxResults {
			best = max(best, 1/float64(rank))
		}
	}
	return best
}

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

// fitting returns how many results fit into limit characters, in order and without a gap; the first always does.
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
