package server

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"kioku/agent/flush"
	"kioku/agent/sidecar"
	kiokuv1 "kioku/proto/kioku/v1"
)

// CheckFlush reports what to do before the next request to the model.
func (s agentService) CheckFlush(ctx context.Context, req *kiokuv1.CheckFlushRequest) (*kiokuv1.CheckFlushResponse, error) {
	side, err := authorize(ctx, s.sidecars, req,
		checkKey("session", req.GetSession()), checkCount("window_tokens", req.GetWindowTokens()),
		checkCount("projected_tokens", req.GetProjectedTokens()), checkCount("transcript_bytes", req.GetTranscriptBytes()))
	if err != nil {
		return nil, err
	}
	c, err := s.conversation(ctx, req, true)
	if err != nil {
		return nil, err
	}
	if callerOf(ctx).write {
		// If this fails, the messages are not covered, and BeginFlush reports why.
		_ = side.Resume(ctx, req.GetSession())
	}
	check, err := side.Check(req.GetSession(), c.sessionView(side.Count), flush.State{
		Window: int(req.GetWindowTokens()), Projected: int(req.GetProjectedTokens()), Bytes: req.GetTranscriptBytes(),
		Overflow: req.GetOverflow(), Heartbeat: req.GetHeartbeat(), Forced: req.GetForced(),
	})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.CheckFlushResponse{
		Flush: check.Flush, Compact: check.Compact, Reason: clip(check.Reason, 1000),
		FlushAtTokens: int32Of(check.FlushAt), CompactAtTokens: int32Of(check.CompactAt),
		UncoveredCount: int32Of(check.Uncovered + check.Interrupted), NextTryTime: kiokuv1.TimeOf(check.NotBefore), Warnings: check.Warnings,
	}, nil
}

// BeginFlush begins a range of messages that are not covered.
func (s agentService) BeginFlush(ctx context.Context, req *kiokuv1.BeginFlushRequest) (*kiokuv1.BeginFlushResponse, error) {
	side, err := authorizeWrite(ctx, s.sidecars, req,
		checkKey("session", req.GetSession()), checkCount("window_tokens", req.GetWindowTokens()))
	if err != nil {
		return nil, err
	}
	messages, err := s.toFlush(ctx, req)
	if err != nil {
		return nil, err
	}
	begun, err := side.Begin(ctx, flush.Request{
		Session: req.GetSession(), Messages: messages, Window: int(req.GetWindowTokens()), TooLong: req.GetTooLong(),
	})
	if err != nil {
		return nil, err
	}
	s.logWarnings(req.GetAgent(), begun.Warnings)
	return beginResponse(begun), nil
}

// logWarnings logs what was lost or mended in the state of a session.
func (s *Server) logWarnings(agent string, warnings []string) {
	for _, w := range warnings {
		s.opt.Log.Warn("flush", "agent", agent, "warning", w)
	}
}

// beginResponse returns a range as the service returns it.
func beginResponse(begun sidecar.Begun) *kiokuv1.BeginFlushResponse {
	resp := &kiokuv1.BeginFlushResponse{Outcome: kiokuv1.OutcomeNothing, Warnings: begun.Warnings}
	if begun.Lease == "" {
		return resp
	}
	resp.Outcome, resp.Lease, resp.UncoveredCount = kiokuv1.OutcomeBegun, begun.Lease, int32Of(begun.Uncovered)
	resp.SystemPrompt, resp.UserPrompt, resp.Messages = begun.System, begun.User, convertAll(begun.Messages, chatMessage)
	resp.Tool = &kiokuv1.Tool{Name: begun.Tool.Name, Description: begun.Tool.Description, InputSchema: string(begun.Tool.Schema)}
	return resp
}

// CommitFlush stores the notes of a range.
func (s agentService) CommitFlush(ctx context.Context, req *kiokuv1.CommitFlushRequest) (*kiokuv1.CommitFlushResponse, error) {
	side, err := authorizeWrite(ctx, s.sidecars, req, checkKey("lease", req.GetLease()))
	if err != nil {
		return nil, err
	}
	notes := convertAll(req.GetNotes(), func(n *kiokuv1.FlushNote) flush.Note {
		return flush.Note{Text: n.GetText(), Category: n.GetCategory()}
	})
	done, err := side.Commit(ctx, req.GetLease(), flush.Answer{Notes: notes, Reply: req.GetReply(), Unfinished: req.GetUnfinished()})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.CommitFlushResponse{
		Silent: done.Silent, CoveredCount: int32Of(done.Covered), ThroughId: done.Through, UncoveredCount: int32Of(done.Uncovered),
		Notes: convertAll(done.Notes, storedNote), Warning: done.Warning,
	}, nil
}

