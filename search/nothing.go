package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/memory"
)

// maxNamedWords is the maximum number of unknown words that an empty answer names.
const maxNamedWords = 8

// explainNothing says why there is no hit and what came nearest, and what would help: other words for those that no note
// contains, or vectors.
func (s *Searcher) explainNothing(r *searchState) {
	var best *candidate
	for _, c := range r.candidates {
		if best == nil || c.confidence() > best.confidence() {
			best = c
		}
	}
	if r.allOut {
		r.degrade(memory.NoMatch, "The filter leaves no note.")
		return
	}
	without := r.dates.phrase()
	if r.dates.lacksNotes() && without != "" {
		r.degrade(memory.NoMatch, "N%s.", without[1:])
		return
	}
	if without != "" {
		without = ", and " + without
	}
	switch {
	case best != nil && best.confidence() > 0:
		r.degrade(memory.NoMatch, "The nearest was %s:%d-%d, but %s%s.", best.Path, best.StartLine, best.EndLine, r.limit.reason(best), without)
	case len(r.terms.list) == 0 && len(r.dates.spans) == 0:
		r.degrade(memory.NoMatch, "The query holds no word to look for.")
		return
	default:
		within := ""
		if len(filterParts(r.query.Filter)) > 0 {
			within = " within the filter"
		}
		r.degrade(memory.NoMatch, "No note holds a word of the query%s%s.", within, without)
	}
	s.explainWords(r)
}

// explainWords says which words no note contains, and that vectors would help.
func (s *Searcher) explainWords(r *searchState) {
	words, others := r.terms.unknown()
	if len(words) > 0 && !r.terms.capped {
		r.degrade(memory.WordsUnknown, "No note contains %s.", quotedList(words))
	}
	if r.foreign {
		r.degrade(memory.VectorsOff, "Only words were compared: the model %s has learnt English only. A multilingual one compares what other languages mean; kioku model list --known shows some.", r.embedder.Space().Model)
	}
	if (len(words) > 0 || others) && *s.opt.Hybrid && (s.embedder == nil || !s.embedder.Enabled()) {
		r.degrade(memory.VectorsOff, "Only words were compared. With an embedding provider, notes that say it in other words are found too: kioku model add minilm adds one that runs here.")
	}
}

// explainEmptyIndex says why there is nothing to search.
func (r *searchState) explainEmptyIndex() {
	r.degrade(memory.IndexEmpty, "Nothing is indexed yet: the workspace has no Markdown, or was not indexed (kioku index).")
}

// unknown returns the words of the query that no chunk contains, nor any spelling variant of them, as they are written, and whether there are
// other terms. Words for a day and words that only ask do not count. Bigrams that overlap are one word, unknown if all of them are.
func (q queryTerms) unknown() (words []string, others bool) {
	isKnown := func(i int) bool { return q.list[i].df > 0 }
	for from, to := 0, 0; from < len(q.list); from = to {
		word, counts, known := q.list[from].label(), false, false
		for to = from; to < len(q.list); to++ {
			t := q.list[to]
			if to > from {
				if !t.gram || !q.list[from].gram || !overlap(word, t.label()) {
					break
				}
				_, size := utf8.DecodeRuneInString(t.label())
				word += t.label()[size:]
			}
			known = known || isKnown(to) || slices.ContainsFunc(t.variants, isKnown)
			counts = counts || t.isRequired() && !t.date
		}
		switch {
		case counts && known:
			others = true
		case counts && asksForMore(word):
			words = append(words, word)
		}
	}
	return words, others
}

// overlap reports whether a bigram begins with the last character of another text.
func overlap(text, gram string) bool {
	first, _ := utf8.DecodeRuneInString(gram)
	return strings.HasSuffix(text, string(first))
}

// quotedList returns words as people list them: "a", "b" or "c".
func quotedList(words []string) string {
	rest := len(words) - maxNamedWords
	words = words[:min(maxNamedWords, len(words))]
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + w + `"`
	}
	switch last := len(quoted) - 1; {
	case rest > 0:
		return fmt.Sprintf("%s or %d more words", strings.Join(quoted, ", "), rest)
	case last == 0:
		return quoted[0]
	default:
		return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
	}
}
