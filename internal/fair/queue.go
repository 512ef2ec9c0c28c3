// Package fair shares a capacity among clients, so that a client that asks for much waits for itself and not others for it.
package fair

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrFull means that a client has as many requests waiting as it may have.
var ErrFull = errors.New("too many requests of this client are waiting")

// Limits of a queue, in units of the caller's choice.
type Limits struct {
	// Capacity is how much all clients together may use.
	Capacity int64
	// Share is how much one client may use.
	Share int64
	// Reserve is added to Capacity for clients that use nothing, so that they do not wait for those that use their share.
	Reserve int64
	// Waiting is the maximum number of requests of one client that wait.
	Waiting int
}

// Queue grants requests of clients within its limits. Requests of one client are granted in their order, and clients that
// wait take turns.
type Queue struct {
	limits Limits

	// mu guards the fields below.
	mu   sync.Mutex
	used int64
	// clients that use something or wait, by name.
	clients map[string]*client
	// turns are the clients that wait; the turn of the first comes next.
	turns []*client
}

// client is what one client uses and waits for.
type client struct {
	name    string
	used    int64
	waiting []*request
}

// request is a request that waits; granted is closed once it is granted.
type request struct {
	size    int64
	granted chan struct{}
}

// New returns an empty queue.
func New(limits Limits) *Queue { return &Queue{limits: limits, clients: map[string]*client{}} }

// Acquire waits until a client may use size more units. It returns ErrFull if too many requests of the client wait, and the
// error of ctx. A single request may be larger than the share of a client that uses nothing.
func (q *Queue) Acquire(ctx context.Context, name string, size int64) (*Grant, error) {
	q.mu.Lock()
	c := q.client(name)
	g := &Grant{queue: q, client: c, size: size}
	if len(c.waiting) == 0 && q.fits(c, size) {
		q.use(c, size)
		q.mu.Unlock()
		return g, nil
	}
	if len(c.waiting) >= q.limits.Waiting {
		q.mu.Unlock()
		return nil, ErrFull
	}
	r := &request{size: size, granted: make(chan struct{})}
	if c.waiting = append(c.waiting, r); len(c.waiting) == 1 {
		q.turns = append(q.turns, c)
	}
	q.mu.Unlock()
	select {
	case <-r.granted:
		return g, nil
	case <-ctx.Done():
		q.giveUp(g, r)
		return nil, ctx.Err()
	}
}

// Used returns how much all clients use now.
func (q *Queue) Used() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used
}

// giveUp ends the waiting of a request that may have been granted meanwhile.
func (q *Queue) giveUp(g *Grant, r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := g.client
	select {
	case <-r.granted:
		q.use(c, -g.size)
	default:
		c.waiting = slices.DeleteFunc(c.waiting, func(other *request) bool { return other == r })
		if len(c.waiting) == 0 {
			q.turns = slices.DeleteFunc(q.turns, func(other *client) bool { return other == c })
		}
	}
	q.grantNext()
	q.forget(c)
}

// grantNext grants what fits now, one request of each client in turn.
func (q *Queue) grantNext() {
	for i := 0; i < len(q.turns); {
		c := q.turns[i]
		r := c.waiting[0]
		if !q.fits(c, r.size) {
			i++
			continue
		}
		q.use(c, r.size)
		close(r.granted)
		q.turns = slices.Delete(q.turns, i, i+1)
		if c.waiting = c.waiting[1:]; len(c.waiting) > 0 {
			q.turns = append(q.turns, c)
		}
		i = 0
	}
}

// fits reports whether a client may use size more units now.
func (q *Queue) fits(c *client, size int64) bool {
	if c.used == 0 {
		return q.used+size <= q.limits.Capacity+q.limits.Reserve || q.used == 0
	}
	return c.used+size <= q.limits.Share && q.used+size <= q.limits.Capacity
}

func (q *Queue) use(c *client, size int64) {
	c.used += size
	q.used += size
}

// client returns the client of a name.
func (q *Queue) client(name string) *client {
	c := q.clients[name]
	if c == nil {
		c = &client{name: name}
		q.clients[name] = c
	}
	return c
}

// forget removes a client that uses nothing and waits for nothing.
func (q *Queue) forget(c *client) {
	if c.used == 0 && len(c.waiting) == 0 {
		delete(q.clients, c.name)
	}
}

// Grant is what a client uses until it calls Release.
type Grant struct {
	queue  *Queue
	client *client
	size   int64
}

// Shrink gives back what exceeds size units. It does not enlarge a grant.
func (g *Grant) Shrink(size int64) {
	q := g.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if size >= g.size {
		return
	}
	q.use(g.client, size-g.size)
	g.size = size
	q.grantNext()
	q.forget(g.client)
}

// Release gives everything back. A second call does nothing.
func (g *Grant) Release() { g.Shrink(0) }