func storedNote(n flush.Stored) *kiokuv1.StoredNote {
	return &kiokuv1.StoredNote{Path: n.Path, Line: int32Of(n.StartLine), Deduplicated: n.Deduplicated, Refused: clip(n.Refused, 500),
		Secrets: convertAll(n.Secrets, replacedSecret)}
}

// Flush has the service's model flush all messages that are not covered.
func (s agentService) Flush(ctx context.Context, req *kiokuv1.FlushRequest) (*kiokuv1.FlushResponse, error) {
	side, err := authorizeWrite(ctx, s.sidecars, req, checkKey("session", req.GetSession()))
	if err != nil {
		return nil, err
	}
	messages, err := s.toFlush(ctx, req)
	if err != nil {
		return nil, err
	}
	out := side.Flush(ctx, flush.Job{Request: flush.Request{Session: req.GetSession(), Messages: messages}, Forced: req.GetForced()})
	return s.flushResponse(ctx, "Flush", req.GetAgent(), out), nil
}

// sessionRequest is a request with messages of a session.
type sessionRequest interface {
	GetAgent() string
	GetSession() string
	GetMessages() []*kiokuv1.ChatMessage
}

// conversation returns the messages of a request. Those of a session are remembered, so that later requests name them by their ids.
// flushes says that the session is flushed.
func (s *Server) conversation(ctx context.Context, req sessionRequest, flushes bool) (conversation, error) {
	if req.GetSession() == "" {
		return conversationOf(req.GetMessages(), "")
	}
	name := known(ctx, req.GetAgent(), req.GetSession())
	whole, group, err := s.whole(name, req.GetMessages())
	if err != nil {
		return conversation{}, err
	}
	c, err := sessionOf(whole, group)
	if err == nil {
		err = s.markGroup(ctx, name, groupOf(whole))
	}
	if err == nil {
		s.spool(s.known.remember(name, whole, group, flushes && callerOf(ctx).write, time.Now()))
	}
	return c, err
}

// whole returns the messages of a session with those in place of references that were sent before, each with its channel. group is the
// channel of the last group in the session.
func (s *Server) whole(name sessionName, sent []*kiokuv1.ChatMessage) (list []*kiokuv1.ChatMessage, group string, err error) {
	group, ok := s.known.group(name)
	if !ok {
		if group, err = s.sidecars[name.agent].GroupOf(name.session); err != nil {
			return nil, "", err
		}
	}
	list, err = s.known.resolve(name, sent, group)
	return list, group, err
}

// markGroup records the channel of a group in a session, so that a service that is started anew takes nothing of it for private. An
// empty channel is none.
func (s *Server) markGroup(ctx context.Context, name sessionName, channel string) error {
	if before, _ := s.known.group(name); channel == "" || channel == before || !callerOf(ctx).write {
		return nil
	}
	err := s.sidecars[name.agent].MarkGroup(ctx, name.session, channel)
	if err == nil {
		s.known.setGroup(name, channel)
	}
	return err
}

// unnamedGroup is the channel of a group for which a caller names none.
const unnamedGroup = "group"

// markTurn marks the session of a turn in a group. If that fails the turn goes on, and the log says why.
func (s *Server) markTurn(ctx context.Context, agent string, t sidecar.Turn) {
	if t.Session == "" || !t.InGroup() {
		return
	}
	if err := s.markGroup(ctx, known(ctx, agent, t.Session), cmp.Or(t.Channel, unnamedGroup)); err != nil {
		s.opt.Log.Error("a session could not be marked as a group's", "agent", agent, "err", err)
	}
}

// toFlush returns the messages of a request as a flush takes them.
func (s *Server) toFlush(ctx context.Context, req sessionRequest) ([]flush.Message, error) {
	c, err := s.conversation(ctx, req, true)
	return flush.Messages(c.ids, c.messages, c.by), err
}

// sessionOf returns the messages of a session, which must have ids.
func sessionOf(list []*kiokuv1.ChatMessage, marked string) (conversation, error) {
	c, err := conversationOf(list, marked)
	if err != nil {
		return conversation{}, err
	}
	for i, m := range list {
		if m.GetId() == "" {
			return conversation{}, badField(fmt.Sprintf("messages[%d].id", i), "is required: a flush records by the ids of messages which of them are stored; each is unique in the session")
		}
	}
	return c, nil
}

// flushMessages returns the messages of a session as a flush takes them.
func flushMessages(list []*kiokuv1.ChatMessage, marked string) ([]flush.Message, error) {
	c, err := sessionOf(list, marked)
	return flush.Messages(c.ids, c.messages, c.by), err
}
