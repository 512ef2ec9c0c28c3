package turns

import (
	"time"
)

// Kinds of entries.
const (
	// KindPrompt is a prompt that was assembled.
	KindPrompt = "prompt"
	// KindRecall is a recall without a prompt.
	KindRecall = "recall"
	// KindFlush is a flush, or the commit of one.
	KindFlush = "flush"
	// KindCompaction is a compaction, or one that has failed.
	KindCompaction = "compaction"
)

// Entry is one event of the record.
type Entry struct {
	// ID is unique in the record; Record sets it.
	ID string `json:"id"`
	// Time of the event; Record sets it to the clock if it is zero.
	Time time.Time `json:"time"`
	// Kind is one of the constants Kind....
	Kind string `json:"kind"`
	// Session is the name of the conversation; may be empty.
	Session string `json:"session,omitempty"`
	// Channel of the conversation.
	Channel string `json:"channel,omitempty"`
	// Group says that the conversation counts as a group.
	Group bool `json:"group,omitempty"`
	// Model is the name of the agent's model.
	Model string `json:"model,omitempty"`
	// Mode of the prompt.
	Mode string `json:"mode,omitempty"`
	// Message of the user; Record drops it unless the messages are kept.
	Message string `json:"message,omitempty"`
	// Transcript says that a transcript of Kioku contains the message, so that the record may.
	Transcript bool `json:"-"`
	// Layers of the prompt, in order.
	Layers []Layer `json:"layers,omitempty"`
	// Tokens of the prompt, and its Budget; 0 means no limit.
	Tokens int `json:"tokens,omitempty"`
	// Budget in tokens, 0 for no limit.
	Budget int `json:"budget,omitempty"`
	// Over says that the prompt exceeds the budget although nothing is left to cut.
	Over bool `json:"over,omitempty"`
	// Cuts are the parts that the budget shortened.
	Cuts []Cut `json:"cuts,omitempty"`
	// Recall is what was recalled; nil if the event recalls nothing.
	Recall *Recall `json:"recall,omitempty"`
	// Flush is what came of a flush; nil for other kinds.
	Flush *Flush `json:"flush,omitempty"`
	// Compaction is what came of a compaction; nil for other kinds.
	Compaction *Compaction `json:"compaction,omitempty"`
}

// Layer is a layer of a prompt.
type Layer struct {
	// Name as in package prompt.
	Name string `json:"name"`
	// Chars and Tokens are its size.
	Chars int `json:"chars"`
	// Tokens of the layer.
	Tokens int `json:"tokens"`
}

// Cut is a part of a prompt that the budget shortened.
type Cut struct {
	// Part is its name.
	Part string `json:"part"`
	// From and To are sizes in tokens.
	From int `json:"from"`
	// To is the size after the cut, 0 if the part was left out.
	To int `json:"to"`
}

// Recall is what was recalled.
type Recall struct {
	// Query is what was searched; Record drops it unless the messages are kept.
	Query string `json:"query,omitempty"`
	// Skipped is why nothing was searched; empty if something was.
	Skipped string `json:"skipped,omitempty"`
	// Took is the time of the recall.
	Took time.Duration `json:"took,omitempty"`
	// In are the passages in the prompt, best first, and Out those that were left out.
	In []Passage `json:"in,omitempty"`
	// Out are the passages that were found but left out, with the reason.
	Out []Passage `json:"out,omitempty"`
	// Searches are the searches, one for each memory.
	Searches []Search `json:"searches,omitempty"`
}

// Passage is the place of a recalled passage, without its text.
type Passage struct {
	// Agent whose memory it is.
	Agent string `json:"agent"`
	// Shared says that it is the memory of another agent.
	Shared bool `json:"shared,omitempty"`
	// Path of the file.
	Path string `json:"path"`
	// Start and End are the lines, from 1.
	Start int `json:"start"`
	// End is the last line.
	End int `json:"end"`
	// Score, 0 to 1, and the scores of the channels.
	Score float64 `json:"score"`
	// Vector is the score by meaning.
	Vector float64 `json:"vector,omitempty"`
	// Words is the score by words.
	Words float64 `json:"words,omitempty"`
	// Date (YYYY-MM-DD) of the note, empty if it has none.
	Date string `json:"date,omitempty"`
	// Flags are signs of an attempt to steer the model.
	Flags []string `json:"flags,omitempty"`
	// Reason is why it was left out; empty if it was not.
	Reason string `json:"reason,omitempty"`
}

// Search is the search of one memory.
type Search struct {
	// Agent whose memory was searched.
	Agent string `json:"agent"`
	// Hits is the number of hits.
	Hits int `json:"hits"`
	// Mode says which channels ran.
	Mode string `json:"mode,omitempty"`
	// Degraded are the codes of what the answer lacked.
	Degraded []string `json:"degraded,omitempty"`
	// Failed says that there was no answer.
	Failed bool `json:"failed,omitempty"`
	// Took is the time of the search.
	Took time.Duration `json:"took,omitempty"`
}

// Flush is what came of a flush.
type Flush struct {
	// Outcome is "done", "skipped" or "failed".
	Outcome string `json:"outcome"`
	// Reason is why it is not done; empty if it is.
	Reason string `json:"reason,omitempty"`
	// Covered and Uncovered are numbers of messages.
	Covered int `json:"covered,omitempty"`
	// Uncovered is the number of messages that are not covered.
	Uncovered int `json:"uncovered,omitempty"`
	// Notes that were stored or refused.
	Notes []Note `json:"notes,omitempty"`
}

// Note is the place of a stored note, without its text.
type Note struct {
	// Path of the file; empty if the note was refused.
	Path string `json:"path,omitempty"`
	// Line is its first line.
	Line int `json:"line,omitempty"`
	// Deduplicated says that the note was in memory before.
	Deduplicated bool `json:"deduplicated,omitempty"`
	// Refused is why it was not stored; empty if it was.
	Refused string `json:"refused,omitempty"`
}

// Compaction is what came of a compaction.
type Compaction struct {
	// Before and After are sizes of the messages in tokens.
	Before int `json:"before"`
	// After is the size after it.
	After int `json:"after"`
	// Reason is why nothing was compacted; empty if it was.
	Reason string `json:"reason,omitempty"`
}
