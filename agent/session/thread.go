package session

import (
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"kioku/agent/prune"
	"kioku/llm"
	"kioku/memory"
)

// unanswered is the result of a call that got none, because the program ended or the turn was given up.
const unanswered = "[No result: the turn ended before this tool did.]"

// summaryIntro comes before a summary in what is sent.
const summaryIntro = "Summary of the conversation up to here:\n\n"

// View is what a model is sent: the summary of the last compaction, if there was one, and the messages since the first one
// that it kept. Every call is followed by its result, even if the turn was interrupted. The slices are shared and must not be
// changed.
type View struct {
	// IDs are the ids of the entries with the messages. The id of a summary is that of its compaction.
	IDs []string
	// Messages that are sent, in order, as they were said; see Named and Sent.
	Messages []llm.Message
	// By says of each message who said it, and where.
	By []memory.Said
	// Counts are the sizes of the messages in tokens, with their turns and without edits.
	Counts []int
	// Tokens is the sum of Counts.
	Tokens int
	// Bytes is the growth of the transcript since the last compaction.
	Bytes int64
	// Edits are the recorded edits of old results.
	Edits []prune.Edit
	// Turns are what messages of the user are sent with, by the index of the message.
	Turns map[int]Turn
	// LastTouch is the time of the last answer or edit, zero if there was none.
	LastTouch time.Time
	// Cache is what is known of the provider's cache.
	Cache Cache
	// Compactions is their number. If it is not 0, the first message is the summary of the last one.
	Compactions int
	// Flush is the last flush since the last compaction, nil if there was none.
	Flush *Flush
	// LastUsage is what the provider counted for the last answer since the last compaction, nil if it is unknown.
	LastUsage *llm.Usage
	// SinceUsage is the size in tokens of the messages after that answer, or of all if LastUsage is nil. So the next prompt
	// has about LastUsage.Prompt() + LastUsage.Output + SinceUsage tokens.
	SinceUsage int
	// Said is the number of messages that were ever appended, those that a summary has replaced included.
	Said int
	// Newest is the last message that was appended, nil if there is none.
	Newest *llm.Message
}

// Named returns the messages with the names of their authors: those of users in a group begin with them.
func (v View) Named() []llm.Message {
	named := func(s memory.Said) bool { return s.Label() != "" }
	if !slices.ContainsFunc(v.By, named) {
		return v.Messages
	}
	out := slices.Clone(v.Messages)
	for i := range out {
		out[i] = shown(out[i], v.By[i])
	}
	return out
}

// shown returns a message as a model is shown it.
func shown(m llm.Message, said memory.Said) llm.Message {
	if m.Role == llm.RoleUser {
		m.Text = said.Shown(m.Text)
	}
	return m
}

// PruneState returns the state for prune.Prune. window is the model's, in tokens.
func (v View) PruneState(window int) prune.State {
	beside := 0
	for _, turn := range v.Turns {
		beside += utf8.RuneCountInString(turn.Text)
	}
	return prune.State{LastTouch: v.LastTouch, Window: window, Edits: v.Edits, Beside: beside, Uncached: v.Cache.Missed >= enoughMissed, Lasted: v.Cache.Lasted}
}

// enoughMissed is the number of answers in sequence without any cache after which there is none: the first answer after a
// change of what is sent has nothing to read.
const enoughMissed = 2

// Cache is what the usage of answers tells of the provider's prompt cache.
type Cache struct {
	// Used is the sum of the usage of all answers in the transcript.
	Used llm.Usage
	// Last is the usage of the last answer, nil if it is unknown.
	Last *llm.Usage
	// Missed is the number of the last answers, since the last compaction or prune, for which the provider says that it neither
	// read its cache nor wrote to it.
	Missed int
	// Lasted is the longest pause between two answers after which the provider read at least half of the prompt from its cache.
	Lasted time.Duration
}

// answered takes note of an answer that came so long after the one before.
func (c *Cache) answered(u *llm.Usage, pause time.Duration) {
	c.Last = u
	switch {
	case u == nil || !u.CacheKnown:
		c.Missed = 0
	case u.CacheRead+u.CacheWrite == 0:
		c.Missed++
	default:
		c.Missed = 0
	}
	if u == nil {
		return
	}
	if c.Used = c.Used.Plus(*u); u.CacheRead > 0 && 2*u.CacheRead >= u.Prompt() {
		c.Lasted = max(c.Lasted, pause)
	}
}

// Sent returns a copy of the messages as they are sent, with their names, edits and turns.
func (v View) Sent() []llm.Message {
	out := prune.Apply(v.Named(), v.Edits)
	for i, turn := range v.Turns {
		out[i].Turn = turn.Text
	}
	return out
}

