package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"kioku/search/analysis"
)

// alphabet contains the letters that a typo may have replaced or left out.
const alphabet = "abcdefghijklmnopqrstuvwxyz"

// Limits of the search for other spellings.
const (
	// minTypo and maxTypo are the minimum and maximum number of letters of a word that may be misspelt: shorter words
	// are near too many others, longer ones are no words.
	minTypo, maxTypo = 4, 32
	// maxVariants is the maximum number of spelling variants of a misspelt term.
	maxVariants = 3
	// maxMisspelt is the maximum number of terms of a query that are treated as misspelt. A query with more unknown
	// words rather asks about something else.
	maxMisspelt = 3
)

// calendarWords are never treated as misspelt: "March" is not Marco.
var calendarWords = analysis.WordSet(`
january february march april june july august september october november december sept
monday tuesday wednesday thursday friday saturday sunday tues thur thurs
today tonight tomorrow yesterday weekend weekday week month year days weeks months years
`)

// mayBeMisspelt reports whether a word in lower case consists of Latin letters, neither too few nor too many.
func mayBeMisspelt(word string) bool {
	n := 0
	for _, r := range word {
		if !unicode.Is(unicode.Latin, r) {
			return false
		}
		n++
	}
	return n >= minTypo && n <= maxTypo
}

// edits returns the words that become word by one typo, each once and without word itself: one letter too many, one
// letter of the alphabet missing or replaced, or two neighbours swapped (the distance of Damerau and Levenshtein is 1).
func edits(word string) []string {
	letters := []rune(word)
	seen := map[string]bool{word: true}
	out := make([]string, 0, 2*(len(letters)+1)*(len(alphabet)+1))
	insert := func(i int, middle string, j int) {
		w := string(letters[:i]) + middle + string(letters[j:])
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	for i := range letters {
		insert(i, "", i+1)
		if i+1 < len(letters) {
			insert(i, string([]rune{letters[i+1], letters[i]}), i+2)
		}
	}
	for _, l := range alphabet {
		for i := range letters {
			insert(i, string(l), i)
			insert(i, string(l), i+1)
		}
		insert(len(letters), string(l), len(letters))
	}
	return out
}

// spellingVariants returns the terms that a misspelt word may mean, each with the word that it is the stem of: the stems of
// its edits in English and the languages of the index. Edits of its own stem would find less, because a typo near the end
// leaves a stem that is far from the right one. Of several words the one that is as long as the misspelt one is named.
func spellingVariants(word string, indexed ...analysis.Language) map[string]string {
	a := analysis.NewAnalyzer()
	defer a.Release()
	terms := make(map[string]string)
	for _, l := range append([]analysis.Language{""}, indexed...) {
		a.SetLanguage(l)
		for _, w := range edits(word) {
			stem := a.Stem(w)
			if known, ok := terms[stem]; !ok || len(known) != len(word) && len(w) == len(word) {
				terms[stem] = w
			}
		}
	}
	return terms
}

// typoVariants returns the spelling variants of a misspelt word that the index knows.
func (r *searchState) typoVariants(ctx context.Context, rd Reader, word string) ([]variant, error) {
	words := spellingVariants(word, r.index.Languages...)
	df, err := rd.DocFreq(ctx, slices.Sorted(maps.Keys(words)))
	if err != nil {
		return nil, fmt.Errorf("look up other spellings: %w", err)
	}
	return chooseVariants(df, words), nil
}

// variant is another term that stands for one of the query.
type variant struct {
	// term is as the index has it, written as people write it.
	term, written string
	df            int
	// beside is where the other part of a word is among the variants if this is one: 1 is the next, -1 the one before; 0 if it is none.
	beside int
	// exact reports that it certainly means the same.
	exact bool
}

// chooseVariants returns the most frequent of the terms, at most maxVariants: what is written often is meant often. words are the
// words that they are the stems of; a term that is not among them is a word itself.
func chooseVariants(df map[string]int, words map[string]string) []variant {
	terms := slices.SortedFunc(maps.Keys(df), func(a, b string) int { return cmp.Or(df[b]-df[a], strings.Compare(a, b)) })
	var list []variant
	for _, t := range terms[:min(maxVariants, len(terms))] {
		list = append(list, variant{term: t, written: cmp.Or(words[t], t), df: df[t]})
	}
	return list
}

// withVariants returns q with the spelling variants of the i-th term as terms of their own. They share its weight and
// its pairs and, as alternatives of each other, its part in the coverage. Variants that the query contains anyway are
// left out. Parts of a word count only beside each other.
func (q queryTerms) withVariants(i int, variants []variant, chunks int) queryTerms {
	variants = slices.DeleteFunc(slices.Clone(variants), func(v variant) bool {
		return slices.ContainsFunc(q.list, func(own queryTerm) bool { return slices.Contains(own.all(), v.term) })
	})
	if len(variants) == 1 && variants[0].beside != 0 {
		return q
	}
	n := float64(len(variants))
	base := q.list[i]
	with := queryTerms{list: slices.Clone(q.list), pairs: slices.Clone(q.pairs), joined: q.joined, capped: q.capped}
	for _, v := range variants {
		at := len(with.list)
		with.list = append(with.list, queryTerm{
			term: v.term, written: v.written, weight: base.weight / math.Sqrt(n), variantOf: base.written,
			df: v.df, idf: idf(v.df, chunks), known: []string{v.term}, beside: v.beside, exact: v.exact,
		})
		with.list[i].variants = append(slices.Clone(with.list[i].variants), at)
		for _, p := range q.pairs {
			switch i {
			case p[0]:
				with.pairs = append(with.pairs, [2]int{at, p[1]})
			case p[1]:
				with.pairs = append(with.pairs, [2]int{p[0], at})
			}
		}
	}
	return with
}

// label returns the name of a term for people: "lighthuose ~ lighthouse" is a spelling variant of a misspelt word.
func (t queryTerm) label() string {
	if t.variantOf == "" {
		return t.written
	}
	return t.variantOf + " ~ " + t.written
}
