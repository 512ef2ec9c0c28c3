// Package compact replaces the old part of a conversation by a summary that a model writes, so that the conversation fits into
// the model's window.
//
// [Compactor.Compact] reads the view of a session and returns the compaction to append. It writes nothing, so that the history
// stays if anything fails. A summary contains, letter for letter, the most important identifiers of the old part, such as ids,
// paths, dates and amounts: a model that leaves some out is asked once more, and what it still leaves out is appended in a list.
package compact
