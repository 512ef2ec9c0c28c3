// Package compact replaces the old part of a conversation by a summary that a model writes, so that it goes on fitting
// into the model's window.
//
// [Compactor.Compact] reads what is sent of a session and returns the entry that puts the summary in its place. It writes
// nothing: whatever fails, the history stays. A summary counts only if the identifiers that matter most in the part that
// goes, such as ids, paths, dates and amounts, stand in it letter for letter.
package compact
