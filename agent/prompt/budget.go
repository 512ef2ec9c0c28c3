package prompt

import (
	"slices"
	"unicode/utf8"

	"kioku/agent/bootstrap"
	"kioku/internal/text"
)

// leastTokens is the minimum size of a shortened text.
const leastTokens = 50

// reasonBudget is the reason of memories that did not fit.
const reasonBudget = "no room within the budget"

// fit cuts parts, in the order of the package comment, until the layers have at most budget tokens or nothing more can be cut.
func (a *assembly) fit(layers []layer, budget int) {
	if a.Budget <= 0 {
		return
	}
	for _, p := range a.victims(layers) {
		over := -budget
		for _, l := range layers {
			over += a.layerTokens(l)
		}
		if over <= 0 {
			return
		}
		if p.tokens == 0 {
			continue
		}
		from := p.tokens
		a.shrink(p, p.tokens-over)
		p.tokens = a.tokens(p.String())
		if p.tokens != from {
			a.out.Cuts = append(a.out.Cuts, Cut{Part: p.name, From: from, To: p.tokens})
		}
	}
}

// victims returns the parts that may be cut, in the order in which they are.
func (a *assembly) victims(layers []layer) []*part {
	byName := map[string]*part{}
	var blocks []*part
	for _, l := range layers {
		if l.block {
			blocks = append(blocks, l.parts...)
			continue
		}
		for _, p := range l.parts {
			byName[p.name] = p
		}
	}
	slices.Reverse(blocks)
	named := func(names ...string) (parts []*part) {
		for _, name := range names {
			if p := byName[name]; p != nil {
				parts = append(parts, p)
			}
		}
		return parts
	}
	return slices.Concat(named(bootstrap.Heartbeat, bootstrap.Bootstrap, LayerSkills, bootstrap.User), blocks,
		named(recalledPart, bootstrap.Memory, standingName, howToPart, bootstrap.Agents, bootstrap.Tools, bootstrap.Identity, bootstrap.Soul))
}

// shrink shortens a part to at most target tokens, or leaves it out.
func (a *assembly) shrink(p *part, target int) {
	switch {
	case len(p.memories) > 0:
		a.forget(p, target)
	case p.name == bootstrap.Identity:
		if a.cut(p, target); p.text == "" {
			p.text = p.short
		}
	case p.short != "" && a.tokens(p.heading+p.short) <= target:
		p.text = p.short
	case p.name == LayerSkills, p.name == howToPart:
		p.text = ""
	default:
		a.cut(p, target)
	}
}

// forget leaves out memories, the worst first. Without memories there is no frame.
func (a *assembly) forget(p *part, target int) {
	for len(p.memories) > 0 && a.tokens(p.text) > target {
		last := len(p.memories) - 1
		a.leaveOut(p.memories[last], reasonBudget)
		p.memories = p.memories[:last]
		p.text = p.frame(p.memories)
	}
}

// cut cuts the middle out of a text.
func (a *assembly) cut(p *part, target int) {
	whole := p.text
	p.text = ""
	if target < leastTokens {
		return
	}
	limit := utf8.RuneCountInString(whole) * target / max(p.tokens, 1)
	// The number of tokens is not proportional to that of characters, so the first guess may be too long.
	for range 12 {
		shorter := text.CutMiddle(p.name, whole, limit)
		if shorter == "" {
			return
		}
		if a.tokens(p.heading+shorter) <= target {
			p.text = shorter
			return
		}
		limit = limit * 9 / 10
	}
}
