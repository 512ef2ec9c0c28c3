package server

import (
	"context"
	"errors"

	"kioku/derive/unit"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// Deriver keeps what is derived from the notes of one agent, as the server needs it; *derive.Service is one.
type Deriver interface {
	List(ctx context.Context, q memory.UnitQuery, words string) (memory.UnitList, error)
	Unit(ctx context.Context, id string, ceiling memory.Sensitivity) (memory.Unit, error)
	History(ctx context.Context, id string, ceiling memory.Sensitivity) ([]unit.Version, error)
	Entities(ctx context.Context, f unit.EntityFilter) (unit.EntityList, error)
	Decide(ctx context.Context, r unit.DecisionRequest) (unit.Decided, error)
	Status(ctx context.Context) (unit.DeriveStatus, error)
	Estimate(ctx context.Context, all bool) (unit.DeriveEstimate, error)
	Run(ctx context.Context, all bool, step func(unit.DeriveProgress)) error
	Retry(ctx context.Context, id int64) (int, error)
}

// deriveService implements kioku.v1.DeriveService.
type deriveService struct {
	kiokuv1.UnimplementedDeriveServiceServer
	*Server
}

// deriver returns what derives for the agent of a request that only reads.
func (s deriveService) deriver(ctx context.Context, req agentRequest, checks ...error) (Deriver, error) {
	if _, err := authorize(ctx, s.opt.Agents, req, checks...); err != nil {
		return nil, err
	}
	return s.derivers(req)
}

// writingDeriver returns what derives for the agent of a request that changes something.
func (s deriveService) writingDeriver(ctx context.Context, req agentRequest, checks ...error) (Deriver, error) {
	if _, err := authorizeWrite(ctx, s.opt.Agents, req, checks...); err != nil {
		return nil, err
	}
	return s.derivers(req)
}

// derivers returns what derives for the agent of a request that was authorized.
func (s deriveService) derivers(req agentRequest) (Deriver, error) {
	if d, ok := s.opt.Derivers[req.GetAgent()]; ok {
		return d, nil
	}
	return nil, memory.ErrDeriveOff
}

// sensitiveRequest is a request that names a ceiling.
type sensitiveRequest interface {
	agentRequest
	GetMaxSensitivity() string
}

// deriverUpTo returns what derives for the agent of a request, and the ceiling of the request. Secrets need the right to write.
func (s deriveService) deriverUpTo(ctx context.Context, req sensitiveRequest, checks ...error) (Deriver, memory.Sensitivity, error) {
	ceiling, bad := readSensitivity("max_sensitivity", req.GetMaxSensitivity(), memory.Private)
	reach := s.deriver
	if ceiling == memory.Secret {
		reach = s.writingDeriver
	}
	d, err := reach(ctx, req, append([]error{bad}, checks...)...)
	return d, ceiling, err
}

// readSensitivity returns the sensitivity that a field names, and another one if the field is empty.
func readSensitivity(field, name string, unset memory.Sensitivity) (memory.Sensitivity, error) {
	if name == "" {
		return unset, nil
	}
	if s, ok := memory.ParseSensitivity(name); ok {
		return s, nil
	}
	return unset, badField(field, "must be normal, private or secret, not %q", clip(name, 50))
}

// ListUnits lists facts, loops and summaries.
func (s deriveService) ListUnits(ctx context.Context, req *kiokuv1.ListUnitsRequest) (*kiokuv1.ListUnitsResponse, error) {
	q, bad := s.unitQueryOf(req)
	d, ceiling, err := s.deriverUpTo(ctx, req, bad, checkSize("query", req.GetQuery(), maxUnitQuery))
	if err != nil {
		return nil, err
	}
	q.MaxSensitivity = ceiling
	list, err := d.List(ctx, q, req.GetQuery())
	if err != nil {
		return nil, err
	}
	resp := &kiokuv1.ListUnitsResponse{TotalCount: int32Of(list.Total), WithheldCount: int32Of(list.Withheld), Next: list.Next}
	resp.Units = fit(convertAll(list.Units, unitMessage), maxAnswer)
	if n := len(resp.Units); n > 0 && n < len(list.Units) {
		resp.Next = resp.Units[n-1].Id
	}
	return resp, nil
}

// GetUnit returns a unit.
func (s deriveService) GetUnit(ctx context.Context, req *kiokuv1.GetUnitRequest) (*kiokuv1.GetUnitResponse, error) {
	d, ceiling, err := s.deriverUpTo(ctx, req, checkKey("id", req.GetId()))
	if err != nil {
		return nil, err
	}
	u, err := d.Unit(ctx, req.GetId(), ceiling)
	if err != nil {
		return nil, err
	}
	return &kiokuv1.GetUnitResponse{Unit: unitMessage(u)}, nil
}

// UnitHistory lists the versions of a unit.
func (s deriveService) UnitHistory(ctx context.Context, req *kiokuv1.UnitHistoryRequest) (*kiokuv1.UnitHistoryResponse, error) {
	d, ceiling, err := s.deriverUpTo(ctx, req, checkKey("id", req.GetId()))
	if err != nil {
		return nil, err
	}
	versions, err := d.History(ctx, req.GetId(), ceiling)
	if err != nil {
		return nil, err
	}
	resp := &kiokuv1.UnitHistoryResponse{}
	for _, v := range versions {
		one, err := unitVersion(v)
		if err != nil {
			return nil, err
		}
		resp.Versions = append(resp.Versions, one)
	}
	resp.Versions = fit(resp.Versions, maxAnswer)
	return resp, nil
}

// ListEntities lists entities, and those that are likely the same.
func (s deriveService) ListEntities(ctx context.Context, req *kiokuv1.ListEntitiesRequest) (*kiokuv1.ListEntitiesResponse, error) {
	d, ceiling, err := s.deriverUpTo(ctx, req, checkName("type", req.GetType()), checkName("name", req.GetName()), checkLimit(req.GetLimit()))
	if err != nil {
		return nil, err
	}
	list, err := d.Entities(ctx, unit.EntityFilter{Type: req.GetType(), Name: req.GetName(), Limit: int(req.GetLimit()), MaxSensitivity: ceiling})
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ListEntitiesResponse{
		Entities: fit(convertAll(list.Entities, entity), maxAnswer/2), Twins: fit(convertAll(list.Twins, twins), maxAnswer/4),
	}, nil
}

// DeriveStatus tells how much is derived and what waits. It also answers for an agent for which derivation is off.
func (s deriveService) DeriveStatus(ctx context.Context, req *kiokuv1.DeriveStatusRequest) (*kiokuv1.DeriveStatusResponse, error) {
	d, err := s.deriver(ctx, req)
	if errors.Is(err, memory.ErrDeriveOff) {
		return &kiokuv1.DeriveStatusResponse{Problem: err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	return statusOf(ctx, d)
}

// statusOf returns the status of what derives.
func statusOf(ctx context.Context, d Deriver) (*kiokuv1.DeriveStatusResponse, error) {
	st, err := d.Status(ctx)
	if err != nil {
		return nil, err
	}
	return deriveStatus(st), nil
}

// EstimateDerive tells what a run would send to the model.
func (s deriveService) EstimateDerive(ctx context.Context, req *kiokuv1.EstimateDeriveRequest) (*kiokuv1.EstimateDeriveResponse, error) {
	d, err := s.deriver(ctx, req)
	if err != nil {
		return nil, err
	}
	e, err := d.Estimate(ctx, req.GetAll())
	if err != nil {
		return nil, err
	}
	return &kiokuv1.EstimateDeriveResponse{
		Model: e.Model, EpisodeCount: int32Of(e.Episodes), CallCount: int32Of(e.Calls), InputTokens: int64(e.TokensIn), OutputTokens: int64(e.TokensOut),
		WithheldCount: int32Of(e.Withheld), DayCount: int32Of(e.Days), SummaryCount: int32Of(e.Summaries),
	}, nil
}

// RetryJob puts parked jobs back into the queue.
func (s deriveService) RetryJob(ctx context.Context, req *kiokuv1.RetryJobRequest) (*kiokuv1.RetryJobResponse, error) {
	d, err := s.writingDeriver(ctx, req, checkCount("id", req.GetId()))
	if err != nil {
		return nil, err
	}
	n, err := d.Retry(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return &kiokuv1.RetryJobResponse{JobCount: int32Of(n)}, nil
}