// Shown returns the keys of the passages whose texts are sent with messages.
func (v View) Shown() []string {
	var keys []string
	for _, turn := range v.Turns {
		keys = append(keys, turn.Shown...)
	}
	slices.Sort(keys)
	return keys
}

// PruneEntry returns the entry that records edits of the messages of this view, and that the turns of the messages with the
// indexes ended are not sent any more.
func (v View) PruneEntry(edits []prune.Edit, ended []int) Entry {
	e := Entry{Kind: KindPrune}
	for _, i := range ended {
		e.Prune = append(e.Prune, Edit{Message: v.IDs[i]})
	}
	for _, edit := range edits {
		e.Prune = append(e.Prune, Edit{Message: v.IDs[edit.Index], Text: edit.Text, Cleared: edit.Cleared})
	}
	return e
}

// SummaryMessage returns the message with which a summary is sent.
func SummaryMessage(summary string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Text: summaryIntro + summary}
}

// thread builds the view of a transcript, entry by entry.
type thread struct {
	count func(string) int
	// known contains the ids of all entries, and place the index of each message.
	known map[string]bool
	place map[string]int
	// ids, messages, by and counts belong together; tokens is the sum of counts. Views share them, so elements are added and never
	// changed.
	ids      []string
	messages []llm.Message
	by       []memory.Said
	counts   []int
	tokens   int
	// bytes is the size of the entries since the last compaction.
	bytes int64
	// open contains the calls of the entry caller that have no result yet.
	open   []llm.ToolCall
	caller string

	edits map[string]Edit
	// turns are what messages are sent with, by the id of the message.
	turns     map[string]Turn
	lastTouch time.Time
	cache     Cache
	flush     *Flush
	// compactions is their number.
	compactions int
	// assumed is who has said the messages of users that do not say it.
	assumed memory.Said
	// usage is that of the last answer since the last compaction, and since the size of the messages after it.
	usage *llm.Usage
	since int
	// said is the number of messages that were appended, and newest the last one.
	said   int
	newest *llm.Message
}

func newThread(count func(string) int) *thread {
	return &thread{count: count, known: map[string]bool{}, place: map[string]int{}, edits: map[string]Edit{}, turns: map[string]Turn{}}
}

// fits reports whether an entry can come next.
func (t *thread) fits(e Entry) error {
	if t.known[e.ID] {
		return fmt.Errorf("there is an entry with the id %s already", e.ID)
	}
	switch e.Kind {
	case KindMessage:
		if e.Message.Role == llm.RoleTool && t.callOf(e.Message) < 0 {
			return fmt.Errorf("result of the call %q, which is not waiting for one", e.Message.ToolCallID)
		}
	case KindCompaction:
		first := e.Compaction.FirstKept
		at, there := t.place[first]
		if first != "" && !there {
			return fmt.Errorf("first kept message %s is not among those that are sent", first)
		}
		if first != "" && t.messages[at].Role == llm.RoleTool {
			return fmt.Errorf("first kept message %s is a result; it would lose its call", first)
		}
	}
	return nil
}

// callOf returns the index in open of the call that a result answers, -1 if there is none.
func (t *thread) callOf(m *llm.Message) int {
	return slices.IndexFunc(t.open, func(c llm.ToolCall) bool { return c.ID == m.ToolCallID })
}

// apply adds an entry that fits.
func (t *thread) apply(l Line) {
	t.known[l.ID] = true
	t.bytes += int64(l.Bytes)
	switch l.Kind {
	case KindMessage:
		t.say(l)
	case KindCompaction:
		t.compact(l)
	case KindTurn:
		t.setTurn(l.Turn.Message, *l.Turn)
	case KindPrune:
		t.prune(l)
	case KindFlush:
		t.flush = l.Flush
	}
}

// say adds a message.
func (t *thread) say(l Line) {
	t.said, t.newest = t.said+1, l.Message
	m := *l.Message
	if m.Role == llm.RoleTool {
		at := t.callOf(&m)
		t.open = slices.Delete(t.open, at, at+1)
	} else {
		ids, results := t.missing()
		for i := range results {
			t.push(ids[i], results[i], memory.Said{}, llm.MessageTokens(t.count, results[i]))
		}
		t.open, t.caller = slices.Clone(m.ToolCalls), l.ID
	}
	if m.Role == llm.RoleAssistant {
		pause := time.Duration(0)
		if !t.lastTouch.IsZero() {
			pause = l.Time.Sub(t.lastTouch)
		}
		t.cache.answered(l.Usage, pause)
		t.lastTouch = l.Time
	}
	tokens := l.Tokens
	if tokens <= 0 {
		tokens = llm.MessageTokens(t.count, shown(m, l.Said))
	}
	t.push(l.ID, m, l.Said, tokens)
	if l.Usage != nil {
		t.usage, t.since = l.Usage, 0
	}
}

