package server

import (
	"context"

	"kioku/council"
	"kioku/council/engine"
	kiokuv1 "kioku/proto/kioku/v1"
)

// ListMembers lists the members.
func (s councilService) ListMembers(ctx context.Context, _ *kiokuv1.ListMembersRequest) (*kiokuv1.ListMembersResponse, error) {
	c, err := s.of(ctx, rightRead)
	if err != nil {
		return nil, err
	}
	list, err := c.Members(ctx)
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ListMembersResponse{Members: convertAll(list, councilMember)}, nil
}

// GetActivity tells what each member does.
func (s councilService) GetActivity(ctx context.Context, _ *kiokuv1.GetActivityRequest) (*kiokuv1.GetActivityResponse, error) {
	c, err := s.of(ctx, rightRead)
	if err != nil {
		return nil, err
	}
	list, err := c.Activity(ctx)
	if err != nil {
		return nil, err
	}
	return &kiokuv1.GetActivityResponse{Activities: convertAll(list, councilActivity)}, nil
}

// GetParams returns the parameters of a member and their changes.
func (s councilService) GetParams(ctx context.Context, req *kiokuv1.GetParamsRequest) (*kiokuv1.GetParamsResponse, error) {
	c, err := s.of(ctx, rightRead, checkAgentName("member", req.GetMember()))
	if err != nil {
		return nil, err
	}
	p, changes, err := c.Params(ctx, req.GetMember())
	if err != nil {
		return nil, err
	}
	return &kiokuv1.GetParamsResponse{Params: p.Known(), Changes: fit(convertAll(changes, councilParamsChange), maxAnswer)}, nil
}

// SetParams changes parameters of a member.
func (s councilService) SetParams(ctx context.Context, req *kiokuv1.SetParamsRequest) (*kiokuv1.SetParamsResponse, error) {
	c, err := s.of(ctx, rightOwner, checkAgentName("member", req.GetMember()), checkParams(req.GetParams()),
		checkSize("reason", req.GetReason(), maxCouncilText))
	if err != nil {
		return nil, err
	}
	p, err := c.SetParams(ctx, req.GetMember(), council.Params(req.GetParams()), s.author(ctx, nil), req.GetReason())
	if err != nil {
		return nil, err
	}
	return &kiokuv1.SetParamsResponse{Params: p.Known()}, nil
}

// checkParams refuses parameters that are unknown or out of range, and an empty list.
func checkParams(p map[string]float64) error {
	if len(p) == 0 {
		return badField("params", "is empty; name at least one of %v", council.ParamNames)
	}
	known := council.Params{}.Known()
	for name := range p {
		if _, ok := known[name]; !ok {
			return badField("params", "has %q; parameters are %v", clip(name, 80), council.ParamNames)
		}
	}
	return council.CheckParams(p)
}

// RollbackParams takes the last change back.
func (s councilService) RollbackParams(ctx context.Context, req *kiokuv1.RollbackParamsRequest) (*kiokuv1.RollbackParamsResponse, error) {
	c, err := s.of(ctx, rightOwner, checkAgentName("member", req.GetMember()))
	if err != nil {
		return nil, err
	}
	p, err := c.Rollback(ctx, req.GetMember(), s.author(ctx, nil))
	if err != nil {
		return nil, err
	}
	return &kiokuv1.RollbackParamsResponse{Params: p.Known()}, nil
}

// StartEvaluation has the members rate each other.
func (s councilService) StartEvaluation(ctx context.Context, _ *kiokuv1.StartEvaluationRequest) (*kiokuv1.StartEvaluationResponse, error) {
	c, err := s.of(ctx, rightOwner)
	if err != nil {
		return nil, err
	}
	id, err := c.StartEvaluation(ctx, s.author(ctx, nil))
	if err != nil {
		return nil, err
	}
	return &kiokuv1.StartEvaluationResponse{CycleId: id}, nil
}

// ListEvaluations lists evaluation cycles.
func (s councilService) ListEvaluations(ctx context.Context, req *kiokuv1.ListEvaluationsRequest) (*kiokuv1.ListEvaluationsResponse, error) {
	c, err := s.of(ctx, rightRead, checkCount("limit", req.GetLimit()))
	if err != nil {
		return nil, err
	}
	list, err := c.Evaluations(ctx, limitOf(req.GetLimit(), 20))
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ListEvaluationsResponse{Evaluations: fit(convertAll(list, councilEvaluation), maxAnswer)}, nil
}

// GetEvaluation returns an evaluation cycle.
func (s councilService) GetEvaluation(ctx context.Context, req *kiokuv1.GetEvaluationRequest) (*kiokuv1.GetEvaluationResponse, error) {
	c, err := s.of(ctx, rightRead, checkID("id", req.GetId()))
	if err != nil {
		return nil, err
	}
	e, err := c.Evaluation(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return &kiokuv1.GetEvaluationResponse{Evaluation: councilEvaluation(e)}, nil
}

// NextTurn returns the turn of a remote member.
func (s councilService) NextTurn(ctx context.Context, req *kiokuv1.NextTurnRequest) (*kiokuv1.NextTurnResponse, error) {
	c, err := s.of(ctx, rightMember+req.GetMember(), checkAgentName("member", req.GetMember()))
	if err != nil {
		return nil, err
	}
	t, err := c.NextTurn(ctx, req.GetMember())
	if err != nil || t == nil {
		return &kiokuv1.NextTurnResponse{}, err
	}
	return &kiokuv1.NextTurnResponse{Turn: &kiokuv1.CouncilTurn{
		Lease: t.Lease, Phase: t.Phase, TaskId: t.TaskID, Round: int32Of(t.Round), Attempt: int32Of(t.Attempt), System: t.System,
		Prompt: t.Prompt, Schema: string(t.Schema), LeaseUntilTime: kiokuv1.TimeOf(t.LeaseUntil),
	}}, nil
}

// maxTurnReply is the size of an answer of a remote member in bytes.
const maxTurnReply = 256 << 10

// SubmitTurn answers a turn.
func (s councilService) SubmitTurn(ctx context.Context, req *kiokuv1.SubmitTurnRequest) (*kiokuv1.SubmitTurnResponse, error) {
	c, err := s.of(ctx, rightMember+req.GetMember(), checkAgentName("member", req.GetMember()), checkKey("lease", req.GetLease()),
		checkSize("reply", req.GetReply(), maxTurnReply))
	if err != nil {
		return nil, err
	}
	return &kiokuv1.SubmitTurnResponse{}, c.SubmitTurn(ctx, req.GetMember(), req.GetLease(), engine.RemoteReply{
		Text: []byte(req.GetReply()), TokensIn: int(req.GetInputTokenCount()), TokensOut: int(req.GetOutputTokenCount()),
	})
}

// RenewTurn renews a lease.
func (s councilService) RenewTurn(ctx context.Context, req *kiokuv1.RenewTurnRequest) (*kiokuv1.RenewTurnResponse, error) {
	c, err := s.of(ctx, rightMember+req.GetMember(), checkAgentName("member", req.GetMember()), checkKey("lease", req.GetLease()))
	if err != nil {
		return nil, err
	}
	until, err := c.RenewTurn(ctx, req.GetMember(), req.GetLease())
	if err != nil {
		return nil, err
	}
	return &kiokuv1.RenewTurnResponse{LeaseUntilTime: kiokuv1.TimeOf(until)}, nil
}
