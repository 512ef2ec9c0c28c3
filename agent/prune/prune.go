package prune

import (
	"fmt"
	"slices"
	"time"

	"kioku/internal/text"
	"kioku/llm"
)

const (
	// charsPerToken is the number of characters that a token of the window counts for.
	charsPerToken = 4
	// imageChars is the number of characters that an image counts for.
	imageChars = 8000
)

// Edit replaces the text of a tool result.
type Edit struct {
	// Index is the index of the message. If there is no such message, or it answers another call, the edit has no effect.
	Index int
	// CallID is the ToolCallID of the message.
	CallID string
	// Text replaces that of the message.
	Text string
	// Cleared reports that Text is a placeholder. Otherwise it is the two ends of a long result.
	Cleared bool
}

// fits reports whether an edit is meant for one of these messages.
func (e Edit) fits(messages []llm.Message) bool {
	if e.Index < 0 || e.Index >= len(messages) {
		return false
	}
	m := &messages[e.Index]
	return m.Role == llm.RoleTool && m.ToolCallID == e.CallID
}

// Apply returns a copy of the messages with the edits. Of two edits of a message the later one counts. Edits that do not fit
// have no effect. The same messages and edits always give the same bytes.
func Apply(messages []llm.Message, edits []Edit) []llm.Message {
	out := slices.Clone(messages)
	for _, e := range edits {
		if e.fits(messages) {
			out[e.Index].Text = e.Text
		}
	}
	return out
}

// State is the state of a conversation, in addition to its messages.
type State struct {
	// LastTouch is the last use of the provider's cache: the last request, or Plan.LastTouch of the last plan, whichever is
	// later. The zero time means never.
	LastTouch time.Time
	// Window is the size of the model's window in tokens, 0 if it is unknown.
	Window int
	// Edits recorded so far, in order.
	Edits []Edit
	// Beside is the number of characters that messages are sent with and do not contain, such as what was recalled for them.
	Beside int
	// Uncached says that by the usage of the last answers the provider neither read its cache nor wrote to it, so that there is
	// none to break.
	Uncached bool
	// Lasted is the longest pause after which the provider has read the conversation from its cache, by the usage of an answer;
	// 0 if that is not known. A TTL that is shorter is not believed.
	Lasted time.Duration
}

// Reasons why a plan goes no further, in the order in which they are checked.
const (
	ReasonOff           = "off"             // Settings.Mode
	ReasonCacheFresh    = "cache fresh"     // no last touch, no TTL, or one that is not over while something is cached
	ReasonNoWindow      = "window unknown"  // State.Window
	ReasonFewAssistants = "few assistants"  // fewer than Settings.KeepLastAssistants
	ReasonRoom          = "room"            // less than Settings.SoftTrimRatio of the window is used
	ReasonTrimmed       = "trimmed"         // after trimming there is room, or nothing may be cleared
	ReasonLittleToClear = "little to clear" // less than Settings.MinPrunableToolChars
	ReasonCleared       = "cleared"         // it went all the way
)

// Plan says which edits to send.
type Plan struct {
	// Edits are all edits in force, at most one a message, in the order of the messages.
	Edits []Edit
	// New are the Edits that are not recorded yet. Record them before the request is sent.
	New []Edit
	// LastTouch is the time of the plan if New is not empty, and otherwise State.LastTouch.
	LastTouch time.Time
	// Before and After are the numbers of characters of all messages without and with New. For the first three reasons they
	// are 0.
	Before, After int
	// Reason says why the plan goes no further.
	Reason string
}

// Prune plans what to send in place of old tool results at the time now. It only reads the messages. Messages of the user and
// the assistant are never edited; tool results keep their place, their call and their images.
//
// The edits of the state stay in force, so that within the TTL requests have the same bytes; only ModeOff edits nothing. A
// result is trimmed once and cleared once, and only if it becomes shorter. Within the TTL something new is pruned only if the
// provider has nothing in its cache.
func Prune(messages []llm.Message, s Settings, st State, now time.Time) Plan {
	p := &planner{messages: messages, settings: s, window: st.Window, chars: st.Beside, edits: map[int]Edit{}, changed: map[int]bool{}}
	if s.Mode == ModeCacheTTL {
		for _, e := range st.Edits {
			if e.fits(messages) {
				p.edits[e.Index] = e
			}
		}
	}
	plan := Plan{LastTouch: st.LastTouch, Reason: s.obstacle(st, now)}
	if plan.Reason == "" {
		p.measure()
		plan.Before = p.chars
		plan.Reason = p.prune()
		plan.After = p.chars
	}
	for i := range messages {
		e, edited := p.edits[i]
		if edited {
			plan.Edits = append(plan.Edits, e)
		}
		if p.changed[i] {
			plan.New = append(plan.New, e)
			plan.LastTouch = now
		}
	}
	return plan
}

