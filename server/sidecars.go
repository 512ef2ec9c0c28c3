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
	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/recall"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// Sidecar is what runs beside one agent as the server needs it; *sidecar.Sidecar is one.
type Sidecar interface {
	Prompter
	Flusher
	Shortener
}

// Prompter makes prompts.
type Prompter interface {
	// Shared are the agents that are searched beside its own where a turn names none.
	Shared() []string
	Assemble(ctx context.Context, t sidecar.Turn) sidecar.Prompt
	Recall(ctx context.Context, t sidecar.Turn) (recall.Outcome, string)
}

// Flusher keeps the books of the flushes that an agent does with its own model.
type Flusher interface {
	Check(sessionID string, cycle int, st flush.State) (sidecar.Check, error)
	// Maintain removes what is kept of ended flushes before a cycle.
	Maintain(sessionID string, cycle int)
	Begin(ctx context.Context, sessionID string, cycle int, holder string, spool []json.RawMessage) (sidecar.Begun, error)
	Commit(ctx context.Context, id, holder string) error
	Abort(ctx context.Context, id, holder, reason string) (left int, err error)
}

// Shortener shortens conversations.
type Shortener interface {
	// Prune takes the clock where now is zero.
	Prune(messages []llm.Message, st prune.State, now time.Time) prune.Plan
	// Count counts the tokens of a text as Compact does.
	Count(text string) int
	Compact(ctx context.Context, v session.View, space sidecar.Space) (session.Compaction, llm.Usage, error)
}

// Beside adds what runs beside the agents, by agent id, to a server that does not serve yet; they are reached through
// AgentService. It returns an error where there are no sidecars, where the id of one cannot be an agent's, where the server has memories
// and none of this agent, and where it was called before.
func (s *Server) Beside(sidecars map[string]Sidecar) error {
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
		if !s.serves(id) {
			return fmt.Errorf("the sidecar of %q has no memory beside it", id)
		}
	}
	s.sidecars = maps.Clone(sidecars)
	s.health.SetServingStatus(kiokuv1.AgentService_ServiceDesc.ServiceName, healthpb.HealthCheckResponse_SERVING)
	return nil
}

// serves reports whether an agent may have a memory, as far as the server knows: where it has none itself, they are with
// another one.
func (s *Server) serves(agent string) bool {
	_, ok := s.opt.Agents[agent]
	return ok || len(s.opt.Agents) == 0
}

// sidecar returns what runs beside an agent to those who may reach the agent. Handlers have no other way to one.
func (s *Server) sidecar(ctx context.Context, agent string) (Sidecar, error) {
	return reach(ctx, s.sidecars, agent)
}

// writableSidecar is sidecar for calls that change something.
func (s *Server) writableSidecar(ctx context.Context, agent string) (Sidecar, error) {
	return reachToWrite(ctx, s.sidecars, agent)
}

// maxShared is the most agents that are searched beside an agent's own.
const maxShared = 16

// shared returns the agents to search beside an agent's own: those that are asked for, every one of which the caller must
// reach, or else those of the settings that the caller reaches. It is never nil, so that a sidecar adds none by itself.
func (s *Server) shared(ctx context.Context, agent string, asked, configured []string) ([]string, error) {
	if len(asked) > maxShared {
		return nil, badField("shared_agents", "has %d agents; at most %d", len(asked), maxShared)
	}
	may := func(id string) bool { return s.serves(id) && callerOf(ctx).reaches(id) }
	list := []string{}
	if len(asked) == 0 {
		for _, id := range configured {
			if may(id) {
				list = append(list, id)
			}
		}
		return list, nil
	}
	for i, id := range asked {
		field := fmt.Sprintf("shared_agents[%d]", i)
		var input *memory.InputError
		switch err := kioku.CheckAgent(id); {
		case errors.As(err, &input):
			return nil, badField(field, "%s", input.Problem)
		case !may(id):
			return nil, memory.ErrNoAgent
		case id == agent:
			return nil, badField(field, "is the agent itself, whose memory is searched anyway")
		case slices.Contains(list, id):
			return nil, badField(field, "is there twice")
		}
		list = append(list, id)
	}
	return list, nil
}
