package contract

import (
	"cmp"
	"fmt"
	"slices"

	"kioku/derive/unit"
)

// draft is an item that becomes one claim for each of its quotes.
type draft struct {
	claim      unit.Claim
	confidence float64
	evidence   []citation
}

// readClaims makes claims of at most limit items of a list.
func readClaims[T any](e *episodeReader, list, contract string, limit int, said []T, check func(*item, T) draft) {
	var drafts []draft
	for n, one := range said {
		i := e.r.nth(list, n)
		if d := check(i, one); !i.dropped {
			drafts = append(drafts, d)
		}
	}
	drafts = best(e.r, list, drafts, limit, func(d draft) float64 { return d.confidence })
	for _, d := range drafts {
		for _, c := range d.evidence {
			e.addClaim(contract, d, c)
		}
	}
	e.r.report.Accepted += len(drafts)
}

// addClaim adds the claim of a draft with one of its quotes, unless it is there.
func (e *episodeReader) addClaim(contract string, d draft, c citation) {
	claim := d.claim
	claim.EpisodeID, claim.EpisodeUID, claim.At, claim.Sensitivity = e.source.ID, e.source.UID, e.source.OccurredAt, e.source.Sensitivity
	claim.Maker = contract
	if e.model != "" {
		claim.Maker += " " + e.model
	}
	claim.StartLine, claim.EndLine, claim.Quote, claim.Speaker = c.start, c.end, c.quote, c.speaker
	claim.Confidence = d.confidence
	if c.whole {
		claim.Confidence = min(claim.Confidence, wholeConfidence)
	}
	if !slices.ContainsFunc(e.claims, func(other unit.Claim) bool { return sameClaim(other, claim) }) {
		e.claims = append(e.claims, claim)
	}
}

// sameClaim reports whether two claims of one episode say the same with the same quote.
func sameClaim(a, b unit.Claim) bool {
	return a.Kind == b.Kind && a.StartLine == b.StartLine && a.Quote == b.Quote && a.Subject == b.Subject && a.Predicate == b.Predicate &&
		a.Object == b.Object && a.From == b.From && a.To == b.To && a.LoopText == b.LoopText && a.Closes == b.Closes
}

// best returns the items of a list that are left at its limit: the first of the highest rank, in their order. It counts the others.
func best[T any](r *reader, path string, items []T, limit int, rank func(T) float64) []T {
	if len(items) <= limit {
		return items
	}
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(items[b]), rank(items[a])) })
	for range order[limit:] {
		r.drop(path, ReasonLimit, fmt.Sprintf("must have at most %d items", limit))
	}
	order = order[:limit]
	slices.Sort(order)
	kept := make([]T, 0, limit)
	for _, i := range order {
		kept = append(kept, items[i])
	}
	return kept
}
