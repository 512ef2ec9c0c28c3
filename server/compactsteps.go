package server

import (
	"context"
	"errors"

	"kioku/agent/compact"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm"
	kiokuv1 "kioku/proto/kioku/v1"
)

// BeginCompact begins a compaction by the agent's own model.
func (s agentService) BeginCompact(ctx context.Context, req *kiokuv1.BeginCompactRequest) (*kiokuv1.BeginCompactResponse, error) {
	side, err := authorize(ctx, s.sidecars, req,
		checkName("session", req.GetSession()), checkCount("window_tokens", req.GetWindowTokens()), checkCount("keep_recent_tokens", req.GetKeepRecentTokens()))
	if err != nil {
		return nil, err
	}
	c, err := s.conversation(ctx, req, false)
	if err != nil {
		return nil, err
	}
	step, err := side.BeginCompact(req.GetSession(), c.sessionView(side.Count), sidecar.Space{Keep: int(req.GetKeepRecentTokens()), Window: int(req.GetWindowTokens())})
	if why := nothingToCompact(err); why != "" {
		return &kiokuv1.BeginCompactResponse{Outcome: kiokuv1.OutcomeNothing, Reason: why}, nil
	}
	if err != nil {
		return nil, err
	}
	return &kiokuv1.BeginCompactResponse{Outcome: kiokuv1.OutcomeBegun, Lease: step.Lease, Step: compactStep(step)}, nil
}

// nothingToCompact returns why a compaction drops nothing, empty for other errors.
func nothingToCompact(err error) string {
	_, uncovered := errors.AsType[*sidecar.UncoveredError](err)
	if uncovered || errors.Is(err, compact.ErrNothing) {
		return err.Error()
	}
	return ""
}

// CommitCompact takes an answer of the agent's model.
func (s agentService) CommitCompact(ctx context.Context, req *kiokuv1.CommitCompactRequest) (*kiokuv1.CommitCompactResponse, error) {
	side, err := authorize(ctx, s.sidecars, req, checkKey("lease", req.GetLease()), checkCount("step_number", req.GetStepNumber()))
	if err != nil {
		return nil, err
	}
	answer := compact.Answer{Text: req.GetAnswer(), Cut: req.GetCutOff()}
	if req.GetTooLong() {
		answer.Err = &llm.Error{Kind: llm.KindOverflow, Message: "the agent's model refuses even a short question as too long"}
	}
	step, err := side.CommitCompact(req.GetLease(), int(req.GetStepNumber()), answer)
	if why := nothingToCompact(err); why != "" {
		return &kiokuv1.CommitCompactResponse{Outcome: kiokuv1.OutcomeNothing, Compacted: &kiokuv1.CompactResponse{Outcome: kiokuv1.OutcomeNothing, Reason: why}}, nil
	}
	switch {
	case err != nil:
		return nil, err
	case !step.Done:
		return &kiokuv1.CommitCompactResponse{Outcome: kiokuv1.OutcomeNext, Step: compactStep(step)}, nil
	}
	done := s.compacted(ctx, req.GetAgent(), step.Session, step.Made, side.FlushOff())
	return &kiokuv1.CommitCompactResponse{Outcome: kiokuv1.OutcomeCompacted, Compacted: done}, nil
}

// compactStep returns a question to the agent's model.
func compactStep(step sidecar.Step) *kiokuv1.CompactStep {
	return &kiokuv1.CompactStep{
		SystemPrompt: step.Request.System, Messages: convertAll(step.Request.Messages, chatMessage),
		MaxTokens: int32Of(step.Request.MaxTokens), Number: int32Of(step.Number),
	}
}

// compacted remembers the summary that a compaction returned, and returns the response.
func (s agentService) compacted(ctx context.Context, agent, name string, made session.Compaction, off string) *kiokuv1.CompactResponse {
	resp := compactResponse(made, name, off)
	s.known.add(known(ctx, agent, name), resp.GetMessage())
	return resp
}
