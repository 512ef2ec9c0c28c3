package search

import (
	"slices"
	"sort"
	"strings"

	"kioku/search/analysis"
)

// occurrence is a term of the query in a text.
type occurrence struct {
	// term is the index of the term in the query, and at the index of the token in the text.
	term, at int
	// pos and leaf are those of the token.
	pos  int32
	leaf bool
}

// textTokens tells where the terms of the query are in the text of a chunk, so that its passages need not be analysed again.
type textTokens struct {
	occurrences []occurrence
	// starts are the offsets of the tokens in the normalised text.
	starts []int32
	// same reports that the normalised text is as long as the text: offsets are the same in both. If it is not, ends are the ends of
	// the lines of the normalised text, nil if these are not the lines of the text.
	same bool
	ends []int
}

// newTextTokens returns the tokens of a text, which is the one that was added to a last. The first above tokens of a are not of the text,
// and occurrences are those of all tokens.
func newTextTokens(text string, a *analysis.Analyzer, above int, occurrences []occurrence) *textTokens {
	first, _ := slices.BinarySearchFunc(occurrences, above, func(o occurrence, at int) int { return o.at - at })
	l := &textTokens{occurrences: slices.Clone(occurrences[first:]), starts: make([]int32, len(a.Tokens)-above), same: len(a.Text) == len(text)}
	for i := range l.occurrences {
		l.occurrences[i].at -= above
	}
	for i, t := range a.Tokens[above:] {
		l.starts[i] = t.Start
	}
	if l.same || strings.Count(a.Text, "\n") != strings.Count(text, "\n") {
		return l
	}
	end := 0
	// Split, because a last line that normalises to nothing still is a line of the text.
	for line := range strings.SplitAfterSeq(a.Text, "\n") {
		end += len(line)
		l.ends = append(l.ends, end)
	}
	return l
}

// bytesOf returns the place of a passage in the normalised text, and false if it is not known. first is the number of the first line of the
// text.
func (l *textTokens) bytesOf(s span, first int) (from, to int, ok bool) {
	switch {
	case l.same:
		return s.start, s.start + len(s.text), true
	case s.part || l.ends == nil:
		return 0, 0, false
	case s.from > first:
		from = l.ends[s.from-first-1]
	}
	return from, l.ends[s.to-first], true
}

// before returns the number of tokens that start before an offset. A token that is made of others follows them.
func (l *textTokens) before(offset int) int {
	return sort.Search(len(l.starts), func(i int) bool { return int(l.starts[i]) >= offset })
}

// appendOccurrences appends the occurrences of the terms in tokens, which are numbered from 0.
func (s *scorer) appendOccurrences(list []occurrence, tokens []analysis.Token) []occurrence {
	for k, t := range tokens {
		if i, ok := s.indexes[t.Term]; ok {
			list = append(list, occurrence{i, k, t.Pos, t.IsLeaf()})
		}
	}
	return list
}

// dropUncounted drops occurrences of the two parts of a word that are not beside each other, and of two words that are joined by a
// hyphen.
func (s *scorer) dropUncounted() {
	if !slices.ContainsFunc(s.q.list, func(t queryTerm) bool { return t.joined || t.beside != 0 }) {
		return
	}
	type place struct {
		term int
		pos  int32
	}
	places := make(map[place]bool)
	for _, o := range s.occurrences {
		places[place{o.term, o.pos}] = true
	}
	s.occurrences = slices.DeleteFunc(s.occurrences, func(o occurrence) bool {
		t := s.q.list[o.term]
		return t.joined && !o.leaf || t.beside != 0 && !places[place{o.term + t.beside, o.pos + int32(t.beside)}]
	})
}

// addHeadings starts a new text with the names of the file, the headings and the date of a chunk, and returns the number of
// tokens of the latter two.
func (s *scorer) addHeadings(c *Chunk) int {
	s.named = s.termsInNames(c)
	s.startText(c)
	s.a.Add(c.Headings)
	s.a.Add(c.Date)
	s.above = len(s.a.Tokens)
	return s.above
}

// positionGap separates the positions of the tokens of a text from those of its headings and its date.
const positionGap = 1 << 20

// scorePassage scores a passage of a chunk, as score would. first is the number of the first line of the chunk.
func (s *scorer) scorePassage(p *Chunk, l *textTokens, at span, first int) textScore {
	from, to, ok := l.bytesOf(at, first)
	if !ok {
		return s.score(p)
	}
	above := s.addHeadings(p)
	s.occurrences = s.appendOccurrences(s.occurrences[:0], s.a.Tokens)
	start := l.before(from)
	end := max(start, l.before(to))
	for _, o := range l.occurrences {
		if o.at < start || o.at >= end {
			continue
		}
		o.at += above - start
		o.pos += positionGap
		s.occurrences = append(s.occurrences, o)
	}
	return s.sumScore(above + end - start)
}
