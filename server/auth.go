package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku"
	"kioku/memory"
)

const healthService = "/grpc.health.v1.Health/"

// authenticate returns the caller of a method and what proves who it is, or Unauthenticated. Where no tokens are needed,
// everyone is the owner. A health check needs no token and gets no rights.
func (s *Server) authenticate(from origin, method string) (caller, credential, error) {
	if from.tokens == nil {
		return owner, credential{}, nil
	}
	if strings.HasPrefix(method, healthService) {
		return caller{}, credential{}, nil
	}
	cred, err := from.proof()
	if err != nil {
		return caller{}, credential{}, err
	}
	if cred.names == nil {
		return s.findToken(from, cred)
	}
	c, ok := from.tokens.find(cred)
	if !ok {
		return caller{}, cred, status.Errorf(codes.Unauthenticated, "no entry of the token file has a name of this certificate (%s)",
			clip(strings.Join(cred.names, ", "), 200))
	}
	return c, cred, nil
}

// findToken returns the caller with a token. A machine that has sent too many wrong ones is told to wait.
func (s *Server) findToken(from origin, cred credential) (caller, credential, error) {
	if c, ok := from.tokens.find(cred); ok {
		return c, cred, nil
	}
	if peer := sha256.Sum256([]byte(s.opt.PeerSecret)); s.opt.PeerSecret != "" && subtle.ConstantTimeCompare(cred.hash[:], peer[:]) == 1 {
		node := owner
		node.name = cmp.Or(from.onBehalf, "another machine")
		return node, cred, nil
	}
	if wait := s.guesses.take(from.connection.machine(), time.Now()); wait > 0 {
		return caller{}, credential{}, retryable(codes.ResourceExhausted,
			"too many wrong tokens came from this machine; correct the token, and wait before the next try", wait)
	}
	return caller{}, credential{}, status.Error(codes.Unauthenticated, "unknown token")
}

// credential is what a caller proves its identity with: a token, or else a certificate.
type credential struct {
	// hash of the token.
	hash [sha256.Size]byte
	// names of the certificate; nil if there is a token.
	names []string
}

// kind returns "token" or "certificate", "" for none.
func (c credential) kind() string {
	switch {
	case c.names != nil:
		return "certificate"
	case c.isZero():
		return ""
	}
	return "token"
}

func (c credential) isZero() bool { return c.hash == [sha256.Size]byte{} && c.names == nil }

// proof returns the token that a call carries, else the certificate of its connection.
func (o origin) proof() (credential, error) {
	if names := o.connection.certificateNames(); len(o.authorization) == 0 && names != nil {
		return credential{names: names}, nil
	}
	if len(o.authorization) != 1 {
		return credential{}, status.Error(codes.Unauthenticated, `a token is required; send "authorization: Bearer <token>" once`)
	}
	scheme, token, _ := strings.Cut(o.authorization[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "bearer") || token == "" {
		return credential{}, status.Error(codes.Unauthenticated, `"authorization" must be "Bearer <token>"`)
	}
	return credential{hash: sha256.Sum256([]byte(token))}, nil
}

// caller is who calls, and what they may do. The zero caller may do nothing.
type caller struct {
	// name of the token or certificate, empty if none was needed.
	name string
	// agents that the caller may reach; everyone means all.
	agents   []string
	everyone bool
	write    bool
	// council are the rights in the council.
	council councilRights
}

// owner is a caller that needs no token: the user who runs the server.
var owner = caller{everyone: true, write: true, council: councilRights{all: true}}

func (c caller) reaches(agent string) bool { return c.everyone || slices.Contains(c.agents, agent) }

func callerOf(ctx context.Context) caller { return currentCall(ctx).caller }

// agentRequest is a request to one agent.
type agentRequest interface {
	GetAgent() string
	SetAgent(string)
}

// OfAgent is the part of a request that names an agent.
type OfAgent struct {
	// Agent is the id of the agent; empty means the only one that the caller may reach.
	Agent string `json:"agent,omitempty"`
}

// GetAgent returns the agent.
func (o *OfAgent) GetAgent() string { return o.Agent }

// SetAgent sets the agent.
func (o *OfAgent) SetAgent(id string) { o.Agent = id }

// among has a memory or sidecar of each of some agents.
type among[T any] interface {
	// of returns that of an agent; ok is false if there is none.
	of(ctx context.Context, agent string) (one T, ok bool, err error)
	// ids returns the agents, sorted.
	ids(ctx context.Context) []string
}

// byAgent is among by the ids of agents.
type byAgent[T any] map[string]T

func (m byAgent[T]) of(_ context.Context, agent string) (one T, ok bool, err error) {
	one, ok = m[agent]
	return one, ok, nil
}

func (m byAgent[T]) ids(context.Context) []string { return slices.Sorted(maps.Keys(m)) }

// authorize returns the memory or sidecar of the agent of a request if the caller may reach the agent, or the first error of
// checks of the request. If the request names no agent and the caller may reach only one, authorize writes its id into the
// request. Handlers have no other way to a memory.
func authorize[T any](ctx context.Context, all among[T], req agentRequest, checks ...error) (T, error) {
	var none T
	agent := req.GetAgent()
	if agent == "" {
		ids := reachable(ctx, all)
		if len(ids) != 1 {
			return none, &memory.InputError{Field: "agent", Problem: "is required" + knownAgents(ids)}
		}
		agent = ids[0]
		req.SetAgent(agent)
	}
	if err := kioku.CheckAgent(agent); err != nil {
		return none, err
	}
	if !callerOf(ctx).reaches(agent) {
		return none, memory.ErrNoAgent
	}
	one, ok, err := all.of(ctx, agent)
	if err != nil {
		return none, err
	}
	if !ok {
		return none, memory.ErrNoAgent
	}
	currentCall(ctx).useAgent(agent)
	return one, cmp.Or(checks...)
}

// authorizeWrite is authorize for calls that change something.
func authorizeWrite[T any](ctx context.Context, all among[T], req agentRequest, checks ...error) (T, error) {
	one, err := authorize(ctx, all, req)
	currentCall(ctx).useWrite()
	if err == nil && !callerOf(ctx).write {
		err = status.Error(codes.PermissionDenied, "this token may read but not write; set write: true for it in the token file")
	}
	return one, cmp.Or(append([]error{err}, checks...)...)
}

// reachable returns the ids of the agents that the caller may reach, sorted.
func reachable[T any](ctx context.Context, all among[T]) []string {
	c := callerOf(ctx)
	return slices.DeleteFunc(all.ids(ctx), func(id string) bool { return !c.reaches(id) })
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
