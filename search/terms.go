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
	// MaxQueryBytes is the maximum length of a query in bytes; a longer one is refused.
	MaxQueryBytes = 4 << 10
	// MaxTerms is the maximum number of terms of a query that are searched for; the rarest are kept.
	MaxTerms = 32
)

// ErrEmptyQuery is the *memory.InputError of a blank query.
var ErrEmptyQuery error = &memory.InputError{Field: "query", Problem: "is empty: say what to look for"}

// queryTerm is a term to search for.
type queryTerm struct {
	term string
	// forms are the terms in chunks of the languages in which it has another stem; nil if it has the same in all.
	forms map[analysis.Language]string
	// written is the term as the query spells it.
	written string
	// weight is above 1 for names and below 1 for bigrams of grammar.
	weight float64
	// optional terms require nothing if the index lacks them: the parts of a word do, and an emoji says nothing by itself.
	optional bool
	// gram reports a bigram of a script written without spaces.
	gram bool
	// date reports that the term occurs only in words for a day.
	date bool
	// identifier reports that the term names one thing and is no part of a longer identifier.
	identifier bool
	// df is the number of chunks that contain the term, and idf the weight of an occurrence.
	df  int
	idf float64
	// known are the term and its forms that the index contains.
	known []string
	// own is the word before stemming, without accents; empty if it is none, or of a day.
	own string
	// word is the same if it may be misspelt, else empty.
	word string
	// variants are the indexes of its spelling variants.
	variants []int
	// variantOf is the term of which this is a spelling variant, empty for a term of the query itself.
	variantOf string
	// beside is 1 if the term counts only before the next one, -1 if only after the one before, else 0.
	beside int
	// exact reports a variant that certainly means the same, and joined one that is two words of the query: it counts only where it
	// is written as one word, since both words count where it has a hyphen.
	exact, joined bool
}

// ideal is the share of the BM25 of a variant that counts in the confidence.
func (t queryTerm) ideal() float64 {
	if t.exact {
		return 1
	}
	return variantIdeal
}

// trust is the share of a term that counts as matched if one of its variants occurs.
func (q queryTerms) trust(t queryTerm) float64 {
	if q.list[t.variants[0]].exact {
		return 1
	}
	return variantTrust / float64(len(t.variants))
}

// idfWeight is the weight of one occurrence in this query.
func (t queryTerm) idfWeight() float64 { return t.weight * t.idf }

// isRequired reports whether a text has to contain the term, or a spelling variant of it, to match the query fully.
func (t queryTerm) isRequired() bool { return t.variantOf == "" && (t.df > 0 || !t.optional) }

// required is the share of the idf weight that a text has to account for.
func (t queryTerm) required() float64 {
	if t.gram {
		return t.idfWeight() * gramRequired
	}
	return t.idfWeight()
}

// words is how many words the term is about: two bigrams make one.
func (t queryTerm) words() float64 {
	if t.gram {
		return 0.5
	}
	return 1
}

// queryTerms are the distinct terms of a query in the order of their first occurrences.
type queryTerms struct {
	list []queryTerm
	// pairs are terms that are adjacent in the query, as indexes of list.
	pairs [][2]int
	// joined are words of the query that the index may spell as one.
	joined []joinedWords
	// capped reports that the query has more terms than are searched for.
	capped bool
}

// parseTerms analyses a query for an index with chunks in some languages beside English. mentions are the places where it
// names days; a query with any is normalised. Stop words are dropped unless nothing else is left.
func parseTerms(text string, mentions []dates.Extent, indexed ...analysis.Language) queryTerms {
	a := analysis.NewAnalyzer()
	defer a.Release()
	language := queryLanguage(text, indexed)
	first := analysis.Language("")
	if slices.Contains(indexed, language) {
		first = language
	}
	a.SetLanguage(first)
	a.Add(text)
	others, isStopWord := otherTokens(text, first, indexed), stopWords(language, indexed)
	keep := func(t analysis.Token) bool { return !isStopWord(a.Lower[t.Start:t.End], t.Kind) }
	if !slices.ContainsFunc(a.Tokens, keep) {
		keep = func(analysis.Token) bool { return true }
	}

	var q queryTerms
	indexes := make(map[string]int)
	last, lastPos := -1, int32(-1)
	particles := analysis.Particles(a.Lower)
	for k, t := range a.Tokens {
		if !keep(t) {
			continue
		}
		date := slices.ContainsFunc(mentions, func(e dates.Extent) bool { return e.Overlaps(int(t.Start), int(t.End)) })
		i, seen := indexes[t.Term]
		if seen {
			q.list[i].date = q.list[i].date && date
		} else {
			i = len(q.list)
			indexes[t.Term] = i
			term := newQueryTerm(t, a.Lower[t.Start:t.End], date, particles)
			term.forms, term.written = formsOf(k, term.term, others), strings.Clone(a.Text[t.Start:t.End])
			if analysis.InParticle(a.Lower, t) {
				term.weight = particleWeight
			}
			q.list = append(q.list, term)
		}
		if t.Start > a.Tokens[0].Start && t.Kind != analysis.Part && analysis.StartsUpper(a.Text[t.Start:]) {
			q.list[i].weight = capitalWeight
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
		if i, ok := indexes[t]; ok {
			q.list[i].identifier = true
		}
	}
	q.joined = joinedIn(a, indexes, mentions, isStopWord)
	return q
}

// newQueryTerm returns the term of a token. own is the token before stemming, date reports that it is part of a day, and
// particles are the characters that mostly serve grammar.
func newQueryTerm(t analysis.Token, own string, date bool, particles string) queryTerm {
	// Clones, because the terms live as long as the answer and must not keep the whole text alive.
	q := queryTerm{
		term: strings.Clone(t.Term), weight: 1, date: date,
		optional: t.Kind == analysis.Compound || t.Kind == analysis.Sign, gram: t.Kind == analysis.Gram,
	}
	word := analysis.Unaccented(own)
	if t.Kind == analysis.Word && !date {
		q.own = strings.Clone(word)
	}
	switch {
	case mayBeMisspelt(word) && !date && !calendarWords[own]:
		q.word = strings.Clone(word)
	case q.gram && strings.ContainsAny(own, particles):
		q.weight = particleWeight
	}
	return q
}

// weigh returns q with frequencies and idf filled in, cut to the MaxTerms rarest known terms. Terms that the index lacks
// are dropped first, because they can find nothing.
func (q queryTerms) weigh(df map[string]int, chunks int) queryTerms {
	weighed := queryTerms{list: slices.Clone(q.list), pairs: q.pairs, joined: q.joined}
	for i := range weighed.list {
		t := &weighed.list[i]
		t.df, t.known = 0, nil
		for _, form := range t.all() {
			// The sum is exact: a chunk contains the form of its language.
			if n := df[form]; n > 0 {
				t.df, t.known = min(t.df+n, max(chunks, n)), append(t.known, form)
			}
		}
		t.idf = idf(max(t.df, 1), chunks)
		if t.df == 0 && !t.gram {
			// Not a bigram: many lie across two words, and no text contains them.
			t.idf = min(idf(0, chunks), unknownWeight*t.idf)
		}
	}
	if len(weighed.list) > MaxTerms {
		return weighed.rarest(MaxTerms)
	}
	return weighed
}

// rarest returns q with the n rarest terms, in their order.
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
