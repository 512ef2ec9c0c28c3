package search

import (
	"slices"

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

// textLines tells where the terms of the query are in the lines of a chunk, so that passages of whole lines need not be
// analysed again: no token extends over the end of a line.
type textLines struct {
	occurrences []occurrence
	// ends contains, for each line, the number of tokens and of occurrences up to its end.
	ends []lineEnd
}

type lineEnd struct{ tokens, occurrences int }

// countsBefore returns the number of tokens and of occurrences before a line.
func (l *textLines) countsBefore(line int) lineEnd {
	if line == 0 {
		return lineEnd{}
	}
	return l.ends[line-1]
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

// scoreByLine scores a chunk like score and also returns its lines, nil if they are not known.
func (s *scorer) scoreByLine(c *Chunk) (textScore, *textLines) {
	l := s.lines(c)
	if l == nil {
		return s.score(c), nil
	}
	return s.scoreLines(c, l, 0, len(l.ends)), l
}

// lines returns the lines of a chunk from its words, nil if these do not say in which lines they are.
func (s *scorer) lines(c *Chunk) *textLines {
	w := &s.words
	if len(c.Words) == 0 || !w.Read(c.Words) || len(w.Ends) == 0 {
		return nil
	}
	s.setLanguage(c.Language)
	s.wanted = s.wanted[:0]
	for i := range w.Distinct() {
		term, ok := s.indexes[string(w.Term(i))]
		if !ok {
			term = -1
		}
		s.wanted = append(s.wanted, term)
	}
	l := &textLines{ends: make([]lineEnd, 0, len(w.Ends))}
	at, leaves := w.Above, int32(0)
	for line, end := range w.Ends {
		for ; at < end; at++ {
			n := w.Order[at]
			leaf := n&1 == 0
			if term := s.wanted[n>>1]; term >= 0 {
				// As the analyzer counts: leaves, and ends of lines.
				l.occurrences = append(l.occurrences, occurrence{term, at - w.Above, leaves + int32(line), leaf})
			}
			if leaf {
				leaves++
			}
		}
		l.ends = append(l.ends, lineEnd{end - w.Above, len(l.occurrences)})
	}
	return l
}

// positionGap separates the positions of the tokens of a text from those of its headings and its date.
const positionGap = 1 << 20

// scoreLines scores the passage of a chunk that consists of its lines [from,to), counted from 0, as score would.
func (s *scorer) scoreLines(c *Chunk, l *textLines, from, to int) textScore {
	above := s.addHeadings(c)
	s.occurrences = s.appendOccurrences(s.occurrences[:0], s.a.Tokens)
	start, end := l.countsBefore(from), l.countsBefore(to)
	for _, o := range l.occurrences[start.occurrences:end.occurrences] {
		o.at += above - start.tokens
		o.pos += positionGap
		s.occurrences = append(s.occurrences, o)
	}
	return s.sumScore(above + end.tokens - start.tokens)
}
