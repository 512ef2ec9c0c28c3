package compact

import (
	"kioku/agent/session"
	"kioku/llm"
)

// cut returns the place of the first message that is kept, such that those kept have at most keep tokens. It is never a
// result of a tool, so that a call and its results stay together; the last message and the call that it answers are kept
// whatever their size.
func cut(v session.View, keep int) int {
	at, tokens := len(v.Messages), 0
	for at > 0 && tokens+v.Counts[at-1] <= keep {
		at--
		tokens += v.Counts[at]
	}
	for ; at < len(v.Messages); at++ {
		if v.Messages[at].Role != llm.RoleTool {
			return at
		}
	}
	at = len(v.Messages) - 1
	for at > 0 && v.Messages[at].Role == llm.RoleTool {
		at--
	}
	return max(at, 0)
}
