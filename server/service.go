package server

import (
	"cmp"
	"context"
	"errors"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// service implements kioku.v1.MemoryService.
type service struct {
	kiokuv1.UnimplementedMemoryServiceServer
	*Server
}

// MemorySearch answers a query.
func (s service) MemorySearch(ctx context.Context, req *kiokuv1.MemorySearchRequest) (*kiokuv1.MemorySearchResponse, error) {
	q, bad := s.queryOf(req)
	m, err := s.searchable(ctx, req, q, bad)
	if err != nil {
		return nil, err
	}
	answer, err := m.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	resp := searchResponse(answer)
	fitAnswer(resp)
	return resp, nil
}

// searchable returns the memory of a search. Secrets are for who may write.
func (s service) searchable(ctx context.Context, req *kiokuv1.MemorySearchRequest, q memory.Query, bad error) (Memory, error) {
	if q.MaxSensitivity != nil && *q.MaxSensitivity == memory.Secret {
		return authorizeWrite(ctx, s.opt.Agents, req, bad)
	}
	return authorize(ctx, s.opt.Agents, req, bad)
}

// queryOf returns the query of a request. The memory checks its other fields.
func (s *Server) queryOf(req *kiokuv1.MemorySearchRequest) (memory.Query, error) {
	asked, err := readTimestamp("ask_time", req.GetAskTime())
	asOf, badAsOf := readTimestamp("as_of_time", req.GetAsOfTime())
	ceiling, badCeiling := readSensitivity("max_sensitivity", req.GetMaxSensitivity(), memory.Private)
	q := memory.Query{
		Text: req.GetQuery(), MaxResults: int(req.GetMaxResults()), MinScore: req.MinScore, Explain: req.GetExplain(),
		Granularity: req.GetGranularity(), SnippetChars: int(req.GetMaxSnippetChars()), MaxPerFile: int(req.GetMaxPerFile()), Now: s.inZone(asked),
		Filter: memory.Filter{
			Sources: req.GetSources(), PathPrefix: req.GetPathPrefix(), Since: req.GetSince(), Until: req.GetUntil(),
			Where: convertAll(req.GetFilter(), condition),
		},
		Context: convertAll(req.GetContext(), turnOf), Queries: req.GetQueries(), Kinds: req.GetKinds(), AsOf: asOf, IncludeSuperseded: req.GetIncludeSuperseded(), Clauses: req.GetClauses(),
	}
	if req.GetMaxSensitivity() != "" {
		q.MaxSensitivity = &ceiling
	}
	return q, cmp.Or(err, badAsOf, badCeiling, q.CheckRecall())
}

// turnOf returns a message of a conversation.
func turnOf(t *kiokuv1.ConversationTurn) memory.Turn {
	return memory.Turn{Speaker: t.GetSpeaker(), Text: t.GetText()}
}

// Explain reports the outcome for a passage.
func (s service) Explain(ctx context.Context, req *kiokuv1.ExplainRequest) (*kiokuv1.ExplainResponse, error) {
	if req.GetSearch() == nil {
		return nil, &memory.InputError{Field: "search", Problem: "is required"}
	}
	q, bad := s.queryOf(req.Search)
	m, err := s.searchable(ctx, req.Search, q, bad)
	if err != nil {
		return nil, inSearch(err)
	}
	q.Explain = true
	explained, err := m.Explain(ctx, q, req.GetPath(), int(req.GetLine()))
	if err != nil {
		return nil, inSearch(err)
	}
	resp := explainResponse(explained)
	fitAnswer(resp.Answer)
	return resp, nil
}

// inSearch names a bad field as a field of the search to explain.
func inSearch(err error) error {
	var input *memory.InputError
	if !errors.As(err, &input) || input.Field == "path" || input.Field == "line" {
		return err
	}
	return &memory.InputError{Field: "search." + input.Field, Problem: input.Problem}
}

// MemoryGet returns lines of a file.
func (s service) MemoryGet(ctx context.Context, req *kiokuv1.MemoryGetRequest) (*kiokuv1.MemoryGetResponse, error) {
	m, err := authorize(ctx, s.opt.Agents, req)
	if err != nil {
		return nil, err
	}
	got, err := m.Get(ctx, memory.GetRequest{Path: req.GetPath(), From: int(req.GetFromLine()), Lines: int(req.GetLineCount())})
	if err != nil {
		return nil, err
	}
	return getResponse(got), nil
}

// Status describes the index of an agent.
func (s service) Status(ctx context.Context, req *kiokuv1.StatusRequest) (*kiokuv1.StatusResponse, error) {
	m, err := authorize(ctx, s.opt.Agents, req)
	if err != nil {
		return nil, err
	}
	st, err := m.Status(ctx)
	if err != nil {
		return nil, err
	}
	resp := statusResponse(st)
	resp.Agent, resp.Version = req.GetAgent(), s.opt.Version
	resp.Degraded = append(resp.Degraded, convertAll(s.degradedAudit(), degradation)...)
	if n := s.opt.Network; n != nil {
		resp.Offline, resp.Egress = n.Offline(), convertAll(n.Uses(), egressUse)
	}
	if len(reachable(ctx, s.opt.Agents)) < len(s.opt.Agents) {
		hideOthers(resp)
	}
	return resp, nil
}

// hideOthers removes from a status what tells of other agents too.
func hideOthers(resp *kiokuv1.StatusResponse) {
	resp.Egress, resp.MemoryResidentBytes, resp.MemoryBudgetBytes = nil, 0, 0
}

// ListAgents lists the agents that the caller may reach. If the state of an index cannot be read, its agent has none.
func (s service) ListAgents(ctx context.Context, _ *kiokuv1.ListAgentsRequest) (*kiokuv1.ListAgentsResponse, error) {
	resp := &kiokuv1.ListAgentsResponse{}
	for _, id := range reachable(ctx, s.opt.Agents) {
		m := s.opt.Agents[id]
		agent := &kiokuv1.Agent{Id: id, Workspace: m.Workspace()}
		state, err := m.IndexStats(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			s.opt.Log.Warn("cannot read the state of an index", "agent", id, "err", err)
		default:
			agent.Index = indexState(state)
		}
		resp.Agents = append(resp.Agents, agent)
	}
	return resp, nil
}
