package flush

import (
	"kioku/llm"
)

// leftOut begins a conversation whose first part is left out in the middle of a turn: providers want a message of the user
// first.
const leftOut = "(The earlier messages do not fit and are left out.)"

// shorten returns messages without the oldest ones, about a quarter of their tokens, and whether that was possible. It cuts
// before a message of the user, or if there is none before one of the assistant, so that each result stays behind its
// call.
func shorten(messages []llm.Message) ([]llm.Message, bool) {
	if len(messages) > 0 && messages[0].Text == leftOut {
		messages = messages[1:]
	}
	if at := cutBefore(messages, llm.RoleUser); at > 0 {
		return messages[at:], true
	}
	if at := cutBefore(messages, llm.RoleAssistant); at > 0 {
		first := llm.Message{Role: llm.RoleUser, Text: leftOut}
		return append([]llm.Message{first}, messages[at:]...), true
	}
	return nil, false
}

// cutBefore returns the first message of a role behind a quarter of the tokens, or the last one if none is that far
// behind; 0 if only the first message may have this role.
func cutBefore(messages []llm.Message, role llm.Role) int {
	total := 0
	for _, m := range messages {
		total += llm.MessageTokens(nil, m)
	}
	at, before := 0, 0
	for i, m := range messages {
		if i > 0 && m.Role == role {
			at = i
			if before*4 >= total {
				break
			}
		}
		before += llm.MessageTokens(nil, m)
	}
	return at
}
