package search

import (
	"cmp"
	"slices"
	"strings"

	"kioku/memory"
	"kioku/search/analysis"
	"kioku/search/dates"
)

// Bounds of a query.
const (
	// MaxQueryBytes is the longest query; a longer one is refused.
	MaxQueryBytes = 4 << 10
	// MaxTerms is the most terms of a query that are looked for; the rarest are kept.
	MaxTerms = 32
)

// ErrEmptyQuery is the *InputError of a blank query.
var ErrEmptyQuery error = &memory.InputError{Field: "query", Problem: "is empty: say what to look for"}

// queryTerm is a term to look for.
type queryTerm struct {
	term string
	// weight is above 1 for names.
	weight float64
	// optional terms ask for nothing of their own where the index lacks them: their parts do.
	optional bool
	// gram is a bigram of a text that is written without spaces.
	gram bool
	// date says that the term stems from words for a day alone.
	date bool
	// identifier names one thing, and is no part of a longer one.
	identifier bool
	// df is in how many chunks the term occurs, and idf what an occurrence is worth.
	df  int
	idf float64
	// word is the term before stemming where it may be misspelt, else empty, and near the places of the neighbours that
	// joined it.
	word string
	near []int
	// misspelt is the term that a neighbour joined, empty for a term of the query itself.
	misspelt string
}

// mass is what one occurrence counts in a query.
func (t queryTerm) mass() float64 { return t.weight * t.idf }

// queryTerms are the distinct terms of a query in the order in which they first occur.
type queryTerms struct {
	list []queryTerm
	// pairs are terms side by side in the query, by their places in list.
	pairs [][2]int
	// capped says that there were more terms than are looked for.
	capped bool
}

// parseTerms analyses a query, normalised if it has dates: the parts that speak of days. Stop words are dropped unless
// nothing is left.
func parseTerms(text string, days []dates.Extent, w weights) queryTerms {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.Add(text)
	keep := func(t analysis.Token) bool { return !analysis.IsStopWord(a.Lower[t.Start:t.End], t.Kind) }
	if !slices.ContainsFunc(a.Tokens, keep) {
		keep = func(analysis.Token) bool { return true }
	}

	var q queryTerms
	places := make(map[string]int)
	last, lastPos := -1, int32(-1)
	particles := analysis.Particles(a.Lower)
	for _, t := range a.Tokens {
		if !keep(t) {
			continue
		}
		date := slices.ContainsFunc(days, func(e dates.Extent) bool { return e.Overlaps(int(t.Start), int(t.End)) })
		i, seen := places[t.Term]
		if seen {
			q.list[i].date = q.list[i].date && date
		} else {
			i = len(q.list)
			places[t.Term] = i
			// The text belongs to the caller; what is left of it lives as long as the answer.
			q.list = append(q.list, queryTerm{term: strings.Clone(t.Term), weight: 1, optional: t.Kind == analysis.Compound, gram: t.Kind == analysis.Gram, date: date})
			switch own := a.Lower[t.Start:t.End]; {
			case mayBeMisspelt(analysis.Unaccented(own)) && !date && !calendarWords[own]:
				q.list[i].word = strings.Clone(analysis.Unaccented(own))
			case t.Kind == analysis.Gram && strings.ContainsAny(own, particles):
				q.list[i].weight = w.particle
			}
		}
		if t.Start > a.Tokens[0].Start && t.Kind != analysis.Part && analysis.StartsUpper(a.Text[t.Start:]) {
			q.list[i].weight = w.capital
		}
		if !t.IsLeaf() {
			continue
		}
		if last >= 0 && t.Pos == lastPos+1 && last != i && !slices.Contains(q.pairs, [2]int{last, i}) {
			q.pairs = append(q.pairs, [2]int{last, i})
		}
		last, lastPos = i, t.Pos
	}
	for _, t := range a.Identifiers() {
		if i, ok := places[t]; ok {
			q.list[i].identifier = true
		}
	}
	return q
}

// strings returns the terms.
func (q queryTerms) strings() []string {
	terms := make([]string, len(q.list))
	for i, t := range q.list {
		terms[i] = t.term
	}
	return terms
}

// weigh returns q with frequencies and idf filled in, cut down to the MaxTerms rarest known terms. Terms that the
// index lacks are the last to be kept, as they can find nothing.
func (q queryTerms) weigh(df map[string]int, chunks int) queryTerms {
	weighed := queryTerms{list: slices.Clone(q.list), pairs: q.pairs}
	for i := range weighed.list {
		t := &weighed.list[i]
		t.df = df[t.term]
		// A word that no chunk holds asks for as much as the rarest that one does: more would leave small indexes silent.
		t.idf = idf(max(t.df, 1), chunks)
	}
	if len(weighed.list) > MaxTerms {
		return weighed.rarest(MaxTerms)
	}
	return weighed
}

// rarest returns q with n terms left, in their order.
func (q queryTerms) rarest(n int) queryTerms {
	order := make([]int, len(q.list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := q.list[i], q.list[j]
		if (a.df == 0) != (b.df == 0) {
			return cmp.Compare(b.df, a.df)
		}
		return cmp.Compare(a.df, b.df)
	})
	order = order[:n]
	slices.Sort(order)

	cut := queryTerms{capped: true}
	for _, i := range order {
		cut.list = append(cut.list, q.list[i])
	}
	for _, p := range q.pairs {
		i, ok := slices.BinarySearch(order, p[0])
		j, also := slices.BinarySearch(order, p[1])
		if ok && also {
			cut.pairs = append(cut.pairs, [2]int{i, j})
		}
	}
	return cut
}
