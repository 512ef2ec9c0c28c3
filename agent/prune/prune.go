package prune

import (
	"slices"
	"time"

	"kioku/llm"
)

const (
	// charsPerToken is how many characters a token of the window counts for.
	charsPerToken = 4
	// imageChars is what an image counts for.
	imageChars = 8000
)

// State is what is known of a conversation beside its messages.
type State struct {
	// LastTouch is when the provider's cache of it was written or read last: when the model was last asked, or LastTouch of
	// the last plan, whichever is later. The zero time means never.
	LastTouch time.Time
	// Window is how many tokens the model takes, 0 if that is not known.
	Window int
	// Edits are those recorded so far, in their order.
	Edits []Edit
}

// Reasons why a plan goes no further. They come in the order in which they are looked for.
const (
	ReasonOff           = "off"             // Settings.Mode
	ReasonCacheFresh    = "cache fresh"     // no last touch, no TTL, or one that is not over
	ReasonNoWindow      = "window unknown"  // State.Window
	ReasonFewAssistants = "few assistants"  // fewer than Settings.KeepLastAssistants
	ReasonRoom          = "room"            // less than Settings.SoftTrimRatio of the window is used
	ReasonTrimmed       = "trimmed"         // after trimming there is room, or nothing may be cleared
	ReasonLittleToClear = "little to clear" // less than Settings.MinPrunableToolChars
	ReasonCleared       = "cleared"         // it went all the way
)

// Plan is what to send in place of what was said.
type Plan struct {
	// Edits are all that are in force, at most one a message, in the order of the messages.
	Edits []Edit
	// New are those among Edits that were not recorded yet, or not with this text. They are to be recorded before the
	// request is sent.
	New []Edit
	// LastTouch is now if there is anything new, otherwise that of the state.
	LastTouch time.Time
	// Before and After are how many characters the messages have without and with New. They are not counted, and 0, for
	// the first three reasons.
	Before, After int
	// Reason says why the plan goes no further.
	Reason string
}

// Prune plans what to send in place of messages at the time now. It reads the messages only: user and assistant messages
// are never edited, and results of tools keep their place, their call and their images.
//
// Edits in st stay in force, so that a request within the TTL has the bytes of the one before it; only in ModeOff is
// nothing edited at all. A result is trimmed once and cleared once, and only if it gets shorter by that.
func Prune(messages []llm.Message, s Settings, st State, now time.Time) Plan {
	p := newPlanner(messages, s, st)
	p.plan(now)
	plan := Plan{LastTouch: st.LastTouch, Before: p.before, After: p.chars, Reason: p.reason}
	for i := range messages {
		e, edited := p.edits[i]
		if edited {
			plan.Edits = append(plan.Edits, e)
		}
		if p.changed[i] {
			plan.New = append(plan.New, e)
		}
	}
	if len(plan.New) > 0 {
		plan.LastTouch = now
	}
	return plan
}

// planner is a plan in the making.
type planner struct {
	messages []llm.Message
	settings Settings
	state    State
	edits    map[int]Edit
	changed  map[int]bool
	// sizes are the characters of the messages as they are sent, and chars is their sum.
	sizes  []int
	chars  int
	before int
	reason string
}

func newPlanner(messages []llm.Message, s Settings, st State) *planner {
	p := &planner{messages: messages, settings: s, state: st, edits: map[int]Edit{}, changed: map[int]bool{}}
	if s.Mode == ModeCacheTTL {
		for _, e := range st.Edits {
			if e.fits(messages) {
				p.edits[e.Index] = e
			}
		}
	}
	return p
}

// extraChars is what a message counts for beside its text.
func extraChars(m *llm.Message) int {
	n := len(m.Images) * imageChars
	for _, c := range m.ToolCalls {
		n += count(c.Input)
	}
	return n
}

// count returns the characters of a text: the bytes that do not continue another one. All texts of a conversation are counted
// in every pruning, and this is three times as fast as package utf8.
func count[T ~string | ~[]byte](text T) int {
	n := 0
	for i := range len(text) {
		if text[i]&0xC0 != 0x80 {
			n++
		}
	}
	return n
}

