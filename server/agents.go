package server

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku"
	"kioku/search"
)

// errNoAgent answers alike for an agent that is not there and for one that the caller may not reach.
var errNoAgent = status.Error(codes.NotFound, "no such agent; ListAgents lists those that you may reach")

// caller is who calls, and what they may do. The zero caller may do nothing.
type caller struct {
	// name of the token, empty where none was needed.
	name string
	// agents that may be reached; everyone reaches all of them.
	agents   []string
	everyone bool
	write    bool
}

// owner is a caller that needs no token: the user who runs the server.
var owner = caller{everyone: true, write: true}

func (c caller) reaches(agent string) bool { return c.everyone || slices.Contains(c.agents, agent) }

type callerKey struct{}

func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// memory returns an agent's memory to those who may reach it. Handlers have no other way to one.
func (s *Server) memory(ctx context.Context, agent string) (Memory, error) {
	if agent == "" {
		return nil, &search.InputError{Field: "agent", Problem: "is required" + s.known(ctx)}
	}
	if err := kioku.CheckAgent(agent); err != nil {
		return nil, err
	}
	m, ok := s.opt.Agents[agent]
	if !ok || !callerOf(ctx).reaches(agent) {
		return nil, errNoAgent
	}
	return m, nil
}

// writable is memory for calls that change something.
func (s *Server) writable(ctx context.Context, agent string) (Memory, error) {
	m, err := s.memory(ctx, agent)
	if err != nil {
		return nil, err
	}
	if !callerOf(ctx).write {
		return nil, status.Error(codes.PermissionDenied, "this token may read but not write; set write: true for it in the token file")
	}
	return m, nil
}

// reachable returns the ids of the agents that the caller may reach, sorted.
func (s *Server) reachable(ctx context.Context) []string {
	c := callerOf(ctx)
	var ids []string
	for _, id := range s.ids {
		if c.reaches(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// known names the first of the agents that the caller may reach.
func (s *Server) known(ctx context.Context) string {
	ids := s.reachable(ctx)
	if len(ids) == 0 {
		return ""
	}
	const most = 10
	if len(ids) > most {
		ids = append(slices.Clone(ids[:most]), "...")
	}
	return "; you may reach: " + strings.Join(ids, ", ")
}
