package server

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/status"

	"kioku/agent/flush"
	"kioku/agent/session"
	kiokuv1 "kioku/proto/kioku/v1"
)

// EndSession stores what is not covered of a conversation that ends.
func (s agentService) EndSession(ctx context.Context, req *kiokuv1.EndSessionRequest) (*kiokuv1.EndSessionResponse, error) {
	side, err := authorizeWrite(ctx, s.sidecars, req, checkKey("session", req.GetSession()))
	if err != nil {
		return nil, err
	}
	name := known(ctx, req.GetAgent(), req.GetSession())
	sent, group, err := s.whole(name, req.GetMessages())
	if err != nil {
		return nil, err
	}
	all := withEarlier(s.known.last(name), sent)
	messages, err := flushMessages(all, group)
	if err == nil {
		err = s.markGroup(ctx, name, groupOf(sent))
	}
	if err != nil {
		return nil, err
	}
	s.spool(s.known.remember(name, all, group, true, time.Now()))
	out := side.End(ctx, flush.Job{Request: flush.Request{Session: req.GetSession(), Messages: messages}})
	if out.Outcome != session.FlushFailed {
		s.known.end(name, all)
	}
	resp := s.flushResponse(ctx, "EndSession", req.GetAgent(), out)
	return &kiokuv1.EndSessionResponse{
		Outcome: resp.Outcome, Reason: resp.Reason, CoveredCount: resp.CoveredCount, UncoveredCount: resp.UncoveredCount,
		Notes: resp.Notes, Warnings: resp.Warnings,
	}, nil
}

// withEarlier returns the messages of the last call of a session, and then those of this one.
func withEarlier(earlier, sent []*kiokuv1.ChatMessage) []*kiokuv1.ChatMessage {
	ids := make(map[string]bool, len(sent))
	for _, m := range sent {
		ids[m.GetId()] = true
	}
	var out []*kiokuv1.ChatMessage
	for _, m := range earlier {
		if !ids[m.GetId()] {
			out = append(out, m)
		}
	}
	return append(out, sent...)
}

// flushResponse returns the outcome of a flush as the service returns it. What a provider answered goes only to the log.
func (s *Server) flushResponse(ctx context.Context, method, agent string, out flush.Outcome) *kiokuv1.FlushResponse {
	if out.Err != nil {
		out.Reason = status.Convert(s.status(ctx, method, out.Err)).Message()
	}
	s.logWarnings(agent, out.Warnings)
	resp := &kiokuv1.FlushResponse{
		Outcome: out.Outcome, Reason: clip(out.Reason, 1000), CoveredCount: int32Of(out.Covered), UncoveredCount: int32Of(out.Uncovered),
		Reply: out.Reply, NextTryTime: kiokuv1.TimeOf(out.NextTry), Warnings: out.Warnings,
	}
	for _, n := range out.Notes {
		resp.Notes = append(resp.Notes, storedNote(flush.Stored{Appended: n}))
	}
	for _, why := range out.Refused {
		resp.Notes = append(resp.Notes, &kiokuv1.StoredNote{Refused: clip(why, 500)})
	}
	return resp
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
