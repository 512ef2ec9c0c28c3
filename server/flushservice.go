package server

import (
	"context"

	"kioku/agent/flush"
	"kioku/agent/sidecar"
	kiokuv1 "kioku/proto/kioku/v1"
)

// CheckFlush reports what to do before the next request to the model.
func (s agentService) CheckFlush(ctx context.Context, req *kiokuv1.CheckFlushRequest) (*kiokuv1.CheckFlushResponse, error) {
	side, err := authorize(ctx, s.sidecars, req.GetAgent(),
		checkSession(req.GetSession(), req.GetCycle()), checkCount("window_tokens", req.GetWindowTokens()),
		checkCount("projected_tokens", req.GetProjectedTokens()), checkCount("transcript_bytes", req.GetTranscriptBytes()))
	if err != nil {
		return nil, err
	}
	cycle := int(req.GetCycle())
	check, err := side.Check(req.GetSession(), cycle, flush.State{
		Window: int(req.GetWindowTokens()), Projected: int(req.GetProjectedTokens()), Bytes: req.GetTranscriptBytes(),
		Overflow: req.GetOverflow(), Heartbeat: req.GetHeartbeat(), Forced: req.GetForced(),
	})
	if err != nil {
		return nil, err
	}
	if callerOf(ctx).write {
		side.Maintain(req.GetSession(), cycle)
	}
	return &kiokuv1.CheckFlushResponse{
		Flush: check.Flush, Compact: check.Compact, Reason: check.Reason,
		FlushAtTokens: int32Of(check.FlushAt), CompactAtTokens: int32Of(check.CompactAt),
		Unfinished: check.Unfinished, NextCycle: int32Of(check.NextCycle),
	}, nil
}

// BeginFlush begins or resumes a flush.
func (s agentService) BeginFlush(ctx context.Context, req *kiokuv1.BeginFlushRequest) (*kiokuv1.BeginFlushResponse, error) {
	side, err := authorizeWrite(ctx, s.sidecars, req.GetAgent(),
		checkSession(req.GetSession(), req.GetCycle()), checkKey("holder", req.GetHolder()))
	if err != nil {
		return nil, err
	}
	c, err := conversationOf(req.GetMessages())
	if err != nil {
		return nil, err
	}
	spool, err := c.spool(req.GetMessages())
	if err != nil {
		return nil, err
	}
	begun, err := side.Begin(ctx, req.GetSession(), int(req.GetCycle()), req.GetHolder(), spool)
	if err != nil {
		return nil, err
	}
	return beginResponse(begun)
}

// beginResponse returns a flush as the service returns it. A flush that is done has no prompts.
func beginResponse(begun sidecar.Begun) (*kiokuv1.BeginFlushResponse, error) {
	resp := &kiokuv1.BeginFlushResponse{FlushId: begun.ID, Outcome: kiokuv1.OutcomeBegun}
	if begun.Done {
		resp.Outcome = kiokuv1.OutcomeDone
		return resp, nil
	}
	resp.ExpireTime, resp.NoteKeyPrefix = kiokuv1.TimeOf(begun.Expires), begun.NoteKey
	resp.SystemPrompt, resp.UserPrompt = begun.System, begun.User
	if !begun.Resumed {
		return resp, nil
	}
	resp.Outcome = kiokuv1.OutcomeResumed
	var err error
	resp.Messages, err = spooled(begun.Spool)
	return resp, err
}

// CommitFlush marks a flush as done.
func (s agentService) CommitFlush(ctx context.Context, req *kiokuv1.CommitFlushRequest) (*kiokuv1.CommitFlushResponse, error) {
	side, err := authorizeWrite(ctx, s.sidecars, req.GetAgent(), checkKey("flush_id", req.GetFlushId()), checkKey("holder", req.GetHolder()))
	if err != nil {
		return nil, err
	}
	if err := side.Commit(ctx, req.GetFlushId(), req.GetHolder()); err != nil {
		return nil, err
	}
	return &kiokuv1.CommitFlushResponse{Silent: flush.Silent(req.GetReply())}, nil
}

// AbortFlush returns the lease of a flush.
func (s agentService) AbortFlush(ctx context.Context, req *kiokuv1.AbortFlushRequest) (*kiokuv1.AbortFlushResponse, error) {
	side, err := authorizeWrite(ctx, s.sidecars, req.GetAgent(), checkKey("flush_id", req.GetFlushId()), checkKey("holder", req.GetHolder()))
	if err != nil {
		return nil, err
	}
	left, err := side.Abort(ctx, req.GetFlushId(), req.GetHolder(), clip(req.GetReason(), 500))
	if err != nil {
		return nil, err
	}
	return &kiokuv1.AbortFlushResponse{RemainingAttemptCount: int32Of(left)}, nil
}
