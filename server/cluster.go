package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"kioku/memory"
	"kioku/server/op"
)

// Cluster has memories of agents that several machines share.
type Cluster interface {
	// Memory returns the memory of an agent as the cluster has it now. The error is memory.ErrNoAgent for an agent that it does not have.
	Memory(ctx context.Context, agent string) (Memory, error)
	// Elsewhere reaches the machine that is to do an operation for an agent; nil means this one. With folder it is the one that has the folder.
	Elsewhere(ctx context.Context, agent string, folder bool) (http.RoundTripper, error)
	// Agents returns the agents of the cluster.
	Agents(ctx context.Context) ([]string, error)
}

// anywhere are the operations that a machine does without the folder. The others are done by the one that has it.
var anywhere = []string{"search", "get", "append", "ls", "links", "chunks", "activity", "explain", "map", "estimate", "agents", "status", "sync", "rebuild", "events"}

// onlyHere are those of them that are about the index of this machine.
var onlyHere = []string{"status", "sync", "rebuild", "events"}

// forwardInCluster says which machine does an operation.
func (s *Server) forwardInCluster() op.Forward {
	return op.Forward{
		Reach: func(ctx context.Context, a op.About, in any) (http.RoundTripper, error) {
			if slices.Contains(onlyHere, a.Name) {
				return nil, nil
			}
			if err := permit(ctx, clusterNames{s.memories}, a, in); err != nil {
				return nil, err
			}
			agent, can := in.(agentRequest).GetAgent(), slices.Contains(anywhere, a.Name)
			if q, ok := in.(interface{ AsksDerived() bool }); ok && q.AsksDerived() { // which only the machine with the folder has
				if conn, err := s.opt.Cluster.Elsewhere(ctx, agent, true); err == nil {
					return onBehalf(currentCall(ctx), conn), nil
				}
			}
			conn, err := s.opt.Cluster.Elsewhere(ctx, agent, !can)
			return onBehalf(currentCall(ctx), conn), err
		},
		Failed: func(a op.About, err error) (here bool, failed error) {
			e, said := errors.AsType[*op.Error](err)
			if errors.Is(err, memory.ErrStoreAway) {
				return false, err
			}
			if errors.Is(err, memory.ErrUnreachable) || said && e.Code == "UNAUTHENTICATED" { // or it has begun anew
				return a.Right == rightAgent && slices.Contains(anywhere, a.Name), fmt.Errorf("%w: %w", memory.ErrOwnerAway, err)
			}
			return false, forwardedError(err)
		},
	}
}

// callerHeader is the header with the name of whom a machine of the cluster calls for.
const callerHeader = "x-kioku-caller"

// onBehalf returns what reaches another machine, which records the caller and the id of a request as this one does; nil for none.
func onBehalf(c *call, conn http.RoundTripper) http.RoundTripper {
	if conn == nil {
		return nil
	}
	return tripper(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set(callerHeader, c.caller.name)
		r.Header.Set(requestIDHeader, c.requestID)
		return conn.RoundTrip(r)
	})
}

// tripper is a function that implements http.RoundTripper.
type tripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// clustered are the memories of a cluster, and those of this process.
type clustered struct {
	here    byAgent[Memory]
	cluster Cluster
}

func (c clustered) of(ctx context.Context, agent string) (Memory, bool, error) {
	m, err := c.cluster.Memory(ctx, agent)
	return m, err == nil, err
}

func (c clustered) ids(ctx context.Context) []string {
	all, err := c.cluster.Agents(ctx)
	if err != nil {
		all = nil // those of this process are there still
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(all, maps.Keys(c.here)))))
}

// clusterNames are the names of the agents of a cluster. It opens no memory, and does not know whether there is one.
type clusterNames struct{ among[Memory] }

func (clusterNames) of(context.Context, string) (Memory, bool, error) { return nil, true, nil }
