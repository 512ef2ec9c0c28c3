package server

import (
	"cmp"
	"container/list"
	"context"
	"slices"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/agent/sidecar"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

const (
	// knownBytes is the maximum size in bytes of the messages of all sessions, and maxKnownBytes that of one session. A larger session
	// is not remembered.
	knownBytes    = 64 << 20
	maxKnownBytes = 16 << 20
	// knownSessions is the maximum number of sessions.
	knownSessions = 1000
	// knownSlack is how many messages that the last call did not have a session may remember, beside as many as it had.
	knownSlack = 100
	// unknownBytes is the maximum size in bytes of the ids in UnknownMessages: some clients take only 8 KiB of metadata.
	unknownBytes = 3 << 10
)

// sessionName names a session. Messages of a caller with a token are not told to callers with another.
type sessionName struct{ caller, agent, session string }

// knownSession is a session with the messages that were sent or returned before.
type knownSession struct {
	sessionName
	messages map[string]*ChatMessage
	// order are the ids of the messages of the last call.
	order []string
	bytes int
	// group is the channel of the last group that was in the session, empty if none was.
	group string
	// used is the time of the last call.
	used time.Time
	// flushes says that the session is flushed by a caller who may write and was not spooled since the last call.
	flushes bool
}

// knownMessages has the last messages of sessions, so that a call names them by their ids. The zero value has none. Its methods may be
// called concurrently.
type knownMessages struct {
	mu       sync.Mutex
	sessions map[sessionName]*list.Element
	// recent are the sessions, the one with the latest call first.
	recent list.List
	bytes  int
}

// isReference reports whether a message has nothing but ids.
func isReference(m *ChatMessage) bool {
	return m.Role == "" && m.ID != "" && m.Text == "" && len(m.ToolCalls) == 0 && m.ToolCallID == "" &&
		m.ToolName == "" && m.ImageCount == 0 && !m.Failed && m.Author == nil && m.Channel == ""
}

// resolve returns the messages of a call with those in place of references that were sent before. It returns FAILED_PRECONDITION with
// UnknownMessages if a message is not known, and an *memory.InputError for too many messages.
// Each message names its channel; before is that of the first one, if it was not known and does not say.
func (k *knownMessages) resolve(name sessionName, sent []*ChatMessage, before string) ([]*ChatMessage, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	have := k.session(name)
	out := make([]*ChatMessage, 0, len(sent))
	var unknown []string
	var at map[string]int
	for _, m := range sent {
		if len(out) > maxMessages {
			break // which is refused
		}
		if !isReference(m) {
			out = append(out, m)
			continue
		}
		if m.ThroughID != "" && at == nil {
			at = have.places()
		}
		found, missing := have.find(m.ID, m.ThroughID, at)
		out, unknown = append(out, found...), append(unknown, missing...)
	}
	if len(unknown) > 0 {
		return nil, errUnknownMessages(unknown)
	}
	return have.placed(out, before), nil
}

// placed returns messages of which each names its channel: the one that it says, else the group in which it was said when it was sent
// before, else that of the message before it. Nothing becomes private because the message that named the group is left out. before is
// the channel before the first message of a session that is not known.
func (s *knownSession) placed(list []*ChatMessage, before string) []*ChatMessage {
	channel := before
	if s != nil {
		channel = s.group
	}
	out := slices.Clone(list)
	for i, m := range list {
		if m.Channel != "" {
			channel = m.Channel
			continue
		}
		if s != nil && isGroup(s.channelOf(m.ID), s.group) {
			channel = s.channelOf(m.ID)
		}
		if channel != "" {
			placed := *m
			placed.Channel, out[i] = channel, &placed
		}
	}
	return out
}

// channelOf returns the channel of a message that was sent before, empty if there is none.
func (s *knownSession) channelOf(id string) string {
	if m := s.messages[id]; m != nil {
		return m.Channel
	}
	return ""
}

// groupOf returns the channel of the last group in messages that name their channels, empty if there is none.
func groupOf(list []*ChatMessage) string {
	for _, m := range slices.Backward(list) {
		if sidecar.IsGroup(m.Channel) {
			return m.Channel
		}
	}
	return ""
}

// group returns the channel of the last group in a session, and whether the session is known.
func (k *knownMessages) group(name sessionName) (channel string, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.session(name); s != nil {
		return s.group, true
	}
	return "", false
}

// setGroup sets the channel of the last group in a session, if it is known.
func (k *knownMessages) setGroup(name sessionName, channel string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.session(name); s != nil {
		s.group = channel
	}
}

// places returns the places of the messages of the last call by their ids.
func (s *knownSession) places() map[string]int {
	at := map[string]int{}
	if s != nil {
		for i, id := range s.order {
			at[id] = i
		}
	}
	return at
}

// find returns the message with an id, or if through is set all messages of the last call from the one to the other, or the ids that are
// missing. at are the places of those messages.
func (s *knownSession) find(id, through string, at map[string]int) (known []*ChatMessage, missing []string) {
	for _, one := range []string{id, through} {
		if one != "" && (s == nil || s.messages[one] == nil) {
			missing = append(missing, one)
		}
	}
	switch {
	case len(missing) > 0:
		return nil, missing
	case through == "":
		return []*ChatMessage{s.messages[id]}, nil
	}
	from, begins := at[id]
	to, ends := at[through]
	if !begins || !ends || from > to {
		return nil, []string{id, through} // in another order, or not in the last call
	}
	for _, one := range s.order[from : to+1] {
		known = append(known, s.messages[one])
	}
	return known, nil
}

// session returns a session, nil if it is not known.
func (k *knownMessages) session(name sessionName) *knownSession {
	if e := k.sessions[name]; e != nil {
		return e.Value.(*knownSession)
	}
	return nil
}

// errUnknownMessages returns the error of a call with references to messages that the service does not have.
func errUnknownMessages(ids []string) error {
	var some []string
	for size := 0; len(ids) > 0 && size < unknownBytes; ids = ids[1:] {
		some, size = append(some, ids[0]), size+len(ids[0])
	}
	return detailed(status.New(codes.FailedPrecondition, "messages are named that the service does not have; send all messages whole"),
		&errdetails.ErrorInfo{Domain: memory.ErrorDomain, Reason: "UNKNOWN_MESSAGES"}, &kiokuv1.UnknownMessages{Ids: some})
}

// remember remembers the messages of a call. group is the last group of a session that was not known. It returns the sessions that are forgotten for it and were not spooled.
func (k *knownMessages) remember(name sessionName, sent []*ChatMessage, group string, flushes bool, now time.Time) (forgotten []*knownSession) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.session(name)
	if s == nil {
		s = &knownSession{sessionName: name, messages: map[string]*ChatMessage{}}
		if k.sessions == nil {
			k.sessions = map[sessionName]*list.Element{}
		}
		k.sessions[name] = k.recent.PushFront(s)
	}
	k.recent.MoveToFront(k.sessions[name])
	s.group = cmp.Or(groupOf(sent), s.group, group)
	s.used, s.flushes, s.order = now, s.flushes || flushes, make([]string, 0, len(sent))
	for _, m := range sent {
		k.put(s, m)
		s.order = append(s.order, m.ID)
	}
	k.forgetOld(s)
	if s.bytes > maxKnownBytes {
		forgotten = append(forgotten, k.forget(s))
	}
	for k.bytes > knownBytes || k.recent.Len() > knownSessions {
		forgotten = append(forgotten, k.forget(k.recent.Back().Value.(*knownSession)))
	}
	return forgotten
}