// missing returns a result for each open call. The ids are the same every time.
func (t *thread) missing() (ids []string, results []llm.Message) {
	for i, c := range t.open {
		ids = append(ids, fmt.Sprintf("%s/%d", t.caller, i+1))
		results = append(results, llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, ToolName: c.Name, Text: unanswered, Failed: true})
	}
	return ids, results
}

func (t *thread) push(id string, m llm.Message, said memory.Said, tokens int) {
	t.place[id] = len(t.messages)
	t.ids = append(t.ids, id)
	t.messages = append(t.messages, m)
	t.by = append(t.by, said)
	t.counts = append(t.counts, tokens)
	t.tokens += tokens
	t.since += tokens
}

// compact replaces the messages before the first that is kept by a summary.
func (t *thread) compact(l Line) {
	from, kept := t.place[l.Compaction.FirstKept]
	if !kept {
		from = len(t.messages)
		t.open = nil
	}
	ids, messages, by, counts := t.ids[from:], t.messages[from:], t.by[from:], t.counts[from:]
	t.place, t.ids, t.messages, t.by, t.counts, t.tokens = map[string]int{}, nil, nil, nil, nil, 0
	t.usage, t.since = nil, 0
	summary := SummaryMessage(l.Compaction.Summary)
	t.push(l.ID, summary, memory.Said{}, llm.MessageTokens(t.count, summary))
	for i := range ids {
		t.push(ids[i], messages[i], by[i], counts[i])
	}
	maps.DeleteFunc(t.edits, func(id string, _ Edit) bool { _, there := t.place[id]; return !there })
	maps.DeleteFunc(t.turns, func(id string, _ Turn) bool { _, there := t.place[id]; return !there })
	t.bytes, t.cache.Missed = 0, 0
	t.flush = nil
	t.compactions++
}

// setTurn sets what a message of the user is sent with; an empty text sends it with nothing.
func (t *thread) setTurn(id string, turn Turn) {
	at, there := t.place[id]
	if !there || t.messages[at].Role != llm.RoleUser {
		return
	}
	more := t.turnTokens(turn) - t.turnTokens(t.turns[id])
	t.counts = slices.Clone(t.counts)
	t.counts[at] += more
	t.tokens += more
	t.since += more
	if t.turns[id] = turn; turn.Text == "" {
		delete(t.turns, id)
	}
}

// turnTokens returns the size of a block.
func (t *thread) turnTokens(turn Turn) int {
	return llm.MessageTokens(t.count, llm.Message{Turn: turn.Text}) - llm.MessageTokens(t.count, llm.Message{})
}

// prune adds edits. A later edit of a message replaces an earlier one.
func (t *thread) prune(l Line) {
	for _, e := range l.Prune {
		if at, there := t.place[e.Message]; there && t.messages[at].Role == llm.RoleUser {
			t.setTurn(e.Message, Turn{})
		} else if there {
			t.edits[e.Message] = e
		}
	}
	t.cache.Missed = 0
	if l.Time.After(t.lastTouch) {
		t.lastTouch = l.Time
	}
}

// assume returns who has said the messages, those of users that do not say it included.
func (t *thread) assume() []memory.Said {
	by := slices.Clone(t.by)
	for i := range by {
		summary := i == 0 && t.compactions > 0
		if t.messages[i].Role == llm.RoleUser && by[i] == (memory.Said{}) && !summary {
			by[i] = t.assumed
		}
	}
	return by
}

// view returns what is sent now.
func (t *thread) view() View {
	v := View{
		IDs: slices.Clip(t.ids), Messages: slices.Clip(t.messages), By: slices.Clip(t.by), Counts: slices.Clip(t.counts),
		Tokens: t.tokens, Bytes: t.bytes, LastTouch: t.lastTouch, Compactions: t.compactions, Flush: t.flush,
		LastUsage: t.usage, SinceUsage: t.since, Said: t.said, Newest: t.newest, Cache: t.cache, Turns: map[int]Turn{},
	}
	for id, turn := range t.turns {
		v.Turns[t.place[id]] = turn
	}
	if t.assumed != (memory.Said{}) {
		v.By = t.assume()
	}
	for id, e := range t.edits {
		at := t.place[id]
		v.Edits = append(v.Edits, prune.Edit{Index: at, CallID: t.messages[at].ToolCallID, Text: e.Text, Cleared: e.Cleared})
	}
	slices.SortFunc(v.Edits, func(a, b prune.Edit) int { return a.Index - b.Index })
	ids, results := t.missing()
	for i := range results {
		tokens := llm.MessageTokens(t.count, results[i])
		v.IDs, v.Messages, v.Counts = append(v.IDs, ids[i]), append(v.Messages, results[i]), append(v.Counts, tokens)
		v.By = append(v.By, memory.Said{})
		v.Tokens += tokens
		v.SinceUsage += tokens
	}
	return v
}
