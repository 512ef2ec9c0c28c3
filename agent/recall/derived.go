package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"kioku/agent/prompt"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/search/analysis"
)

const (
	// itemTokens is the size of what surrounds a text in the frame.
	itemTokens = 30
	// keyChars is the maximum length of the sentences that stand for a passage that has no room, and leastSummary the least size in
	// tokens of a shortened summary.
	keyChars, leastSummary = 280, 60
	// unitHalfLife is the age at which a unit is half as recent.
	unitHalfLife = 30 * 24 * time.Hour
)

// sections are what is recalled, by kind.
type sections struct {
	facts, summaries, loops, passages []prompt.Memory
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

// derivedOf returns units of a source as memories. A unit without evidence has no place to name, and is left out.
func (s source) derivedOf(units []memory.FoundUnit, now time.Time) (out sections) {
	units = slices.Clone(units)
	slices.SortStableFunc(units, func(a, b memory.FoundUnit) int {
		return cmp.Or(cmp.Compare(len(b.Names), len(a.Names)), cmp.Compare(worth(b.Unit, now), worth(a.Unit, now)))
	})
	for _, u := range units {
		if len(u.Evidence) == 0 || strings.TrimSpace(u.Text) == "" {
			continue
		}
		e := u.Evidence[0]
		m := prompt.Memory{
			Agent: s.agent, Shared: s.shared, Path: e.Path, StartLine: e.StartLine, EndLine: e.EndLine, Score: u.Score, Kind: u.Kind,
			Text: memory.StripRecalled(u.Text) + doubt(u.State), Quote: e.Quote,
		}
		if !u.OccurredAt.IsZero() {
			m.Date = u.OccurredAt.Format(time.DateOnly)
		}
		switch u.Kind {
		case memory.KindFact:
			out.facts = append(out.facts, m)
		case memory.KindLoop:
			out.loops = append(out.loops, m)
		case memory.KindSummary:
			m.Quote = ""
			out.summaries = append(out.summaries, m)
		}
	}
	return out
}

// doubt says why a unit may not hold, empty if it holds.
func doubt(state string) string {
	switch state {
	case memory.StateConflict:
		return " (another note contradicts this)"
	case memory.StateSuperseded:
		return " (no longer)"
	}
	return ""
}

// worth returns how much a unit is worth a place in a prompt, in [0,1]: .45 confidence + .25 salience + .20 recency + .10 pin.
func worth(u memory.Unit, now time.Time) float64 {
	w := 0.45*u.Confidence + 0.25*u.Salience
	if !u.OccurredAt.IsZero() {
		w += 0.20 * math.Exp2(-max(now.Sub(u.OccurredAt), 0).Hours()/unitHalfLife.Hours())
	}
	if u.Pinned {
		w += 0.10
	}
	return w
}

// join appends other sections.
func (s *sections) join(o sections) {
	s.facts, s.summaries, s.loops = append(s.facts, o.facts...), append(s.summaries, o.summaries...), append(s.loops, o.loops...)
}

// within returns the memories in their order, of which those of each kind have its share of the room in tokens and what those before it
// have left: facts a quarter, summaries a quarter, loops an eighth, passages the rest. Without anything derived all passages stay.
func (s sections) within(tokens int, question string) []prompt.Memory {
	if len(s.facts)+len(s.summaries)+len(s.loops) == 0 {
		return s.passages
	}
	var all []prompt.Memory
	left := 0
	for _, part := range []struct {
		memories []prompt.Memory
		share    int
		shorten  func(m prompt.Memory, room int) prompt.Memory
	}{
		{s.facts, tokens / 4, nil},
		{s.summaries, tokens / 4, shortSummary},
		{s.loops, tokens / 8, nil},
		{s.passages, tokens - 2*(tokens/4) - tokens/8, func(m prompt.Memory, _ int) prompt.Memory { return keyParts(m, question) }},
	} {
		left += part.share
		for _, m := range withoutRepeats(part.memories) {
			size := text.EstimateTokens(m.Text) + itemTokens
			if size > left && part.shorten != nil {
				m = part.shorten(m, left-itemTokens)
				size = text.EstimateTokens(m.Text) + itemTokens
			}
			if m.Text != "" && size <= left {
				all, left = append(all, m), left-size
			}
		}
	}
	return all
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

// shortSummary returns a summary that takes about room tokens; without text if that is too little.
func shortSummary(m prompt.Memory, room int) prompt.Memory {
	whole := text.EstimateTokens(m.Text)
	if room < leastSummary || whole == 0 {
		m.Text = ""
		return m
	}
	m.Text = text.Shorten(m.Text, len([]rune(m.Text))*room/whole*9/10)
	return m
}

// keyParts returns a passage with only the one or two lines that have most of the words of a question, at most 280 characters.
func keyParts(m prompt.Memory, question string) prompt.Memory {
	asked := map[string]bool{}
	for _, term := range analysis.Terms(question) {
		asked[term] = true
	}
	type part struct{ at, shared int }
	lines := strings.Split(m.Text, "\n")
	var parts []part
	for i, line := range lines {
		p := part{at: i}
		for _, term := range analysis.Terms(line) {
			if asked[term] {
				p.shared++
			}
		}
		if strings.TrimSpace(line) != "" {
			parts = append(parts, p)
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.shared, a.shared) })
	parts = parts[:min(len(parts), 2)]
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.at, b.at) })
	var kept []string
	for _, p := range parts {
		kept = append(kept, lines[p.at])
	}
	if len(parts) > 0 && m.EndLine-m.StartLine+1 == len(lines) {
		m.StartLine, m.EndLine = m.StartLine+parts[0].at, m.StartLine+parts[len(parts)-1].at
	}
	m.Text = text.Shorten(strings.Join(kept, "\n"), keyChars)
	return m
}