// measure counts the messages as they were sent so far.
func (p *planner) measure() {
	p.sizes = make([]int, len(p.messages))
	for i := range p.messages {
		text := p.messages[i].Text
		if e, edited := p.edits[i]; edited {
			text = e.Text
		}
		p.sizes[i] = count(text) + extraChars(&p.messages[i])
		p.chars += p.sizes[i]
	}
	p.before = p.chars
}

// plan takes the steps one after the other and leaves the reason why it stopped.
func (p *planner) plan(now time.Time) {
	if p.reason = p.obstacle(now); p.reason != "" {
		return
	}
	p.measure()
	cutoff, enough := cutoff(p.messages, p.settings.KeepLastAssistants)
	if !enough {
		p.reason = ReasonFewAssistants
		return
	}
	if p.ratio() < p.settings.SoftTrimRatio {
		p.reason = ReasonRoom
		return
	}
	within := p.prunable(cutoff)
	p.trim(within)
	if p.ratio() < p.settings.HardClearRatio || !p.settings.HardClear.Enabled {
		p.reason = ReasonTrimmed
		return
	}
	if p.left(within) < p.settings.MinPrunableToolChars {
		p.reason = ReasonLittleToClear
		return
	}
	p.clear(within)
	p.reason = ReasonCleared
}

// obstacle says why nothing at all is pruned now, empty if nothing stands against it.
func (p *planner) obstacle(now time.Time) string {
	ttl, last := p.settings.TTL, p.state.LastTouch
	switch {
	case p.settings.Mode != ModeCacheTTL:
		return ReasonOff
	case last.IsZero() || ttl <= 0 || now.Sub(last) < ttl:
		return ReasonCacheFresh
	case p.state.Window <= 0:
		return ReasonNoWindow
	}
	return ""
}

// cutoff returns the place of the k-th assistant message from the end, and false if there are fewer. With k of 0
// nothing is out of reach.
func cutoff(messages []llm.Message, k int) (int, bool) {
	if k <= 0 {
		return len(messages), true
	}
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role != llm.RoleAssistant {
			continue
		}
		if k--; k == 0 {
			return i, true
		}
	}
	return 0, false
}

// prunable returns the places of the results that may be pruned, from the first user message on and before cutoff.
func (p *planner) prunable(cutoff int) []int {
	start := slices.IndexFunc(p.messages, func(m llm.Message) bool { return m.Role == llm.RoleUser })
	if start < 0 {
		return nil
	}
	prunable := prunableTools(p.settings.Tools)
	var out []int
	for i := start; i < cutoff; i++ {
		m := &p.messages[i]
		if m.Role == llm.RoleTool && len(m.Images) == 0 && prunable(m.ToolName) {
			out = append(out, i)
		}
	}
	return out
}

// trim cuts the middle out of every long result that was not edited before.
func (p *planner) trim(within []int) {
	for _, i := range within {
		if _, edited := p.edits[i]; edited {
			continue
		}
		if short, ok := trim(p.messages[i].Text, p.sizes[i], p.settings.SoftTrim); ok {
			p.edit(i, short, false)
		}
	}
}

// left is how many characters may still be cleared.
func (p *planner) left(within []int) (n int) {
	for _, i := range within {
		if !p.edits[i].Cleared {
			n += p.sizes[i]
		}
	}
	return n
}

// clear replaces results from the oldest on until there is room. One that is not longer than the placeholder stays.
func (p *planner) clear(within []int) {
	placeholder := p.settings.HardClear.Placeholder
	size := count(placeholder)
	for _, i := range within {
		if p.ratio() < p.settings.HardClearRatio {
			return
		}
		if !p.edits[i].Cleared && p.sizes[i] > size {
			p.edit(i, placeholder, true)
		}
	}
}

// edit replaces the text of a message.
func (p *planner) edit(i int, text string, cleared bool) {
	p.edits[i] = Edit{Index: i, CallID: p.messages[i].ToolCallID, Text: text, Cleared: cleared}
	p.changed[i] = true
	size := count(text) + extraChars(&p.messages[i])
	p.chars += size - p.sizes[i]
	p.sizes[i] = size
}

// ratio is the part of the window that the messages fill.
func (p *planner) ratio() float64 {
	return float64(p.chars) / float64(p.state.Window*charsPerToken)
}
