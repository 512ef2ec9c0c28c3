package search

import (
	"cmp"
	"regexp"
	"slices"
)

// asksOrder matches questions for the order in which things happened.
var asksOrder = regexp.MustCompile(`(?i)\b(in (what|which|chronological) (order|sequence)|(in )?order of (date|time)s?|order in which|list in order|chronolog\w*|time ?line)|` +
	`\b(in welcher reihenfolge|zeitlicher ablauf|dans quel ordre|chronologi\w*|en qué orden|cronol\w*|in che ordine|em que ordem|in welke volgorde|i vilken ordning)\b|` +
	`в каком порядке|順番|時系列|时间顺序|時間順序|时间线|時間線|어떤 순서`)

// timeline orders the hits of a question for an order by their days, the earliest first. Undated hits and weak ones follow.
func (r *searchState) timeline() {
	if !r.asksOrder {
		return
	}
	day := func(c *candidate) string {
		if c.Date == "" {
			return "~" // after all days
		}
		return c.Date
	}
	slices.SortStableFunc(r.hits, func(a, b *candidate) int {
		switch {
		case a.weak != b.weak && b.weak:
			return -1
		case a.weak != b.weak:
			return 1
		}
		return cmp.Or(cmp.Compare(day(a), day(b)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine))
	})
}
