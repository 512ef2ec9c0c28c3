package recall

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"kioku/derive/vocab"
	"kioku/memory"
	"kioku/search/analysis"
)

const (
	// linkHits is the number of passages that say which words of the background are meant, and maxLinks that of these words.
	linkHits, maxLinks = 4, 3
	// capitalWeight is how much more a capitalised word tells than another one.
	capitalWeight = 2
)

// spoken is a run of a text that may be linked to: a word, or a run of Japanese or Chinese characters without hiragana.
type spoken struct {
	surface    string
	start, end int32
	term       string
}

// link is a word of the background that passages share.
type link struct {
	surface string
	weight  float64
	at      int
}

// links returns the words of a background that the first of some passages share with it and the message lacks: what the message points
// at, if anything that is remembered is about it. The most telling ones are returned in the order in which they were said.
func links(background, message string, hits []memory.Hit) []string {
	said, asked := wordsOf(background), vocab.Terms(message)
	var found []link
	for rank, h := range hits[:min(len(hits), linkHits)] {
		has := vocab.Terms(h.Headings + "\n" + h.Snippet)
		for i := 0; i < len(said); {
			run := said[i]
			from := i
			for i++; i < len(said) && has[run.term] && has[said[i].term] && said[i].start <= run.end; i++ {
				run.end = said[i].end
				run.surface += said[i].surface[len(said[i].surface)-int(said[i].end-max(said[i-1].end, said[i].start)):]
			}
			if has[said[from].term] && !asked[said[from].term] {
				found = addLink(found, link{surface: run.surface, at: from, weight: tellingWeight(run.surface) / float64(rank+1)})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b link) int { return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.at, a.at)) })
	found = found[:min(len(found), maxLinks)]
	slices.SortStableFunc(found, func(a, b link) int { return cmp.Compare(a.at, b.at) })
	var words []string
	for _, l := range found {
		words = append(words, l.surface)
	}
	return words
}

// addLink adds a link, or its weight to the same one.
func addLink(found []link, l link) []link {
	for i, f := range found {
		if f.surface == l.surface {
			found[i].weight += l.weight
			found[i].at = max(f.at, l.at)
			return found
		}
	}
	return append(found, l)
}

// tellingWeight says how much a word tells about what is meant.
func tellingWeight(surface string) float64 {
	if analysis.StartsUpper(surface) || strings.ContainsFunc(surface, isGlyph) {
		return capitalWeight
	}
	return 1
}

// wordsOf returns the telling words of a text in their order.
func wordsOf(text string) []spoken {
	a := analysis.NewAnalyzer()
	defer a.Release()
	a.Add(text)
	var words []spoken
	for _, t := range a.Tokens {
		surface := a.Text[t.Start:t.End]
		switch {
		case !t.IsLeaf() || analysis.IsStopWord(a.Lower[t.Start:t.End], t.Kind) || strings.IndexFunc(surface, unicode.IsLetter) < 0:
		case t.Kind == analysis.Gram && strings.ContainsFunc(surface, func(r rune) bool { return unicode.Is(unicode.Hiragana, r) }):
		default:
			words = append(words, spoken{surface: surface, start: t.Start, end: t.End, term: t.Term})
		}
	}
	return words
}
