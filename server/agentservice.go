package server

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"kioku/agent/bootstrap"
	"kioku/agent/flush"
	"kioku/agent/prompt"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm"
	kiokuv1 "kioku/proto/kioku/v1"
)

const (
	// maxBlocks is the maximum number of blocks of a prompt, and maxBlockBytes that of the bytes of their texts.
	maxBlocks     = 64
	maxBlockBytes = 512 << 10
)

// agentService implements kioku.v1.AgentService.
type agentService struct {
	kiokuv1.UnimplementedAgentServiceServer
	*Server
}

// AssemblePrompt makes the system prompt of a turn, unless a council has paused the agent.
func (s agentService) AssemblePrompt(ctx context.Context, req *kiokuv1.AssemblePromptRequest) (*kiokuv1.AssemblePromptResponse, error) {
	turn, bad := s.turnOf(req)
	side, err := authorize(ctx, s.sidecars, req, bad)
	if err != nil {
		return nil, err
	}
	if turn, err = side.Obey(ctx, turn); err != nil {
		return nil, err
	}
	if turn.Shared, err = s.sharedAgents(ctx, req.GetAgent(), req.GetSharedAgents(), side.Shared()); err != nil {
		return nil, err
	}
	if turn.Recent, err = s.recentOf(ctx, req.GetAgent(), req.GetSession(), req.GetMessage(), req.GetContext()); err != nil {
		return nil, err
	}
	s.markTurn(ctx, req.GetAgent(), turn)
	resp := PromptResponse(side.Assemble(ctx, turn), s.searchProblem)
	resp.Directives = turn.Directives
	return resp, nil
}

// turnOf returns the turn of a request, without its shared agents.
func (s *Server) turnOf(req *kiokuv1.AssemblePromptRequest) (sidecar.Turn, error) {
	now, err := readTimestamp("ask_time", req.GetAskTime())
	t := sidecar.Turn{
		Message: req.GetMessage(), Mode: bootstrap.Mode(req.GetMode()), Channel: req.GetChannel(), Group: req.Group, Model: req.GetModel(),
		Budget: int(req.GetBudgetTokens()), CacheFriendly: req.CacheFriendly,
		NoTools: req.GetNoMemoryTools(), NoRecall: req.GetNoRecall(), Now: s.inZone(now), Session: req.GetSession(),
		Author: authorOf(req.GetAuthor()),
	}
	err = cmp.Or(err, checkName("channel", req.GetChannel()), checkAuthor("author", req.GetAuthor()), checkName("session", req.GetSession()), checkName("model", req.GetModel()), checkCount("budget_tokens", req.GetBudgetTokens()))
	if err != nil {
		return t, err
	}
	if t.Mode != "" && !t.Mode.Valid() {
		return t, badField("mode", "must be full, minimal or none, not %q", clip(req.GetMode(), 50))
	}
	t.Blocks, err = blocksOf(req.GetBlocks())
	return t, err
}

// blocksOf returns the parts of a prompt that the caller adds.
func blocksOf(list []*kiokuv1.PromptBlock) ([]prompt.Block, error) {
	if len(list) > maxBlocks {
		return nil, badField("blocks", "has %d blocks; at most %d", len(list), maxBlocks)
	}
	var out []prompt.Block
	size := 0
	for i, b := range list {
		if err := checkKey(fmt.Sprintf("blocks[%d].name", i), b.GetName()); err != nil {
			return nil, err
		}
		if size += len(b.GetText()); size > maxBlockBytes {
			return nil, badField("blocks", "have more than %d bytes of text", maxBlockBytes)
		}
		out = append(out, prompt.Block{Name: strings.TrimSpace(b.GetName()), Text: b.GetText(), Volatile: b.GetChanging()})
	}
	return out, nil
}

