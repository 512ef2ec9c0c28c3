package flush

import "kioku/llm"

// leftOut is the first message of a conversation that was cut in the middle of a turn, because providers want a message of the
// user first.
const leftOut = "(The earlier messages do not fit and are left out.)"

// shorten returns messages without the oldest ones, about a quarter of the tokens, and whether that was possible. It cuts
// before a message of the user, or else before one of the assistant, so that each result stays behind its call.
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

// cutBefore returns the index of the first message of a role that follows a quarter of the tokens, or of the last message of
// that role. It returns 0 if only the first message may have this role.
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
