package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kioku/memory"
)

// withheldLine stands in place of a line that lies above the ceiling.
const withheldLine = "[withheld]"

// withhold leaves out the passages of episodes above the ceiling, lines of such episodes in other passages, and merged passages that say
// what an earlier one says; it looks at no more of them than it keeps. If that takes passages of a search that was not merged, it
// searches for as many more.
func (s *state) withhold(ctx context.Context) {
	wanted, most := s.maxResults(), len(s.answer.Hits)
	if s.merged && !s.reranks() {
		most = wanted + spare
	}
	hits, gone := s.belowCeiling(ctx, s.answer.Hits, most)
	if gone > 0 && len(hits) < wanted && !s.merges() && !s.reranks() {
		q := s.plain(s.query.Text)
		q.MaxResults = min(wanted+2*gone+pool, 100)
		if more, err := s.search.Search(ctx, q); err == nil {
			hits, gone = s.belowCeiling(ctx, more.Hits, wanted)
		}
	}
	if s.answer.Hits = hits; gone > 0 {
		s.answer.Withheld += gone
		s.degrade(memory.Withheld, fmt.Sprintf("%d passages that match have lines that are %s; they were left out.", gone, above(s.ceiling)))
	}
}

// above names what lies above a ceiling.
func above(ceiling memory.Sensitivity) string {
	if ceiling == memory.Normal {
		return "private or secret"
	}
	return "secret"
}

// belowCeiling returns the first hits, at most a number, without what lies above the ceiling, and the number of those from which
// something is missing. If it is not known what a passage contains, the passage stays for the owner, and is left out for others.
func (s *state) belowCeiling(ctx context.Context, hits []memory.Hit, most int) (below []memory.Hit, gone int) {
	all := slices.Values(hits)
	switch {
	case s.merged:
		all = unlike(hits)
	case s.ceiling >= memory.Secret:
		return hits, 0
	}
	for h := range all {
		if len(below) == most {
			break
		}
		shown, whole := s.upToCeiling(ctx, h)
		gone += one(!whole)
		if shown.Snippet != "" {
			below = append(below, shown)
		}
	}
	return below, gone
}

// upToCeiling returns a hit without what lies above the ceiling, with an empty snippet if nothing is left, and whether it is whole.
func (s *state) upToCeiling(ctx context.Context, h memory.Hit) (shown memory.Hit, whole bool) {
	if s.ceiling >= memory.Secret {
		return h, true
	}
	episodes, err := guard(func() ([]memory.Episode, error) {
		return s.Recaller.units.EpisodesAt(ctx, h.Path, h.StartLine, h.EndLine)
	})
	switch {
	case err == nil:
		return s.redact(h, episodes)
	case s.ceiling >= memory.Private:
		return h, true
	}
	h.Snippet = ""
	return h, false
}

// redact replaces the lines of a hit that lie above the ceiling. whole reports that there are none. If no other line has a word of the
// query, or the lines are not known, the snippet is empty.
func (s *state) redact(h memory.Hit, episodes []memory.Episode) (shown memory.Hit, whole bool) {
	var hidden []memory.Episode
	for _, e := range episodes {
		if e.Sensitivity > s.ceiling {
			hidden = append(hidden, e)
		}
	}
	if len(hidden) == 0 {
		return h, true
	}
	lines, first := shownLines(h)
	var open strings.Builder
	for i := range lines {
		if slices.ContainsFunc(hidden, func(e memory.Episode) bool { return e.StartLine <= first+i && first+i <= e.EndLine }) {
			lines[i] = withheldLine
		} else {
			open.WriteString(lines[i] + "\n")
		}
	}
	left := contentTerms(open.String())
	if !slices.ContainsFunc(contentTerms(s.query.Text+"\n"+s.background), func(term string) bool { return slices.Contains(left, term) }) {
		h.Snippet = ""
		return h, false
	}
	h.Snippet = strings.Join(lines, "\n")
	return h, false
}
