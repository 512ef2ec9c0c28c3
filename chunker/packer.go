package chunker

import (
	"strings"
	"unicode"

	"kioku/internal/text"
)

// packer packs the units of an outline into chunks.
type packer struct {
	*outline
	// sums[i] is the number of tokens of all units before the unit i.
	sums []int
	// trail contains the headings of the units before passed.
	trail  Trail
	passed int
}

func newPacker(o *outline) *packer {
	p := &packer{outline: o, sums: make([]int, len(o.units)+1)}
	for i, u := range o.units {
		p.sums[i+1] = p.sums[i] + u.tokens
	}
	return p
}

// chunks returns the chunks of the text. A chunk consists of the units from, ..., cut-1; those before own are repeated from
// the chunk before. The unit own is not blank and new in every chunk, so that no chunk is contained in the one before.
func (p *packer) chunks() []Chunk {
	var chunks []Chunk
	own := p.skipBlank(0)
	for from := own; own < len(p.units); {
		var cut, tokens int
		from, cut, tokens = p.shrink(from, own, p.cut(from, own))
		last, next := p.trimBlank(cut)-1, p.skipBlank(cut)
		chunks = append(chunks, Chunk{
			StartLine: p.units[from].line,
			EndLine:   p.units[last].last,
			Headings:  p.headings(from, cut),
			Text:      p.between(from, cut),
			Tokens:    tokens,
			Fence:     p.units[from].fence,
			Closed:    next == len(p.units) || p.units[next].level > 0,
		})
		own = next
		from = p.overlap(from, own)
	}
	return chunks
}

// cut returns the end of a chunk, after own: a heading behind the first quarter of the budget or a section of a list of
// entries, else the end of a paragraph, else the end of the budget, but never directly after a heading.
func (p *packer) cut(from, own int) int {
	full := own + 1
	for full < len(p.units) && p.tokens(from, full+1) <= p.opts.Tokens {
		full++
	}
	if p.kind == Entries {
		if at := p.sectionCut(from, own, full); at > 0 {
			return at
		}
	}
	if at := p.headingCut(from, own, full); at > 0 {
		return at
	}
	if full == len(p.units) {
		return full
	}
	if at := p.paragraphCut(from, own, full); at > 0 && p.kind == Notes {
		return at
	}
	for {
		at := p.trimBlank(full) - 1
		if at <= own || p.units[at].level == 0 {
			return full
		}
		full = at
	}
}

// sectionCut returns the first heading of level 1 or 2 after own, up to full, before which the chunk has an eighth of the
// budget; 0 if there is none.
func (p *packer) sectionCut(from, own, full int) int {
	for at := own + 1; at <= full && at < len(p.units); at++ {
		level := p.units[at].level
		if (level == 1 || level == 2) && p.tokens(from, at) >= p.opts.Tokens/8 {
			return at
		}
	}
	return 0
}

// headingCut returns the most important heading, of equals the last, behind the first quarter of the budget; 0 if there is
// none. A chunk that ends with a section is found by what that section says, and its passages are not cut in two.
func (p *packer) headingCut(from, own, full int) int {
	best, budget := 0, p.opts.Tokens
	for at := min(full, len(p.units)-1); at > own && p.tokens(from, at) >= budget/4; at-- {
		if level := p.units[at].level; level > 0 && (best == 0 || level < p.units[best].level) {
			best = at
		}
	}
	return best
}

// paragraphCut returns the last end of a paragraph in the second half of the budget; 0 if there is none. A paragraph that
// two chunks share is whole in neither, and neither is found by what it says.
func (p *packer) paragraphCut(from, own, full int) int {
	for at := full; at > own && 2*p.tokens(from, at) >= p.opts.Tokens; at-- {
		if p.units[at-1].blank || at < len(p.units) && p.units[at].blank {
			return at
		}
	}
	return 0
}

// overlap returns the start of the chunk whose own units start at own, after a chunk that started at before: as many whole
// units earlier as Options.Overlap allows if the unit own fits beside them, but not beyond a heading.
func (p *packer) overlap(before, own int) int {
	if own >= len(p.units) || p.units[own].level > 0 {
		return own
	}
	limit := min(p.opts.Overlap, p.opts.Tokens-p.units[own].tokens)
	from := own
	for from-1 > before && p.tokens(from-1, own) <= limit {
		if from--; p.units[from].level > 0 {
			break
		}
	}
	return p.skipBlank(from)
}

// shrink returns the chunk with its exact number of tokens, and a smaller chunk if that is over the budget: lines may have
// more tokens together than one by one, for example if two newlines are a token that breaks up another.
func (p *packer) shrink(from, own, cut int) (int, int, int) {
	for {
		tokens := p.counter.count(p.between(from, cut))
		switch {
		case tokens <= p.opts.Tokens:
			return from, cut, tokens
		case cut > own+1:
			cut--
		case from < own:
			from = p.skipBlank(from + 1)
		default:
			return from, cut, tokens
		}
	}
}

// tokens returns the sum of the tokens of the units from, ..., end-1.
func (p *packer) tokens(from, end int) int {
	return p.sums[end] - p.sums[from]
}

// between returns the text of the units from, ..., cut-1 without blank lines at the end, and without space at the start if
// it starts within a line.
func (p *packer) between(from, cut int) string {
	start, end := p.units[from].start, p.units[p.trimBlank(cut)-1].end
	text := strings.TrimSuffix(p.text[start:end], "\n")
	if start > 0 && p.text[start-1] != '\n' {
		return strings.TrimLeftFunc(text, unicode.IsSpace)
	}
	return text
}

// skipBlank returns the index of the first unit from i on that is not blank, or the number of units.
func (p *packer) skipBlank(i int) int {
	for i < len(p.units) && p.units[i].blank {
		i++
	}
	return i
}

// trimBlank returns the end of the units before cut without the blank units at their end.
func (p *packer) trimBlank(cut int) int {
	for cut > 0 && p.units[cut-1].blank {
		cut--
	}
	return cut
}

// headings returns the path of headings at the unit from or, if that is front matter, at the first unit of the body before
// cut.
func (p *packer) headings(from, cut int) string {
	if body := p.skipBlank(p.body); from < p.body && body < cut {
		from = body
	}
	for ; p.passed <= from; p.passed++ {
		if u := p.units[p.passed]; u.level > 0 {
			p.trail.Enter(u.level, headingTitle(text.FirstLine(p.textOf(u))))
		}
	}
	path := p.trail.String()
	if head := p.units[from].head; head != "" {
		path = WithTableHead(path, head)
	}
	return path
}
