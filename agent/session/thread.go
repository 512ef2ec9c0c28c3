package session

import (
	"fmt"
	"maps"
	"slices"
	"time"

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
	// Messages that are sent, in order, as they were said; see Shown.
	Messages []llm.Message
	// Said says of each message who said it, and where.
	Said []memory.Said
	// Counts are the sizes of the messages in tokens, without edits.
	Counts []int
	// Tokens is the sum of Counts.
	Tokens int
	// Bytes is the growth of the transcript since the last compaction.
	Bytes int64
	// Edits are the recorded edits of old results.
	Edits []prune.Edit
	// LastTouch is the time of the last answer or edit, zero if there was none.
	LastTouch time.Time
	// Compactions is their number. If it is not 0, the first message is the summary of the last one.
	Compactions int
	// Flush is the last flush since the last compaction, nil if there was none.
	Flush *Flush
	// LastUsage is what the provider counted for the last answer since the last compaction, nil if it is unknown.
	LastUsage *llm.Usage
	// SinceUsage is the size in tokens of the messages after that answer, or of all if LastUsage is nil. So the next prompt
	// has about LastUsage.Prompt() + LastUsage.Output + SinceUsage tokens.
	SinceUsage int
}

// Shown returns the messages as a model is shown them: those of users in a group begin with the name of their author.
func (v View) Shown() []llm.Message {
	named := func(s memory.Said) bool { return s.Label() != "" }
	if !slices.ContainsFunc(v.Said, named) {
		return v.Messages
	}
	out := slices.Clone(v.Messages)
	for i := range out {
		out[i] = shown(out[i], v.Said[i])
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
	return prune.State{LastTouch: v.LastTouch, Window: window, Edits: v.Edits}
}

// PruneEntry returns the entry that records edits of the messages of this view.
func (v View) PruneEntry(edits []prune.Edit) Entry {
	e := Entry{Kind: KindPrune}
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
	// ids, messages, said and counts belong together; tokens is the sum of counts. Views share them, so elements are added and never
	// changed.
	ids      []string
	messages []llm.Message
	said     []memory.Said
	counts   []int
	tokens   int
	// bytes is the size of the entries since the last compaction.
	bytes int64
	// open contains the calls of the entry caller that have no result yet.
	open   []llm.ToolCall
	caller string

	edits     map[string]Edit
	lastTouch time.Time
	flush     *Flush
	// compactions is their number.
	compactions int
	// assumed is who has said the messages of users that do not say it.
	assumed memory.Said
	// usage is that of the last answer since the last compaction, and since the size of the messages after it.
	usage *llm.Usage
	since int
}

func newThread(count func(string) int) *thread {
	return &thread{count: count, known: map[string]bool{}, place: map[string]int{}, edits: map[string]Edit{}}
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
	case KindPrune:
		t.prune(l)
	case KindFlush:
		t.flush = l.Flush
	}
}

// say adds a message.
func (t *thread) say(l Line) {
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
	t.said = append(t.said, said)
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
	ids, messages, said, counts := t.ids[from:], t.messages[from:], t.said[from:], t.counts[from:]
	t.place, t.ids, t.messages, t.said, t.counts, t.tokens = map[string]int{}, nil, nil, nil, nil, 0
	t.usage, t.since = nil, 0
	summary := SummaryMessage(l.Compaction.Summary)
	t.push(l.ID, summary, memory.Said{}, llm.MessageTokens(t.count, summary))
	for i := range ids {
		t.push(ids[i], messages[i], said[i], counts[i])
	}
	maps.DeleteFunc(t.edits, func(id string, _ Edit) bool { _, there := t.place[id]; return !there })
	t.bytes = 0
	t.flush = nil
	t.compactions++
}

// prune adds edits. A later edit of a message replaces an earlier one.
func (t *thread) prune(l Line) {
	for _, e := range l.Prune {
		if _, there := t.place[e.Message]; there {
			t.edits[e.Message] = e
		}
	}
	if l.Time.After(t.lastTouch) {
		t.lastTouch = l.Time
	}
}

// assume returns who has said the messages, those of users that do not say it included.
func (t *thread) assume() []memory.Said {
	said := slices.Clone(t.said)
	for i := range said {
		summary := i == 0 && t.compactions > 0
		if t.messages[i].Role == llm.RoleUser && said[i] == (memory.Said{}) && !summary {
			said[i] = t.assumed
		}
	}
	return said
}

// view returns what is sent now.
func (t *thread) view() View {
	v := View{
		IDs: slices.Clip(t.ids), Messages: slices.Clip(t.messages), Said: slices.Clip(t.said), Counts: slices.Clip(t.counts),
		Tokens: t.tokens, Bytes: t.bytes, LastTouch: t.lastTouch, Compactions: t.compactions, Flush: t.flush,
		LastUsage: t.usage, SinceUsage: t.since,
	}
	if t.assumed != (memory.Said{}) {
		v.Said = t.assume()
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
		v.Said = append(v.Said, memory.Said{})
		v.Tokens += tokens
		v.SinceUsage += tokens
	}
	return v
}
