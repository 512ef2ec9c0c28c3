package session

import (
	"time"

	"kioku/agent/prune"
	"kioku/llm"
)

// summaryIntro comes before a summary in what is sent.
const summaryIntro = "Summary of the conversation up to here:\n\n"

// View is what a model is sent: the summary of the last compaction, if there was one, and the messages since its first
// kept one. Every call has its result right behind it, whatever became of the turn. The slices are shared and must not be
// changed.
type View struct {
	// IDs are the entries of the messages, that of a compaction for its summary.
	IDs      []string
	Messages []llm.Message
	// Counts are the tokens of the messages, and Tokens is their sum. Edits are not taken into account.
	Counts []int
	Tokens int
	// Bytes is by how much the transcript has grown since the last compaction.
	Bytes int64
	// Edits are those of old results that were recorded.
	Edits []prune.Edit
	// LastTouch is when the model answered or an edit was recorded last, zero if neither has happened.
	LastTouch time.Time
	// Cycle is the number of compactions, and Flush the last flush since the latest of them, nil if there was none.
	Cycle int
	Flush *Flush
	// Flushed says how many of the messages, from the first on, a flush has seen that was done, also before a compaction. A
	// summary counts if all that it is of does.
	Flushed int
	// LastUsage is what the provider counted for the last answer since the latest compaction, nil if it has told
	// nothing yet. SinceUsage are the tokens of the messages after that answer, of all if LastUsage is nil. So the next
	// prompt has about LastUsage.Prompt() + LastUsage.Output + SinceUsage tokens.
	LastUsage  *llm.Usage
	SinceUsage int
}

// PruneState is what prune.Prune needs to know beside the messages. window is the model's, in tokens.
func (v View) PruneState(window int) prune.State {
	return prune.State{LastTouch: v.LastTouch, Window: window, Edits: v.Edits}
}

// PruneEntry is the entry that records edits of the messages of this view.
func (v View) PruneEntry(edits []prune.Edit) Entry {
	e := Entry{Kind: KindPrune}
	for _, edit := range edits {
		e.Prune = append(e.Prune, Edit{Message: v.IDs[edit.Index], Text: edit.Text, Cleared: edit.Cleared})
	}
	return e
}

// SummaryMessage is how a summary is sent.
func SummaryMessage(summary string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Text: summaryIntro + summary}
}
