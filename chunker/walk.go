package chunker

import (
	"strings"
	"unicode"
)

// walk packs the units of an outline into chunks.
type walk struct {
	*outline
	// sums[i] is the number of tokens of all units before the unit i.
	sums []int
	// trail is the path of headings at the unit before passed.
	trail  Trail
	passed int
}

func newWalk(o *outline) *walk {
	w := &walk{outline: o, sums: make([]int, len(o.units)+1)}
	for i, u := range o.units {
		w.sums[i+1] = w.sums[i] + u.tokens
	}
	return w
}

// chunks returns the chunks of the text. A chunk is the units from, ..., cut-1; those before own are repeated from
// the chunk before it. As own is not blank and new in every chunk, none is contained in its predecessor.
func (w *walk) chunks() []Chunk {
	var chunks []Chunk
	own := w.skipBlank(0)
	for from := own; own < len(w.units); {
		var cut, tokens int
		from, cut, tokens = w.shrink(from, own, w.cut(from, own))
		last, next := w.trimBlank(cut)-1, w.skipBlank(cut)
		chunks = append(chunks, Chunk{
			StartLine: w.units[from].line,
			EndLine:   w.units[last].last,
			Headings:  w.headings(from, cut),
			Text:      w.between(from, cut),
			Tokens:    tokens,
			Fence:     w.units[from].fence,
			Closed:    next == len(w.units) || w.units[next].level > 0,
		})
		own = next
		from = w.overlap(from, own)
	}
	return chunks
}

// cut returns where a chunk ends, after own: at a heading behind the first quarter of the budget or at a section of a list
// of entries, else between paragraphs, else where the budget ends, but not between a heading and what it heads.
func (w *walk) cut(from, own int) int {
	full := own + 1
	for full < len(w.units) && w.tokens(from, full+1) <= w.opts.Tokens {
		full++
	}
	if w.kind == Entries {
		if at := w.section(from, own, full); at > 0 {
			return at
		}
	}
	if at := w.heading(from, own, full); at > 0 {
		return at
	}
	if full == len(w.units) {
		return full
	}
	if at := w.paragraph(from, own, full); at > 0 && w.kind == Notes {
		return at
	}
	for {
		at := w.trimBlank(full) - 1
		if at <= own || w.units[at].level == 0 {
			return full
		}
		full = at
	}
}

// section returns the first heading of level 1 or 2 after own, and not after full, before which the chunk is no
// longer tiny; 0 where there is none.
func (w *walk) section(from, own, full int) int {
	for at := own + 1; at <= full && at < len(w.units); at++ {
		level := w.units[at].level
		if (level == 1 || level == 2) && w.tokens(from, at) >= w.opts.Tokens/8 {
			return at
		}
	}
	return 0
}

// heading returns the most important heading, of equals the last, behind the first quarter of the budget; 0 where there
// is none. A chunk that ends with a section is found by what that section says, and its passages are not cut in two.
func (w *walk) heading(from, own, full int) int {
	best, budget := 0, w.opts.Tokens
	for at := min(full, len(w.units)-1); at > own && w.tokens(from, at) >= budget/4; at-- {
		if level := w.units[at].level; level > 0 && (best == 0 || level < w.units[best].level) {
			best = at
		}
	}
	return best
}

// paragraph returns the last end of a paragraph in the second half of the budget; 0 where there is none. A paragraph that
// two chunks share is whole in neither, and what it says is found by neither.
func (w *walk) paragraph(from, own, full int) int {
	for at := full; at > own && 2*w.tokens(from, at) >= w.opts.Tokens; at-- {
		if w.units[at-1].blank || at < len(w.units) && w.units[at].blank {
			return at
		}
	}
	return 0
}

// overlap returns where the chunk starts whose own units start at own, after one that started at before: as many
// whole units earlier as the overlap allows, the next own unit fits beside, and no heading is between.
func (w *walk) overlap(before, own int) int {
	if own >= len(w.units) || w.units[own].level > 0 {
		return own
	}
	limit := min(w.opts.Overlap, w.opts.Tokens-w.units[own].tokens)
	from := own
	for from-1 > before && w.tokens(from-1, own) <= limit {
		if from--; w.units[from].level > 0 {
			break
		}
	}
	return w.skipBlank(from)
}

// shrink returns the chunk with its exact number of tokens, smaller where that is over the budget: lines may have
// more tokens together than one by one, for example where two newlines are a token that breaks up another.
func (w *walk) shrink(from, own, cut int) (int, int, int) {
	for {
		tokens := w.counter.count(w.between(from, cut))
		switch {
		case tokens <= w.opts.Tokens:
			return from, cut, tokens
		case cut > own+1:
			cut--
		case from < own:
			from = w.skipBlank(from + 1)
		default:
			return from, cut, tokens
		}
	}
}

// tokens returns the sum of the units from, ..., end-1.
func (w *walk) tokens(from, end int) int {
	return w.sums[end] - w.sums[from]
}

// between returns the text of the units from, ..., cut-1 without blank lines at the end, and without space at the start
// if that is within a line.
func (w *walk) between(from, cut int) string {
	start, end := w.units[from].start, w.units[w.trimBlank(cut)-1].end
	text := strings.TrimSuffix(w.text[start:end], "\n")
	if start > 0 && w.text[start-1] != '\n' {
		return strings.TrimLeftFunc(text, unicode.IsSpace)
	}
	return text
}

// skipBlank returns the index of the first unit from i on that is not blank, or the number of units.
func (w *walk) skipBlank(i int) int {
	for i < len(w.units) && w.units[i].blank {
		i++
	}
	return i
}

// trimBlank returns the end of the units before cut without the blank ones at their end.
func (w *walk) trimBlank(cut int) int {
	for cut > 0 && w.units[cut-1].blank {
		cut--
	}
	return cut
}

// headings returns the path of headings at the unit from; if that is front matter, at the first unit of the body
// before cut.
func (w *walk) headings(from, cut int) string {
	if body := w.skipBlank(w.body); from < w.body && body < cut {
		from = body
	}
	for ; w.passed <= from; w.passed++ {
		if u := w.units[w.passed]; u.level > 0 {
			w.trail.Enter(u.level, headingTitle(firstLine(w.textOf(u))))
		}
	}
	return w.trail.String()
}
