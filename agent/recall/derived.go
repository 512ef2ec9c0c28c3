package recall

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kioku/agent/prompt"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	// itemTokens is the size of what surrounds a text in the frame.
	itemTokens = 30
	// leastUnit is the least score of a unit, as the memory gives it, that has a place: the message asks for it, or has most of its words.
	leastUnit = 0.5
)

// sections are what is recalled: derived units and passages.
type sections struct {
	units, passages []prompt.Memory
}

// contextOf returns the latest messages before a message, the beginning and the end of long ones.
func contextOf(turns []memory.Turn) []memory.Turn {
	var kept []memory.Turn
	for _, t := range turns {
		said := strings.TrimSpace(memory.StripRecalled(t.Text))
		if len(said) > 2*contextBytes {
			said = text.HeadBytes(said, contextBytes) + "\n" + text.TailBytes(said, contextBytes)
		}
		if said != "" {
			kept = append(kept, memory.Turn{Speaker: t.Speaker, Text: said})
		}
	}
	return kept[max(len(kept)-contextTurns, 0):]
}

// derivedOf returns units of a source as memories, in their order. A unit without evidence has no place to name, and is left out.
func (s source) derivedOf(units []memory.FoundUnit) (out sections) {
	for _, u := range units {
		if u.Score < leastUnit || len(u.Evidence) == 0 || strings.TrimSpace(u.Text) == "" {
			continue
		}
		m := OfUnit(s.agent, u.Unit, u.Text)
		m.Shared, m.Score = s.shared, u.Score
		out.units = append(out.units, m)
	}
	return out
}

// OfUnit returns a unit of an agent that has evidence as a memory with a text.
func OfUnit(agent string, u memory.Unit, text string) prompt.Memory {
	e := u.Evidence[0]
	m := prompt.Memory{
		Agent: agent, Path: e.Path, StartLine: e.StartLine, EndLine: e.EndLine, Kind: u.Kind,
		Text: memory.StripRecalled(text) + doubt(u.State), Quote: e.Quote,
	}
	if !u.OccurredAt.IsZero() {
		m.Date = u.OccurredAt.Format(time.DateOnly)
	}
	if u.Kind == memory.KindSummary {
		m.Quote = ""
	}
	return m
}

const (
	contradicted = " (another note contradicts this)"
	superseded   = " (no longer)"
)

// doubt says why a unit may not hold, empty if it holds.
func doubt(state string) string {
	switch state {
	case memory.StateConflict:
		return contradicted
	case memory.StateSuperseded:
		return superseded
	}
	return ""
}

// join appends the units of other sections.
func (s *sections) join(o sections) { s.units = append(s.units, o.units...) }

// within returns passages and units in one list by their scores. The score of a unit is a share of the words of the message and no
// confidence as that of a passage is, so that it counts as that share of the best passage's score: no unit stands above the best
// passage. All passages stay whole; units have what they leave of the tokens, and those that a passage shows are left out.
func (s sections) within(tokens int) []prompt.Memory {
	best := 0.0
	for _, m := range s.passages {
		best = max(best, m.Score)
		tokens -= text.EstimateTokens(m.Text) + itemTokens
	}
	slices.SortStableFunc(s.units, func(a, b prompt.Memory) int { return cmp.Compare(b.Score, a.Score) })
	var units []prompt.Memory
	for _, m := range withoutRepeats(s.units) {
		size := text.EstimateTokens(m.Text) + itemTokens
		if size > tokens || s.shows(m) {
			continue
		}
		if tokens -= size; len(s.passages) > 0 {
			m.Score *= best
		}
		units = append(units, m)
	}
	return merge(s.passages, units)
}

// shows reports whether a passage shows what a fact or an open loop was derived from, unless that does not hold.
func (s sections) shows(unit prompt.Memory) bool {
	if unit.Kind == memory.KindSummary || strings.HasSuffix(unit.Text, contradicted) || strings.HasSuffix(unit.Text, superseded) {
		return false
	}
	return slices.ContainsFunc(s.passages, func(p prompt.Memory) bool {
		return p.Agent == unit.Agent && p.Path == unit.Path && p.StartLine <= unit.StartLine && unit.EndLine <= p.EndLine
	})
}

// withoutRepeats returns memories without those whose text an earlier one has.
func withoutRepeats(memories []prompt.Memory) []prompt.Memory {
	seen := map[string]bool{}
	var kept []prompt.Memory
	for _, m := range memories {
		if line := text.OneLine(m.Text); !seen[line] {
			seen[line] = true
			kept = append(kept, m)
		}
	}
	return kept
}
