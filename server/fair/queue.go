// Package fair shares a capacity among clients, so that a client that asks for much waits for itself and not others for it.
package fair

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// ErrFull means that a client has as many requests waiting as it may have.
var ErrFull = errors.New("too many requests of this client are waiting")

// Limits of a queue, in units of the caller's choice.
type Limits struct {
	// Capacity is how much all clients together may use.
	Capacity int64
	// Share is how much one client may use.
	Share int64
	// Reserve is added to Capacity for connections that use nothing, so that they do not wait for those that use much.
	Reserve int64
	// Waiting is the maximum number of requests of one client that wait.
	Waiting int
	// Recent is how long Reserve is kept free within Capacity for a connection that has used something, after its last use: it
	// will ask again, and finds room then that nobody else works in. 0 keeps nothing free.
	Recent time.Duration
}

// Queue grants requests of clients within its limits. Clients that wait take turns, so do the connections of one client, and
// requests of one connection are granted in their order.
type Queue struct {
	limits Limits

	// mu guards the fields below.
	mu   sync.Mutex
	used int64
	// clients that use something or wait, by name.
	clients map[string]*client
	// turns are the clients that wait; the turn of the first comes next.
	turns []*client
	// seen is when connections used something last, of those that use nothing now, at least those of the time Limits.Recent.
	seen map[connectionKey]time.Time
}

// New returns an empty queue.
func New(limits Limits) *Queue {
	return &Queue{limits: limits, clients: map[string]*client{}, seen: map[connectionKey]time.Time{}}
}

// Acquire waits until a connection of a client may use size more units. If too many requests of the client wait, the
// last one of the connection with the most gets ErrFull. Acquire returns the error of ctx if that is done before. A single
// request may be larger than the share of a client that uses nothing.
func (q *Queue) Acquire(ctx context.Context, name, connectionName string, size int64) (*Grant, error) {
	q.mu.Lock()
	c := q.connection(name, connectionName)
	g := &Grant{queue: q, connection: c, size: size}
	if len(c.waiting) == 0 && q.fits(c, size) {
		q.use(c, size)
		q.mu.Unlock()
		return g, nil
	}
	r := &request{size: size, done: make(chan struct{})}
	q.enqueue(c, r)
	q.mu.Unlock()
	select {
	case <-r.done:
	case <-ctx.Done():
		q.giveUp(g, r)
		return nil, ctx.Err()
	}
	if r.refused {
		return nil, ErrFull
	}
	return g, nil
}

// Used returns how much all clients use now.
func (q *Queue) Used() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used
}

// enqueue adds a request to those that wait, and refuses one if they are too many.
func (q *Queue) enqueue(c *connection, r *request) {
	if c.client.waiting == 0 {
		q.turns = append(q.turns, c.client)
	}
	c.enqueue(r)
	if c.client.waiting > q.limits.Waiting {
		most := c.longest()
		last := most.waiting[len(most.waiting)-1]
		last.refused = true
		close(last.done)
		q.remove(most, last)
	}
}

// giveUp ends the waiting of a request that may have been granted or refused meanwhile.
func (q *Queue) giveUp(g *Grant, r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-r.done:
		if r.refused {
			return
		}
		q.use(g.connection, -g.size)
		q.forget(g.connection)
	default:
		q.remove(g.connection, r)
	}
	q.grantNext()
}

// remove removes a request that waits.
func (q *Queue) remove(c *connection, r *request) {
	c.dequeue(r)
	if c.client.waiting == 0 {
		q.turns = slices.DeleteFunc(q.turns, func(other *client) bool { return other == c.client })
	}
	q.forget(c)
}

// grantNext grants what fits now, one request of each client in turn.
func (q *Queue) grantNext() {
	for i := 0; i < len(q.turns); {
		client := q.turns[i]
		c := q.next(client)
		if c == nil {
			i++
			continue
		}
		r := c.waiting[0]
		q.use(c, r.size)
		close(r.done)
		c.dequeue(r)
		c.moveBehindOthers()
		if q.turns = slices.Delete(q.turns, i, i+1); client.waiting > 0 {
			q.turns = append(q.turns, client)
		}
		i = 0
	}
}

// next returns the connection of a client whose turn it is among those whose request fits, nil if none does.
func (q *Queue) next(c *client) *connection {
	for _, one := range c.turns {
		if q.fits(one, one.waiting[0].size) {
			return one
		}
	}
	return nil
}

// fits reports whether a connection may use size more units now.
func (q *Queue) fits(c *connection, size int64) bool {
	room := q.limits.Capacity
	switch {
	case c.used == 0:
		room += q.limits.Reserve
	case q.expectsOther(c):
		room -= q.limits.Reserve
	}
	return (q.used == 0 || q.used+size <= room) && (c.client.used == 0 || c.client.used+size <= q.limits.Share)
}

func (q *Queue) use(c *connection, size int64) {
	c.used += size
	c.client.used += size
	q.used += size
	if q.limits.Recent == 0 {
		return
	}
	key := connectionKey{c.client.name, c.name}
	if c.used > 0 {
		delete(q.seen, key)
	} else {
		q.forgetOld()
		q.seen[key] = time.Now()
	}
}

// maxSeen is how many connections are remembered before old ones are looked for.
const maxSeen = 64

// forgetOld forgets connections that nobody expects any more, once there are many.
func (q *Queue) forgetOld() {
	if len(q.seen) >= maxSeen {
		maps.DeleteFunc(q.seen, func(_ connectionKey, at time.Time) bool { return time.Since(at) > q.limits.Recent })
	}
}

// connectionKey names a connection of a client.
type connectionKey struct{ client, connection string }

// expectsOther reports whether another connection than c has used something lately and uses nothing now.
func (q *Queue) expectsOther(c *connection) bool {
	for key, at := range q.seen {
		if key != (connectionKey{c.client.name, c.name}) && time.Since(at) <= q.limits.Recent {
			return true
		}
	}
	return false
}

// connection returns the connection of a name, of the client of a name.
func (q *Queue) connection(clientName, name string) *connection {
	owner := q.clients[clientName]
	if owner == nil {
		owner = &client{name: clientName, connections: map[string]*connection{}}
		q.clients[clientName] = owner
	}
	c := owner.connections[name]
	if c == nil {
		c = &connection{client: owner, name: name}
		owner.connections[name] = c
	}
	return c
}

// forget removes a connection that uses nothing and waits for nothing, and the client of the last one.
func (q *Queue) forget(c *connection) {
	if c.used > 0 || len(c.waiting) > 0 {
		return
	}
	delete(c.client.connections, c.name)
	if len(c.client.connections) == 0 {
		delete(q.clients, c.client.name)
	}
}

// Grant is what a client uses until it calls Release.
type Grant struct {
	queue      *Queue
	connection *connection
	size       int64
}

// Shrink gives back what exceeds size units. It does not enlarge a grant.
func (g *Grant) Shrink(size int64) {
	q := g.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if size >= g.size {
		return
	}
	q.use(g.connection, size-g.size)
	g.size = size
	q.forget(g.connection)
	q.grantNext()
}

// Release gives everything back. A second call does nothing.
func (g *Grant) Release() { g.Shrink(0) }
