package sidecar

import (
	"slices"

	"kioku/llm"
	"kioku/memory"
)

// maxRecent is the maximum number of messages that a search is told.
const maxRecent = 6

// Recent returns the latest messages of a conversation before a message, oldest first, as [Turn.Recent] takes them: what the user and the
// agent have said, without calls and results of tools. Of what the agent has said in a row, between such calls, only the last counts.
// The message itself, if it is the newest, is left out.
func Recent(messages []llm.Message, message string) []memory.Turn {
	var turns []memory.Turn
	newest := true
	for _, m := range slices.Backward(messages) {
		if len(turns) == maxRecent {
			break
		}
		speaker := memory.SpeakerUser
		switch {
		case m.Role == llm.RoleAssistant:
			speaker = memory.SpeakerAssistant
		case m.Role != llm.RoleUser:
			continue
		case newest && m.Text == message:
			newest = false
			continue
		}
		newest = false
		again := speaker == memory.SpeakerAssistant && len(turns) > 0 && turns[len(turns)-1].Speaker == speaker
		if m.Text != "" && !again {
			turns = append(turns, memory.Turn{Speaker: speaker, Text: m.Text})
		}
	}
	slices.Reverse(turns)
	return turns
}
