package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"kioku"
	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/recall"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/agent/turns"
	"kioku/llm"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// Sidecar is what runs beside one agent as the server needs it; *sidecar.Sidecar is one.
type Sidecar interface {
	// Shared returns the other agents that a turn searches if it names none.
	Shared() []string
	// Obey returns the turn with the directives of the agent's council, or a *sidecar.PausedError.
	Obey(ctx context.Context, t sidecar.Turn) (sidecar.Turn, error)
	Assemble(ctx context.Context, t sidecar.Turn) sidecar.Prompt
	Recall(ctx context.Context, t sidecar.Turn) (recall.Outcome, string)

	Check(sessionID string, v session.View, st flush.State) (sidecar.Check, error)
	// Resume continues commits that were interrupted.
	Resume(ctx context.Context, sessionID string) error
	Begin(ctx context.Context, req flush.Request) (sidecar.Begun, error)
	Commit(ctx context.Context, lease string, answer flush.Answer) (flush.Committed, error)
	Flush(ctx context.Context, job flush.Job) flush.Outcome
	// End stores what is worth keeping of a session that has ended, and Spool has the messages of several on disk.
	End(ctx context.Context, job flush.Job) flush.Outcome
	Spool(ctx context.Context, sessions []flush.Request) error
	// MarkGroup records that a group is in a session, and GroupOf returns the channel of the last one.
	MarkGroup(ctx context.Context, sessionID, channel string) error
	GroupOf(sessionID string) (string, error)
	// IdleAfter returns the time after which a session counts as ended; 0 means never.
	IdleAfter() time.Duration
	// FlushOff says why flushes are impossible; empty if they are possible.
	FlushOff() string

	// Prune uses the clock if now is zero.
	Prune(messages []llm.Message, st prune.State, now time.Time) prune.Plan
	// Count counts the tokens of a text as Compact does.
	Count(text string) int
	Compact(ctx context.Context, sessionID string, v session.View, space sidecar.Space) (session.Compaction, llm.Usage, error)

	// BeginCompact and CommitCompact are Compact for an agent's own model.
	BeginCompact(sessionID string, v session.View, space sidecar.Space) (sidecar.Step, error)
	CommitCompact(lease string, number int, answer compact.Answer) (sidecar.Step, error)

	// Tools describes the memory tools, and CallTool runs one.
	Tools(group bool) []llm.Tool
	CallTool(ctx context.Context, c sidecar.ToolCall) (json.RawMessage, error)

	// Tend flushes the sessions that have ended until ctx ends.
	Tend(ctx context.Context) error

	// Turns is the record of the agent's turns.
	Turns() *turns.Log
}

// AddSidecars adds sidecars, by agent id, to a server that does not serve yet; AgentService provides them. It returns an error
// if there are none, if an id is not an agent's, if the server has memories but none of this agent, and for a second call.
func (s *Server) AddSidecars(sidecars map[string]Sidecar) error {
	if len(sidecars) == 0 {
		return errors.New("no sidecar is given")
	}
	if s.sidecars != nil {
		return errors.New("the server has its sidecars already")
	}
	if err := checkAgents(sidecars); err != nil {
		return err
	}
	for id := range sidecars {
		if !s.mayServe(id) {
			return fmt.Errorf("the sidecar of %q has no memory beside it", id)
		}
	}
	s.sidecars = maps.Clone(sidecars)
	s.health.SetServingStatus(kiokuv1.AgentService_ServiceDesc.ServiceName, healthpb.HealthCheckResponse_SERVING)
	return nil
}

// mayServe reports whether an agent may have a memory. A server without memories does not know: another server has them.
func (s *Server) mayServe(agent string) bool {
	_, ok := s.opt.Agents[agent]
	return ok || len(s.opt.Agents) == 0
}

// maxShared is the maximum number of agents that are searched beside an agent's own.
const maxShared = 16

// sharedAgents returns the agents to search beside an agent's own: the requested ones, all of which the caller must reach,
// else the configured ones that the caller reaches. It never returns nil, so that a sidecar adds none by itself.
func (s *Server) sharedAgents(ctx context.Context, agent string, requested, configured []string) ([]string, error) {
	if len(requested) > maxShared {
		return nil, badField("shared_agents", "has %d agents; at most %d", len(requested), maxShared)
	}
	unreachable := func(id string) bool { return !s.mayServe(id) || !callerOf(ctx).reaches(id) }
	if len(requested) == 0 {
		return slices.DeleteFunc(append([]string{}, configured...), unreachable), nil
	}
	for i, id := range requested {
		field := fmt.Sprintf("shared_agents[%d]", i)
		var input *memory.InputError
		switch err := kioku.CheckAgent(id); {
		case errors.As(err, &input):
			return nil, badField(field, "%s", input.Problem)
		case unreachable(id):
			return nil, memory.ErrNoAgent
		case id == agent:
			return nil, badField(field, "is the agent itself, whose memory is searched anyway")
		case slices.Contains(requested[:i], id):
			return nil, badField(field, "is there twice")
		}
	}
	return requested, nil
}
