package search

import (
	"slices"

	"kioku/search/analysis"
)

// know tells the scorer where the terms are in chunks with ascending ids, if the store knows without reading their texts.
func (s *scorer) know(rd Reader, ids []int64) {
	terms := s.q.strings()
	slices.Sort(terms)
	terms = slices.Compact(terms)
	if places := rd.Places(terms, ids); places != nil {
		s.known, s.ids, s.places = terms, ids, places
	}
}

// knownLines returns the lines of a chunk from its layout and the places of the terms, nil if one of them is not known.
func (s *scorer) knownLines(c *Chunk) *textLines {
	i, ok := slices.BinarySearch(s.ids, c.ID)
	if !ok {
		return nil
	}
	layout, ok := analysis.DecodeLayout(c.Layout)
	if !ok {
		return nil
	}
	s.startText(c)
	l := &textLines{occurrences: make([]occurrence, 0, len(s.places[i])), ends: make([]lineEnd, 0, len(layout.Ends))}
	places := s.places[i]
	for len(places) > 0 && places[0].At < layout.Above {
		places = places[1:]
	}
	joined := layout.Joined
	passed := 0 // joined tokens before the place
	for line, end := range layout.Ends {
		for ; len(places) > 0 && places[0].At-layout.Above < end; places = places[1:] {
			at := places[0].At - layout.Above
			for passed < len(joined) && joined[passed] < at {
				passed++
			}
			leaf := passed == len(joined) || joined[passed] != at
			if term, ok := s.indexes[s.known[places[0].Term]]; ok {
				// As the analyzer counts: leaves, and ends of lines.
				l.occurrences = append(l.occurrences, occurrence{term, at, int32(at - passed + line), leaf})
			}
		}
		l.ends = append(l.ends, lineEnd{end, len(l.occurrences)})
	}
	return l
}
