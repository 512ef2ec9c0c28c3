package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/search/analysis"
)

// categoryFamilies are words that ask for entries of a category, or name it, a family a line: an entry "## 10:00 - decision"
// answers "what did we decide?" without a word in common with it. Other categories are found by their own words: a question with
// "meet" or "learn" seldom asks for entries of a category.
const categoryFamilies = `
decision decide agree agreement resolve 決定 決め 決まっ 決断 决定 定了 決議 决议 Entscheidung entschieden décision décidé decisión decidir decidimos decidido decisione decidere decisão 결정
preference prefer 好み 偏好 喜好 Vorliebe préférence préfère preferencia preferenza preferência 선호
todo やること 待办 待辦 할일
`

// defaultCategory is the category of an entry that none was given for. It says nothing.
const defaultCategory = "note"

// askedCategories are the categories of entries that a query asks for.
type askedCategories struct {
	// text is the query, normalised and in lower case.
	text string
	// named are the words of the query, any of which may be a category, and terms those of the families that it asks for.
	named, terms map[string]bool
	// asking are the terms of the query that do nothing but ask for a category.
	asking map[string]bool
}

// parseCategories returns the categories that a query asks for: those that its words name, and those of their families. An
// index with chunks in some languages beside English is searched.
func parseCategories(text string, q queryTerms, indexed []analysis.Language) askedCategories {
	asked := askedCategories{text: analysis.ToLower(analysis.Normalize(text)), named: map[string]bool{}, terms: map[string]bool{}, asking: map[string]bool{}}
	own := make(map[string]bool, len(q.list))
	for _, t := range q.list {
		if own[t.term] = true; !t.gram && t.variantOf == "" && !t.date && t.term != defaultCategory {
			for _, form := range t.all() {
				asked.named[form] = true
			}
		}
	}
	for family := range strings.Lines(categoryFamilies) {
		words := strings.Fields(analysis.ToLower(analysis.Normalize(family)))
		if !slices.ContainsFunc(words, func(w string) bool { return asked.names(w, own) }) {
			continue
		}
		for _, w := range words {
			for _, term := range categoryTerms(w, indexed) {
				asked.terms[term] = true
			}
		}
	}
	return asked
}

// names reports whether the query contains a word of a family, and records which of its terms do.
func (a askedCategories) names(word string, own map[string]bool) bool {
	if isCJK(word) {
		if !strings.Contains(a.text, word) {
			return false
		}
		for term := range own {
			if strings.ContainsAny(term, word) {
				a.asking[term] = true
			}
		}
		return true
	}
	found := false
	for _, term := range categoryTerms(word, nil) {
		if own[term] {
			a.asking[term], found = true, true
		}
	}
	return found
}

// isCJK reports whether a word is written in characters that analysis makes bigrams of.
func isCJK(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return r >= 0x2E80
}

// categoryTerms returns the terms of a category word in the languages of an index.
func categoryTerms(word string, indexed []analysis.Language) []string {
	a := analysis.NewAnalyzer()
	defer a.Release()
	var terms []string
	for _, l := range append([]analysis.Language{""}, indexed...) {
		a.Reset()
		a.SetLanguage(l)
		a.Add(word)
		for _, t := range a.Tokens {
			terms = append(terms, strings.Clone(t.Term))
		}
	}
	return terms
}

// answeredBy reports whether a chunk, or a passage of one, contains an entry of a category that the query asks for.
func (a askedCategories) answeredBy(c *Chunk) bool {
	if slices.ContainsFunc(strings.Split(c.Headings, " > "), func(h string) bool { return a.match(entryCategory(h)) }) {
		return true
	}
	for line := range strings.Lines(c.Text) {
		if strings.HasPrefix(line, "#") && a.match(entryCategory(line)) {
			return true
		}
	}
	return false
}

// match reports whether the query asks for a category.
func (a askedCategories) match(category string) bool {
	if category == "" || category == defaultCategory {
		return false
	}
	if isCJK(category) && strings.Contains(a.text, category) {
		return true
	}
	return slices.ContainsFunc(analysis.Terms(category), func(t string) bool { return a.terms[t] || a.named[t] })
}

// entryCategory returns the category of an entry by its heading "## 15:04 - category", in lower case, "" for another heading.
func entryCategory(heading string) string {
	clock, category, ok := strings.Cut(strings.TrimLeft(strings.TrimSpace(heading), "# "), " - ")
	hour, minute, colon := strings.Cut(clock, ":")
	if !ok || !colon || len(hour) != 2 || len(minute) != 2 || strings.Trim(hour+minute, "0123456789") != "" {
		return ""
	}
	return analysis.ToLower(analysis.Normalize(strings.TrimSpace(category)))
}

// categoryHits returns chunks with words of the categories that the query asks for by words that its entries need not have.
func (r *searchState) categoryHits(ctx context.Context, rd Reader, also Terms) ([]int64, error) {
	if len(r.categories.asking) == 0 {
		return nil, nil
	}
	var any []string
	for t := range r.categories.terms {
		any = append(any, t)
	}
	slices.Sort(any)
	found, err := rd.Match(ctx, Terms{Any: any, Also: also.Any}, r.query.Filter, textPool)
	if err != nil {
		return nil, fmt.Errorf("match a category: %w", err)
	}
	return found, nil
}

// addCategories marks the candidates with entries of a category that the query asks for.
func (r *searchState) addCategories() {
	if len(r.categories.asking) == 0 {
		return
	}
	for _, c := range r.candidates {
		if r.categories.answeredBy(&c.Chunk) {
			c.categoryBonus, c.categoryConfidence = categoryBonus, categoryConfidence
			c.onlyCategory = !slices.ContainsFunc(r.terms.indexesOf(c.text), func(i int) bool {
				return !r.categories.asking[r.terms.list[i].term] && !r.categories.terms[r.terms.list[i].term]
			})
		}
	}
}

// indexesOf returns the indexes of the terms that occur in a text.
func (q queryTerms) indexesOf(s textScore) []int {
	var list []int
	for i := range q.list {
		if s.matches(i) {
			list = append(list, i)
		}
	}
	return list
}

// keepCategory returns the chosen candidates with an entry of a category that the query asks for: the best one takes the last of
// n places if none of the chosen is such an entry.
func keepCategory(chosen, category []*candidate, n int) []*candidate {
	asked := func(c *candidate) bool { return c.categoryConfidence > 0 }
	if len(category) == 0 || len(chosen) < n || n < 2 || slices.ContainsFunc(chosen, asked) {
		return chosen
	}
	return append(slices.Clone(chosen[:n-1]), category[0])
}