// Recall searches memory for a user's message, unless a council has paused the agent.
func (s agentService) Recall(ctx context.Context, req *kiokuv1.RecallRequest) (*kiokuv1.RecallResponse, error) {
	now, bad := readTimestamp("ask_time", req.GetAskTime())
	side, err := authorize(ctx, s.sidecars, req, bad, checkName("channel", req.GetChannel()), checkName("session", req.GetSession()), checkAuthor("author", req.GetAuthor()))
	if err != nil {
		return nil, err
	}
	turn := sidecar.Turn{Message: req.GetMessage(), Channel: req.GetChannel(), Group: req.Group, Now: s.inZone(now), Session: req.GetSession(),
		Author: authorOf(req.GetAuthor()), Standing: req.GetStanding()}
	if turn.Shared, err = s.sharedAgents(ctx, req.GetAgent(), req.GetSharedAgents(), side.Shared()); err != nil {
		return nil, err
	}
	if turn, err = side.Obey(ctx, turn); err != nil {
		return nil, err
	}
	if turn.Recent, err = s.recentOf(ctx, req.GetAgent(), req.GetSession(), req.GetMessage(), req.GetContext()); err != nil {
		return nil, err
	}
	s.markTurn(ctx, req.GetAgent(), turn)
	found, block := side.Recall(ctx, turn)
	return &kiokuv1.RecallResponse{Report: recallReport(found, found.Memories, nil, s.searchProblem), Block: block}, nil
}

// Prune plans which old tool results to shorten.
func (s agentService) Prune(ctx context.Context, req *kiokuv1.PruneRequest) (*kiokuv1.PruneResponse, error) {
	touched, bad := readTimestamp("last_touch_time", req.GetLastTouchTime())
	side, err := authorize(ctx, s.sidecars, req, bad, checkCount("window_tokens", req.GetWindowTokens()))
	if err != nil {
		return nil, err
	}
	c, err := s.conversation(ctx, req, false)
	if err != nil {
		return nil, err
	}
	st := prune.State{LastTouch: touched, Window: int(req.GetWindowTokens()), Edits: c.edits(req.GetEdits())}
	plan := side.Prune(c.messages, st, time.Time{})
	return &kiokuv1.PruneResponse{
		Edits: c.pruneEdits(plan.Edits, plan.New), LastTouchTime: kiokuv1.TimeOf(plan.LastTouch),
		CharsBefore: int32Of(plan.Before), CharsAfter: int32Of(plan.After), Reason: plan.Reason,
	}, nil
}

// Compact summarizes old messages.
func (s agentService) Compact(ctx context.Context, req *kiokuv1.CompactRequest) (*kiokuv1.CompactResponse, error) {
	side, err := authorize(ctx, s.sidecars, req,
		checkName("session", req.GetSession()), checkCount("window_tokens", req.GetWindowTokens()), checkCount("keep_recent_tokens", req.GetKeepRecentTokens()))
	if err != nil {
		return nil, err
	}
	c, err := s.conversation(ctx, req, false)
	if err != nil {
		return nil, err
	}
	view := c.sessionView(side.Count)
	done, _, err := side.Compact(ctx, req.GetSession(), view, sidecar.Space{Keep: int(req.GetKeepRecentTokens()), Window: int(req.GetWindowTokens())})
	if why := nothingToCompact(err); why != "" {
		resp := &kiokuv1.CompactResponse{Outcome: kiokuv1.OutcomeNothing, TokensBefore: int32Of(view.Tokens), Reason: why}
		resp.TokensAfter = resp.TokensBefore
		return resp, nil
	}
	if err != nil {
		return nil, err
	}
	return s.compacted(ctx, req.GetAgent(), req.GetSession(), done, side.FlushOff()), nil
}

// compactResponse returns a compaction as the service returns it. off says why flushes are impossible, empty if they are
// possible.
func compactResponse(done session.Compaction, name, off string) *kiokuv1.CompactResponse {
	resp := &kiokuv1.CompactResponse{
		Summary: done.Summary, FirstKeptId: done.FirstKept, Message: chatMessage(session.SummaryMessage(done.Summary)),
		TokensBefore: int32Of(done.TokensBefore), TokensAfter: int32Of(done.TokensAfter), Outcome: kiokuv1.OutcomeCompacted,
	}
	resp.Message.Id = flush.SummaryID(resp.Message.Text)
	if name != "" && off != "" {
		resp.Reason = "messages were dropped without a flush: " + off
	}
	return resp
}

// sessionView returns the conversation as a session would.
func (c *conversation) sessionView(count func(string) int) session.View {
	v := session.View{IDs: c.ids, Messages: c.messages, By: c.by}
	if len(c.ids) > 0 && flush.IsSummary(flush.Message{ID: c.ids[0], Message: c.messages[0]}) {
		v.Compactions = 1
	}
	for _, m := range v.Named() {
		n := llm.MessageTokens(count, m)
		v.Counts = append(v.Counts, n)
		v.Tokens += n
	}
	return v
}
