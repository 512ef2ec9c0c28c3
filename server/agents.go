package server

import (
	"context"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku"
	"kioku/memory"
)

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
	return reach(ctx, s.opt.Agents, agent)
}

// writable is memory for calls that change something.
func (s *Server) writable(ctx context.Context, agent string) (Memory, error) {
	return reachToWrite(ctx, s.opt.Agents, agent)
}

// reach returns what belongs to an agent to those who may reach the agent.
func reach[T any](ctx context.Context, of map[string]T, agent string) (T, error) {
	var none T
	if agent == "" {
		return none, &memory.InputError{Field: "agent", Problem: "is required" + known(reachable(ctx, of))}
	}
	if err := kioku.CheckAgent(agent); err != nil {
		return none, err
	}
	one, ok := of[agent]
	if !ok || !callerOf(ctx).reaches(agent) {
		return none, memory.ErrNoAgent
	}
	return one, nil
}

// reachToWrite is reach for calls that change something.
func reachToWrite[T any](ctx context.Context, of map[string]T, agent string) (T, error) {
	one, err := reach(ctx, of, agent)
	if err == nil && !callerOf(ctx).write {
		var none T
		return none, status.Error(codes.PermissionDenied, "this token may read but not write; set write: true for it in the token file")
	}
	return one, err
}

// reachable returns the ids of the agents that the caller may reach, sorted.
func reachable[T any](ctx context.Context, of map[string]T) []string {
	c := callerOf(ctx)
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(of)) {
		if c.reaches(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// known names the first of some agents.
func known(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	const most = 10
	if len(ids) > most {
		ids = append(slices.Clone(ids[:most]), "...")
	}
	return "; you may reach: " + strings.Join(ids, ", ")
}
