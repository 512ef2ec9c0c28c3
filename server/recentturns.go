package server

import (
	"context"
	"slices"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// maxRecent is the maximum number of messages of a session that recall is told.
const maxRecent = 6

// recentOf returns the messages before a message as a search takes them: those that the request has, else the latest of its session
// that other calls have sent.
func (s *Server) recentOf(ctx context.Context, agent, session, message string, sent []*kiokuv1.ConversationTurn) ([]memory.Turn, error) {
	if len(sent) == 0 {
		return s.known.latest(known(ctx, agent, session), message), nil
	}
	turns := convertAll(sent, turnOf)
	return turns, memory.Query{Context: turns}.CheckRecall()
}

// latest returns the latest messages of a session before a message, oldest first; none if the session is not known.
func (k *knownMessages) latest(name sessionName, message string) []memory.Turn {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.session(name)
	if s == nil || name.session == "" {
		return nil
	}
	var turns []memory.Turn
	newest := true
	for _, id := range slices.Backward(s.order) {
		m := s.messages[id]
		speaker := m.GetRole()
		if len(turns) == maxRecent {
			break
		}
		if speaker != memory.SpeakerUser && speaker != memory.SpeakerAssistant || m.GetText() == "" {
			continue
		}
		if !newest || m.GetText() != message {
			turns = append(turns, memory.Turn{Speaker: speaker, Text: m.GetText()})
		}
		newest = false
	}
	slices.Reverse(turns)
	return turns
}
