package server

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"kioku"
	"kioku/memory"
)

const healthService = "/grpc.health.v1.Health/"

// authenticate returns the caller of a method, or Unauthenticated. Without tokens everyone is the owner. A health check needs
// no token and gets no rights.
func authenticate(ctx context.Context, tokens *Tokens, method string) (caller, error) {
	if tokens == nil {
		return owner, nil
	}
	if strings.HasPrefix(method, healthService) {
		return caller{}, nil
	}
	token, err := bearer(ctx)
	if err != nil {
		return caller{}, err
	}
	c, ok := tokens.caller(token)
	if !ok {
		return caller{}, status.Error(codes.Unauthenticated, "unknown token")
	}
	return c, nil
}

// bearer returns the token that a call carries.
func bearer(ctx context.Context) (string, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	values := md.Get("authorization")
	if len(values) != 1 {
		return "", status.Error(codes.Unauthenticated, `a token is required: send metadata "authorization: Bearer <token>" once`)
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "bearer") || token == "" {
		return "", status.Error(codes.Unauthenticated, `metadata "authorization" must be "Bearer <token>"`)
	}
	return token, nil
}

// caller is who calls, and what they may do. The zero caller may do nothing.
type caller struct {
	// name of the token, empty if none was needed.
	name string
	// agents that the caller may reach; everyone means all.
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

// authorize returns the memory or sidecar of an agent if the caller may reach the agent, or the first error of checks of the
// request. Handlers have no other way to one.
func authorize[T any](ctx context.Context, of map[string]T, agent string, checks ...error) (T, error) {
	var none T
	if agent == "" {
		return none, &memory.InputError{Field: "agent", Problem: "is required" + knownAgents(reachable(ctx, of))}
	}
	if err := kioku.CheckAgent(agent); err != nil {
		return none, err
	}
	one, ok := of[agent]
	if !ok || !callerOf(ctx).reaches(agent) {
		return none, memory.ErrNoAgent
	}
	return one, cmp.Or(checks...)
}

// authorizeWrite is authorize for calls that change something.
func authorizeWrite[T any](ctx context.Context, of map[string]T, agent string, checks ...error) (T, error) {
	one, err := authorize(ctx, of, agent)
	if err == nil && !callerOf(ctx).write {
		err = status.Error(codes.PermissionDenied, "this token may read but not write; set write: true for it in the token file")
	}
	return one, cmp.Or(append([]error{err}, checks...)...)
}

// reachable returns the ids of the agents that the caller may reach, sorted.
func reachable[T any](ctx context.Context, of map[string]T) []string {
	c := callerOf(ctx)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(of)), func(id string) bool { return !c.reaches(id) })
}

// knownAgents names the first agents of a list for an error.
func knownAgents(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	const most = 10
	if len(ids) > most {
		ids = append(slices.Clone(ids[:most]), "...")
	}
	return "; you may reach: " + strings.Join(ids, ", ")
}
