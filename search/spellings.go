package search

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/search/analysis"
	"kioku/search/dates"
)

// Limits of the search for words that are written in another way.
const (
	// minHash and maxHash are the minimum and maximum length of a short commit hash.
	minHash, maxHash = 7, 12
	// minPart is the minimum number of letters of a word that is looked for in compounds, and minRest that of the other part.
	minPart, minRest = 6, 3
	// maxLonger is the maximum number of longer words that are looked at.
	maxLonger = 64
)

// compounding are the languages that write compounds as one word.
var compounding = []analysis.Language{analysis.German, analysis.Dutch, analysis.Swedish}

// joinedWords are two adjacent words of a query as one word.
type joinedWords struct {
	word, written string
	// parts are the indexes of the two terms, -1 for a stop word.
	parts [2]int
}

// joinedIn returns the adjacent words of a query that may be spelt as one: follow up, RAL 7016.
func joinedIn(a *analysis.Analyzer, indexes map[string]int, mentions []dates.Extent, isStopWord func(string, analysis.Kind) bool) []joinedWords {
	var list []joinedWords
	for k := 1; k < len(a.Tokens); k++ {
		s, t := a.Tokens[k-1], a.Tokens[k]
		if s.Kind != analysis.Word || t.Kind != analysis.Word || t.Start != s.End+1 || a.Lower[s.End] != ' ' {
			continue
		}
		first, second := a.Lower[s.Start:s.End], a.Lower[t.Start:t.End]
		date := slices.ContainsFunc(mentions, func(e dates.Extent) bool { return e.Overlaps(int(s.Start), int(t.End)) })
		if date || len(first) < 2 || len(second) < 2 || areDigits(first+second) || isStopWord(first+second, analysis.Word) {
			continue
		}
		w := joinedWords{word: first + second, written: strings.Clone(a.Text[s.Start:t.End]), parts: [2]int{-1, -1}}
		for n, part := range []analysis.Token{s, t} {
			if i, ok := indexes[part.Term]; ok && !isStopWord(a.Lower[part.Start:part.End], part.Kind) {
				w.parts[n] = i
			}
		}
		if w.parts != [2]int{-1, -1} {
			list = append(list, w)
		}
	}
	return list
}

// addSpellings adds other spellings of the terms that the index knows, as long as there is room: adjacent words as one; and for a
// term that is rare or that the index lacks, its two parts, the commit hash that it is the beginning of, compounds that contain it,
// and with typos the words at one typo.
func (r *searchState) addSpellings(ctx context.Context, rd Reader, typos bool) error {
	if err := r.addJoined(ctx, rd); err != nil {
		return err
	}
	misspelt := 0
	for i, t := range r.terms.list {
		if t.df > rareChunks || t.own == "" || t.variantOf != "" || len(t.variants) > 0 {
			continue
		}
		found, err := r.otherSpellings(ctx, rd, t)
		if err != nil {
			return err
		}
		if typos && len(found) == 0 && t.df == 0 && t.word != "" && misspelt < maxMisspelt {
			misspelt++
			if found, err = r.typoVariants(ctx, rd, t.word); err != nil {
				return err
			}
		}
		if len(r.terms.list)+len(found) > MaxTerms {
			continue
		}
		r.terms = r.terms.withVariants(i, found, r.index.Chunks)
	}
	return nil
}

// addJoined adds adjacent words that the index spells as one. They are a variant of each.
func (r *searchState) addJoined(ctx context.Context, rd Reader) error {
	if len(r.terms.joined) == 0 || r.terms.capped {
		return nil
	}
	var stems []string
	for _, j := range r.terms.joined {
		stems = append(stems, r.stemsOf(j.word)...)
	}
	df, err := rd.DocFreq(ctx, stems)
	if err != nil {
		return fmt.Errorf("look up joined words: %w", err)
	}
	for _, j := range r.terms.joined {
		for _, stem := range r.stemsOf(j.word) {
			if df[stem] > 0 && len(r.terms.list) < MaxTerms {
				r.terms = r.terms.withJoined(j, variant{term: stem, written: j.word, df: df[stem], exact: true}, r.index.Chunks)
			}
		}
	}
	return nil
}

// withJoined returns q with two of its words as one. As both, it weighs no more than they do together.
func (q queryTerms) withJoined(j joinedWords, v variant, chunks int) queryTerms {
	at := len(q.list)
	var weight float64
	for _, i := range j.parts {
		if i < 0 {
			continue
		}
		weight += q.list[i].idf
		if len(q.list) == at {
			q = q.withVariants(i, []variant{v}, chunks)
		} else {
			q.list[i].variants = append(slices.Clone(q.list[i].variants), at)
		}
	}
	if len(q.list) > at {
		q.list[at].joined = true
		q.list[at].idf = min(q.list[at].idf, weight)
	}
	return q
}

// stemsOf returns the stems of a word in English and the languages of the index, each once.
func (r *searchState) stemsOf(word string) []string {
	a := analysis.NewAnalyzer()
	defer a.Release()
	stems := []string{a.Stem(word)}
	for _, l := range r.index.Languages {
		a.SetLanguage(l)
		stems = append(stems, a.Stem(word))
	}
	slices.Sort(stems)
	return slices.Compact(stems)
}