// obstacle says why nothing is pruned now, empty if it may be.
func (s Settings) obstacle(st State, now time.Time) string {
	switch {
	case s.Mode != ModeCacheTTL:
		return ReasonOff
	case st.LastTouch.IsZero() || s.TTL <= 0:
		return ReasonCacheFresh
	case !st.Uncached && now.Sub(st.LastTouch) < max(s.TTL, st.Lasted):
		return ReasonCacheFresh
	case st.Window <= 0:
		return ReasonNoWindow
	}
	return ""
}

// Cold reports whether the provider's cache is gone, so that other bytes cost nothing. It is false if nothing may be pruned.
func (s Settings) Cold(st State, now time.Time) bool {
	why := s.obstacle(st, now)
	return why != ReasonOff && why != ReasonCacheFresh
}

// planner makes a plan.
type planner struct {
	messages []llm.Message
	settings Settings
	window   int
	// edits by the index of the message, and whether they are new.
	edits   map[int]Edit
	changed map[int]bool
	// sizes are the numbers of characters of the messages as they are sent, and chars is their sum.
	sizes []int
	chars int
}

// extraChars returns what a message counts for in addition to its text.
func extraChars(m *llm.Message) int {
	n := len(m.Images) * imageChars
	for _, c := range m.ToolCalls {
		n += count(c.Input)
	}
	return n
}

// count returns the number of characters of a text: the bytes that do not continue a character. Prune counts all texts of a
// conversation, and this is three times as fast as package utf8.
func count[T ~string | ~[]byte](text T) int {
	n := 0
	for i := range len(text) {
		if text[i]&0xC0 != 0x80 {
			n++
		}
	}
	return n
}

// measure counts the messages with the recorded edits.
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
}

// prune makes edits and returns the reason why it stopped.
func (p *planner) prune() string {
	cutoff, enough := cutoff(p.messages, p.settings.KeepLastAssistants)
	if !enough {
		return ReasonFewAssistants
	}
	if p.ratio() < p.settings.SoftTrimRatio {
		return ReasonRoom
	}
	prunable := p.prunable(cutoff)
	p.trim(prunable)
	if p.ratio() < p.settings.HardClearRatio || !p.settings.HardClear.Enabled {
		return ReasonTrimmed
	}
	clearable := 0
	for _, i := range prunable {
		if !p.edits[i].Cleared {
			clearable += p.sizes[i]
		}
	}
	if clearable < p.settings.MinPrunableToolChars {
		return ReasonLittleToClear
	}
	p.clear(prunable)
	return ReasonCleared
}

// cutoff returns the index of the k-th assistant message from the end, or false if there are fewer. If k is 0 it returns the
// number of messages.
func cutoff(messages []llm.Message, k int) (int, bool) {
	if k <= 0 {
		return len(messages), true
	}
	for i, m := range slices.Backward(messages) {
		if m.Role != llm.RoleAssistant {
			continue
		}
		if k--; k == 0 {
			return i, true
		}
	}
	return 0, false
}

// prunable returns the indexes of the results that may be pruned: those after the first message of the user and before cutoff.
func (p *planner) prunable(cutoff int) []int {
	isPrunable := p.settings.Tools.matcher()
	var out []int
	asked := false
	for i, m := range p.messages[:cutoff] {
		asked = asked || m.Role == llm.RoleUser
		if asked && m.Role == llm.RoleTool && len(m.Images) == 0 && isPrunable(m.ToolName) {
			out = append(out, i)
		}
	}
	return out
}

// trim cuts the middle out of each long result that was not edited before.
func (p *planner) trim(prunable []int) {
	for _, i := range prunable {
		if _, edited := p.edits[i]; edited {
			continue
		}
		if short, ok := p.settings.SoftTrim.cut(p.messages[i].Text, p.sizes[i]); ok {
			p.edit(i, short, false)
		}
	}
}

// cut returns the two ends of a text of size characters, with a marker between them and a note behind them. It returns false
// if that would not be shorter.
func (s SoftTrim) cut(long string, size int) (string, bool) {
	head, tail := max(s.Head, 0), max(s.Tail, 0)
	if size <= s.MaxChars || head+tail >= size {
		return "", false
	}
	note := fmt.Sprintf("\n\n[Trimmed: the first %d and the last %d of %d characters are shown.]", head, tail, size)
	short := text.Head(long, head) + "\n[...]\n" + text.Tail(long, tail) + note
	return short, count(short) < size
}

// clear replaces results from the oldest on until there is room. It skips results that are not longer than the placeholder.
func (p *planner) clear(prunable []int) {
	placeholder := p.settings.HardClear.Placeholder
	size := count(placeholder)
	for _, i := range prunable {
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

// ratio returns the part of the window that the messages fill.
func (p *planner) ratio() float64 { return float64(p.chars) / float64(p.window*charsPerToken) }
