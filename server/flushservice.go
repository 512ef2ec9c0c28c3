package server

import (
	"cmp"
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku/agent/flush"
	kiokuv1 "kioku/proto/kioku/v1"
)

// CheckFlush says what is to be done before the next request to the model.
func (s agentService) CheckFlush(ctx context.Context, req *kiokuv1.CheckFlushRequest) (*kiokuv1.CheckFlushResponse, error) {
	car, err := s.sidecar(ctx, req.GetAgent())
	if err != nil {
		return nil, err
	}
	err = cmp.Or(checkSession(req.GetSession(), req.GetCycle()), checkCount("window_tokens", req.GetWindowTokens()),
		checkCount("projected_tokens", req.GetProjectedTokens()), checkCount("transcript_bytes", req.GetTranscriptBytes()))
	if err != nil {
		return nil, err
	}
	decision, progress, err := car.Decide(req.GetSession(), int(req.GetCycle()), flush.State{
		Window: int(req.GetWindowTokens()), Projected: int(req.GetProjectedTokens()), Bytes: req.GetTranscriptBytes(),
		Overflow: req.GetOverflow(), Heartbeat: req.GetHeartbeat(),
	})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.CheckFlushResponse{
		Flush: decision.Flush, Compact: decision.Compact, Reason: decision.Reason,
		FlushAtTokens: int32Of(decision.FlushAt), CompactAtTokens: int32Of(decision.CompactAt),
		Unfinished: progress.Begun && !progress.Done,
	}, nil
}

// BeginFlush takes the lease of a flush, or goes on with it.
func (s agentService) BeginFlush(ctx context.Context, req *kiokuv1.BeginFlushRequest) (*kiokuv1.BeginFlushResponse, error) {
	car, err := s.writableSidecar(ctx, req.GetAgent())
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(checkSession(req.GetSession(), req.GetCycle()), checkKey("holder", req.GetHolder())); err != nil {
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
	lease, err := car.Ledger().Begin(req.GetSession(), int(req.GetCycle()), req.GetHolder(), spool)
	if err != nil {
		return nil, err
	}
	return beginResponse(lease)
}

// beginResponse is the answer to the holder of a lease. There is nothing to ask the model where the flush has ended.
func beginResponse(lease flush.Lease) (*kiokuv1.BeginFlushResponse, error) {
	resp := &kiokuv1.BeginFlushResponse{FlushId: lease.ID, Resumed: lease.Resumed, Done: lease.Done}
	if lease.Done {
		return resp, nil
	}
	resp.Expires, resp.NoteKeyPrefix = timestamppb.New(lease.Expires), lease.NoteKey
	resp.SystemPrompt, resp.UserPrompt = flush.SystemPrompt(), flush.UserPrompt(time.Now())
	if !lease.Resumed {
		return resp, nil
	}
	var err error
	resp.Messages, err = spooled(lease.Spool)
	return resp, err
}

// CommitFlush ends a flush well.
func (s agentService) CommitFlush(ctx context.Context, req *kiokuv1.CommitFlushRequest) (*kiokuv1.CommitFlushResponse, error) {
	car, err := s.writableSidecar(ctx, req.GetAgent())
	if err != nil {
		return nil, err
	}
	if err := checkLease(req.GetFlushId(), req.GetHolder()); err != nil {
		return nil, err
	}
	if err := car.Ledger().Commit(req.GetFlushId(), req.GetHolder()); err != nil {
		return nil, err
	}
	return &kiokuv1.CommitFlushResponse{Silent: flush.Silent(req.GetReply())}, nil
}

// AbortFlush gives a flush back.
func (s agentService) AbortFlush(ctx context.Context, req *kiokuv1.AbortFlushRequest) (*kiokuv1.AbortFlushResponse, error) {
	car, err := s.writableSidecar(ctx, req.GetAgent())
	if err != nil {
		return nil, err
	}
	if err := checkLease(req.GetFlushId(), req.GetHolder()); err != nil {
		return nil, err
	}
	left, err := car.Ledger().Abort(req.GetFlushId(), req.GetHolder(), clip(req.GetReason(), 500))
	if err != nil {
		return nil, err
	}
	return &kiokuv1.AbortFlushResponse{AttemptsLeft: int32Of(left)}, nil
}

func checkLease(id, holder string) error {
	return cmp.Or(checkKey("flush_id", id), checkKey("holder", holder))
}
