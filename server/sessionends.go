package server

import (
	"context"
	"sync"
	"time"

	"kioku/agent/flush"
)

// withEarlier returns the messages of the last call of a session, and then those of this one.
func withEarlier(earlier, sent []*ChatMessage) []*ChatMessage {
	ids := make(map[string]bool, len(sent))
	for _, m := range sent {
		ids[m.ID] = true
	}
	var out []*ChatMessage
	for _, m := range earlier {
		if !ids[m.ID] {
			out = append(out, m)
		}
	}
	return append(out, sent...)
}

// spoolTimeout is the maximum time in which the messages of sessions are written to the disk.
const spoolTimeout = 10 * time.Second

// spoolIdle has the messages of idle sessions on disk, from where their sidecars flush them.
func (s *Server) spoolIdle(now time.Time) {
	s.spool(s.known.idle(func(agent string) time.Time {
		side, ok := s.sidecars[agent]
		if !ok || side.IdleAfter() <= 0 {
			return time.Time{}
		}
		return now.Add(-side.IdleAfter())
	}))
}

// spoolAll has the messages of all sessions on disk when the server ends.
func (s *Server) spoolAll() {
	s.spool(s.known.idle(func(string) time.Time { return time.Now().Add(time.Hour) }))
}

// spool has the messages of sessions on disk. What is covered is not written. Sessions that could not be written are written when the
// next ones are, if they are still known.
func (s *Server) spool(sessions []*knownSession) {
	of := make(map[string][]flush.Request)
	for _, k := range sessions {
		if s.sidecars[k.agent] == nil || !k.flushes {
			continue
		}
		messages, err := flushMessages(k.list(), k.group)
		if err != nil {
			s.notSpooled(k.agent, err)
			continue
		}
		of[k.agent] = append(of[k.agent], flush.Request{Session: k.session, Messages: messages})
	}
	ctx, cancel := context.WithTimeout(context.Background(), spoolTimeout)
	defer cancel()
	var all sync.WaitGroup
	for agent, requests := range of {
		all.Go(func() {
			if err := s.sidecars[agent].Spool(ctx, requests); err != nil {
				s.notSpooled(agent, err)
				s.known.again(agent, sessions)
			}
		})
	}
	all.Wait()
}

// notSpooled logs that messages are not on disk.
func (s *Server) notSpooled(agent string, err error) {
	s.opt.Log.Error("messages of sessions could not be kept; if the service ends now, they are lost", "agent", agent, "err", clip(err.Error(), 1000))
}
