package search

import (
	"slices"
	"strings"

	"kioku/search/analysis"
)

// stopWords returns a function that reports whether a word of a query in a language says nothing about its subject. If the
// language is ambiguous, the word is a stop word in English and in every language of the index; if no chunk has it, in the
// language or in English.
func stopWords(language analysis.Language, indexed []analysis.Language) func(word string, k analysis.Kind) bool {
	plausible := []analysis.Language{language}
	if language == "" {
		plausible = append([]analysis.Language{analysis.English}, indexed...)
	}
	known := language == "" || slices.Contains(indexed, language)
	return func(word string, k analysis.Kind) bool {
		return analysis.IsStopWord(word, k, plausible...) || !known && analysis.IsStopWord(word, k)
	}
}

// queryLanguage returns the language of a query, "" if it is ambiguous. The words that sentences are built from tell more of a
// short text than its letters: a language that has most of them, at least two, is the language.
func queryLanguage(text string, indexed []analysis.Language) analysis.Language {
	guess := analysis.Detect(text).Guess(indexed...)
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.Add(text)
	best, most, second := guess, 1, 0
	for _, l := range append([]analysis.Language{analysis.English}, indexed...) {
		n := 0
		for _, t := range a.Tokens {
			if t.Kind == analysis.Word && analysis.IsStopWord(a.Lower[t.Start:t.End], t.Kind, l) {
				n++
			}
		}
		if n > most {
			best, most, second = l, n, most
		} else {
			second = max(second, n)
		}
	}
	if most > second {
		return best
	}
	return guess
}

// queryTokens are the tokens of a query as they are analysed in texts of one language.
type queryTokens struct {
	language analysis.Language
	tokens   []analysis.Token
}

// otherTokens analyses a query for the languages of the index beyond the first, which its analyzer has. The tokens agree in
// all but their terms.
func otherTokens(text string, first analysis.Language, indexed []analysis.Language) []queryTokens {
	var list []queryTokens
	for _, l := range append([]analysis.Language{""}, indexed...) {
		if l == first {
			continue
		}
		a := analysis.NewAnalyzer()
		a.SetLanguage(l)
		a.Add(text)
		list = append(list, queryTokens{l, slices.Clone(a.Tokens)})
		a.Release()
	}
	return list
}

// formsOf returns the terms of the k-th token in the languages in which it differs from term, nil if there are none.
func formsOf(k int, term string, others []queryTokens) map[analysis.Language]string {
	var forms map[analysis.Language]string
	for _, o := range others {
		if form := o.tokens[k].Term; form != term {
			if forms == nil {
				forms = make(map[analysis.Language]string)
			}
			forms[o.language] = strings.Clone(form)
		}
	}
	return forms
}

// in returns the term as chunks in a language contain it.
func (t queryTerm) in(l analysis.Language) string {
	if form, ok := t.forms[l]; ok {
		return form
	}
	return t.term
}

// all returns the term and its forms in other languages, each once.
func (t queryTerm) all() []string {
	if t.forms == nil {
		return []string{t.term}
	}
	list := []string{t.term}
	for _, form := range t.forms {
		list = append(list, form)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// strings returns the terms as the index may contain them, in the languages that it has.
func (q queryTerms) strings() []string {
	terms := make([]string, 0, len(q.list))
	for _, t := range q.list {
		terms = append(terms, t.all()...)
	}
	return terms
}

// written returns the terms as the query spells them.
func (q queryTerms) written() []string {
	terms := make([]string, len(q.list))
	for i, t := range q.list {
		terms[i] = t.label()
	}
	return terms
}

// indexes returns the index in the list of each term as chunks in a language contain it, the first of equals.
func (q queryTerms) indexes(l analysis.Language) map[string]int {
	indexes := make(map[string]int, len(q.list))
	for i, t := range q.list {
		if _, taken := indexes[t.in(l)]; !taken {
			indexes[t.in(l)] = i
		}
	}
	return indexes
}