// add remembers one more message of a session that is known, such as a summary that a call returned.
func (k *knownMessages) add(name sessionName, m *ChatMessage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.session(name); s != nil {
		k.put(s, m)
	}
}

// put adds or replaces a message.
func (k *knownMessages) put(s *knownSession, m *ChatMessage) {
	before, size := s.messages[m.ID], m.size()
	if before == m {
		return
	}
	if before != nil {
		size -= before.size()
	}
	s.messages[m.ID] = m
	s.bytes, k.bytes = s.bytes+size, k.bytes+size
}

// forgetOld forgets messages that the last call did not have, if there are many.
func (k *knownMessages) forgetOld(s *knownSession) {
	if len(s.messages) <= 2*len(s.order)+knownSlack {
		return
	}
	used := make(map[string]bool, len(s.order))
	for _, id := range s.order {
		used[id] = true
	}
	for id, m := range s.messages {
		if !used[id] {
			delete(s.messages, id)
			s.bytes, k.bytes = s.bytes-m.size(), k.bytes-m.size()
		}
	}
}

// forget forgets a session.
func (k *knownMessages) forget(s *knownSession) *knownSession {
	k.recent.Remove(k.sessions[s.sessionName])
	delete(k.sessions, s.sessionName)
	k.bytes -= s.bytes
	return s
}

// list returns the messages of the last call of a session, in order.
func (s *knownSession) list() []*ChatMessage {
	out := make([]*ChatMessage, 0, len(s.order))
	for _, id := range s.order {
		out = append(out, s.messages[id])
	}
	return out
}

// last returns the messages of the last call of a session.
func (k *knownMessages) last(name sessionName) []*ChatMessage {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.session(name); s != nil {
		return s.list()
	}
	return nil
}

// end forgets a session that has ended with these messages, unless a call was made in it meanwhile.
func (k *knownMessages) end(name sessionName, messages []*ChatMessage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.session(name); s != nil && slices.Equal(s.list(), messages) {
		k.forget(s)
	}
}

// idle returns copies of the sessions that are flushed and had no call since before, a time that depends on their agent; zero means
// none of that agent. They are returned once until the next call.
func (k *knownMessages) idle(before func(agent string) time.Time) (out []*knownSession) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for e := k.recent.Back(); e != nil; e = e.Prev() {
		s := e.Value.(*knownSession)
		if limit := before(s.agent); s.flushes && !limit.IsZero() && s.used.Before(limit) {
			s.flushes = false
			taken := *s
			taken.messages, taken.flushes = make(map[string]*ChatMessage, len(s.order)), true
			for _, id := range s.order {
				taken.messages[id] = s.messages[id]
			}
			out = append(out, &taken)
		}
	}
	return out
}

// again has idle return sessions of an agent again, those of them that are still known.
func (k *knownMessages) again(agent string, sessions []*knownSession) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, taken := range sessions {
		if s := k.session(taken.sessionName); s != nil && s.agent == agent {
			s.flushes = true
		}
	}
}

// known returns the name of a session of the caller.
func known(ctx context.Context, agent, session string) sessionName {
	return sessionName{callerOf(ctx).name, agent, session}
}

// maxRecent is the maximum number of messages of a session that recall is told.
const maxRecent = 6

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
		speaker := m.Role
		if len(turns) == maxRecent {
			break
		}
		if speaker != memory.SpeakerUser && speaker != memory.SpeakerAssistant || m.Text == "" {
			continue
		}
		if !newest || m.Text != message {
			turns = append(turns, memory.Turn{Speaker: speaker, Text: m.Text})
		}
		newest = false
	}
	slices.Reverse(turns)
	return turns
}
