package recall

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"kioku/derive/store"
	"kioku/memory"
	"kioku/search/analysis"
)

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
	hidden, err := s.sensitiveIn(ctx, s.ceiling, hits)
	for h := range all {
		if len(below) == most {
			break
		}
		shown, whole := h, true
		switch {
		case err == nil:
			shown, whole = s.redact(h, hidden)
		case s.ceiling < memory.Private:
			shown.Snippet, whole = "", false
		}
		gone += one(!whole)
		if shown.Snippet != "" {
			below = append(below, shown)
		}
	}
	return below, gone
}

// sensitiveIn returns the episodes above a ceiling that some hits have lines of.
func (s *state) sensitiveIn(ctx context.Context, ceiling memory.Sensitivity, hits []memory.Hit) ([]memory.Episode, error) {
	if ceiling >= memory.Secret {
		return nil, nil
	}
	places := make([]store.Lines, len(hits))
	for i, h := range hits {
		places[i] = store.Lines{Path: h.Path, From: h.StartLine, To: h.EndLine}
	}
	return guard(func() ([]memory.Episode, error) {
		found, uncut, err := s.Recaller.units.SensitiveAt(ctx, ceiling, places)
		for _, path := range uncut {
			found = append(found, s.Recaller.cut(ctx, ceiling, path)...)
		}
		return found, err
	})
}

// cut returns the episodes above a ceiling of a file that has just been indexed. If they are not known, all lines are private.
func (r *Recaller) cut(ctx context.Context, ceiling memory.Sensitivity, path string) []memory.Episode {
	episodes := []memory.Episode{{StartLine: 1, EndLine: math.MaxInt, Sensitivity: memory.Private}}
	if r.opt.Cut != nil {
		if known, err := r.opt.Cut(ctx, path); err == nil {
			episodes = known
		}
	}
	for i := range episodes {
		episodes[i].Path = path
	}
	return slices.DeleteFunc(episodes, func(e memory.Episode) bool { return e.Sensitivity <= ceiling })
}

// redact replaces the lines of a hit that are of hidden episodes. whole reports that there are none. If no other line has a word of the
// query, or the lines are not known, the snippet is empty.
func (s *state) redact(h memory.Hit, hidden []memory.Episode) (shown memory.Hit, whole bool) {
	hides := func(e memory.Episode) bool { return e.Path == h.Path && h.HasLinesOf(e) }
	if !slices.ContainsFunc(hidden, hides) {
		return h, true
	}
	lines, first := shownLines(h)
	var open strings.Builder
	for i := range lines {
		if slices.ContainsFunc(hidden, func(e memory.Episode) bool {
			return hides(e) && e.StartLine <= first+i && first+i <= e.EndLine
		}) {
			lines[i] = memory.WithheldLine
		} else {
			open.WriteString(lines[i] + "\n")
		}
	}
	left := analysis.ContentTerms(open.String())
	if !slices.ContainsFunc(analysis.ContentTerms(s.query.Text+"\n"+s.background), func(term string) bool { return slices.Contains(left, term) }) {
		h.Snippet = ""
		return h, false
	}
	h.Snippet = strings.Join(lines, "\n")
	return h, false
}