// otherSpellings returns the variants of a term that is rare or that the index lacks, other than typos.
func (r *searchState) otherSpellings(ctx context.Context, rd Reader, t queryTerm) ([]variant, error) {
	switch {
	case isHash(t.own):
		return longerHashes(ctx, rd, t.own)
	case t.df == 0:
		if parts, err := r.splitWord(ctx, rd, t.own); err != nil || parts != nil {
			return parts, err
		}
	}
	if t.word == "" || utf8.RuneCountInString(t.own) < minPart {
		return nil, nil
	}
	return r.compoundsOf(ctx, rd, t.own)
}

// isHash reports whether a word is a hexadecimal number with letters and digits, as long as a short commit hash at least.
func isHash(word string) bool {
	return len(word) >= minHash && strings.Trim(word, "0123456789abcdef") == "" &&
		strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "abcdef")
}

// longerHashes returns the commit hashes that begin with a short one, or the short ones of a long one.
func longerHashes(ctx context.Context, rd Reader, hash string) ([]variant, error) {
	found, err := rd.Longer(ctx, hash, false, maxLonger)
	if err != nil {
		return nil, fmt.Errorf("look up a hash: %w", err)
	}
	var short []string
	for n := minHash; n <= min(maxHash, len(hash)-1); n++ {
		short = append(short, hash[:n])
	}
	known, err := rd.DocFreq(ctx, short)
	if err != nil {
		return nil, fmt.Errorf("look up short hashes: %w", err)
	}
	maps.Copy(found, known)
	maps.DeleteFunc(found, func(term string, _ int) bool { return !isHash(term) || term == hash })
	return exactly(chooseVariants(found, nil)), nil
}

// splitWord returns the two parts of a word that the index spells as two, nil if it does not: followup, RAL7016. Of several pairs
// the one whose rarer part is in most chunks is taken.
func (r *searchState) splitWord(ctx context.Context, rd Reader, word string) ([]variant, error) {
	var terms []string
	stems := make(map[string][]string)
	cuts := cutsOf(word)
	for _, c := range cuts {
		for _, part := range c {
			stems[part] = r.stemsOf(part)
			terms = append(terms, stems[part]...)
		}
	}
	if len(terms) == 0 {
		return nil, nil
	}
	slices.Sort(terms)
	df, err := rd.DocFreq(ctx, slices.Compact(terms))
	if err != nil {
		return nil, fmt.Errorf("look up parts of a word: %w", err)
	}
	var best []variant
	for _, c := range cuts {
		for _, first := range stems[c[0]] {
			for _, second := range stems[c[1]] {
				if n := min(df[first], df[second]); n > 0 && first != second && (best == nil || n > min(best[0].df, best[1].df)) {
					best = []variant{{term: first, written: c[0], df: df[first], beside: 1}, {term: second, written: c[1], df: df[second], beside: -1}}
				}
			}
		}
	}
	return exactly(best), nil
}

// cutsOf returns the ways to cut a word in two: where a digit follows a letter or a letter a digit, and a word of letters
// everywhere, with at least two characters on both sides.
func cutsOf(word string) [][2]string {
	letters := !strings.ContainsFunc(word, func(r rune) bool { return !unicode.Is(unicode.Latin, r) })
	if len(word) > maxTypo {
		return nil
	}
	var cuts [][2]string
	before := rune(0)
	for i, r := range word {
		if i >= 2 && i <= len(word)-2 && (letters || unicode.IsDigit(r) != unicode.IsDigit(before)) {
			cuts = append(cuts, [2]string{word[:i], word[i:]})
		}
		before = r
	}
	return cuts
}

// compoundsOf returns the words of the index that begin or end with a word, if the index has chunks in a language with compounds and
// the query may be in it.
func (r *searchState) compoundsOf(ctx context.Context, rd Reader, word string) ([]variant, error) {
	a := analysis.NewAnalyzer()
	defer a.Release()
	compounds := make(map[string]int)
	for _, l := range compounding {
		if !slices.Contains(r.index.Languages, l) {
			continue
		}
		if query := queryLanguage(r.query.Text, r.index.Languages); query != l && query != "" {
			continue
		}
		a.SetLanguage(l)
		stem := a.Stem(word)
		for _, end := range []bool{false, true} {
			found, err := rd.Longer(ctx, stem, end, maxLonger)
			if err != nil {
				return nil, fmt.Errorf("look up compounds: %w", err)
			}
			maps.Copy(compounds, found)
		}
		maps.DeleteFunc(compounds, func(term string, _ int) bool {
			return len(term) < len(stem)+minRest || !mayBeMisspelt(term)
		})
	}
	return chooseVariants(compounds, nil), nil
}

// exactly marks variants as other spellings of the same.
func exactly(variants []variant) []variant {
	for i := range variants {
		variants[i].exact = true
	}
	return variants
}

func areDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
