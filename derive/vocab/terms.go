package vocab

import (
	"slices"

	"kioku/search/analysis"
)

// Terms returns the set of the terms of a text.
func Terms(text string) map[string]bool { return set(analysis.Terms(text)) }

func set(terms []string) map[string]bool {
	all := make(map[string]bool, len(terms))
	for _, t := range terms {
		all[t] = true
	}
	return all
}

// ContentTerms returns the different terms of a text that say something about its subject, in their order.
func ContentTerms(text string) []string {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.Add(text)
	var terms []string
	for _, t := range a.Tokens {
		if t.IsLeaf() && !slices.Contains(terms, t.Term) && !analysis.IsStopWord(a.Lower[t.Start:t.End], t.Kind) {
			terms = append(terms, t.Term)
		}
	}
	return terms
}

// ContentSet returns the same terms as a set.
func ContentSet(text string) map[string]bool { return set(ContentTerms(text)) }
