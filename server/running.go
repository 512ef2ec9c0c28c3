package server

import (
	"slices"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Causes for which the server ends a call.
var (
	errStopping = status.Error(codes.Unavailable, "server is shutting down")
	errRevoked  = status.Error(codes.Unauthenticated, "the token or certificate is no longer in the token file")
	errLost     = status.Error(codes.PermissionDenied, "the token or certificate has lost the right to do this")
)

// runningCalls are the calls under way.
type runningCalls struct {
	mu       sync.Mutex
	all      map[*call]struct{} // guarded by mu
	stopping bool               // guarded by mu
}

// begin adds a call. A stream that begins while the server stops ends at once.
func (r *runningCalls) begin(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[*call]struct{}{}
	}
	r.all[c] = struct{}{}
	if r.stopping && c.stream {
		c.cancel(errStopping)
	}
}

// end removes a call.
func (r *runningCalls) end(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, c)
}

// endStreams ends all streams, also those that begin later.
func (r *runningCalls) endStreams() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopping = true
	for c := range r.all {
		if c.stream {
			c.cancel(errStopping)
		}
	}
}

// isStopping reports whether streams have been ended.
func (r *runningCalls) isStopping() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopping
}

// endRevoked ends the calls whose token is gone or has lost a right that they use.
func (r *runningCalls) endRevoked() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.all {
		if err := c.recheck(); err != nil {
			c.cancel(err)
		}
	}
}

// recheck returns why a call may no longer continue, nil if it may.
func (c *call) recheck() error {
	if c.tokens == nil || c.credential.isZero() {
		return nil
	}
	now, ok := c.tokens.find(c.credential)
	if !ok {
		return errRevoked
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writes && !now.write || slices.ContainsFunc(c.agents, func(id string) bool { return !now.reaches(id) }) {
		return errLost
	}
	if slices.ContainsFunc(c.councils, func(right string) bool { return !now.council.has(right) }) {
		return errLost
	}
	return nil
}

// useAgent records that the call was allowed to reach an agent.
func (c *call) useAgent(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.agents) == 0 { // others are shared
		c.agent = id
	}
	c.agents = append(c.agents, id)
}

// useWrite records that the call was allowed to write.
func (c *call) useWrite() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes = true
}
