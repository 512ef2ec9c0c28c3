package fair

import "slices"

// client is what one client uses and waits for. The mutex of the queue guards its fields and those of its connections.
type client struct {
	name string
	used int64
	// connections that use something or wait, by name.
	connections map[string]*connection
	// turns are the connections that wait; the turn of the first comes next.
	turns []*connection
	// waiting is the number of requests of all connections that wait.
	waiting int
}

// connection is what one connection of a client uses and waits for.
type connection struct {
	client  *client
	name    string
	used    int64
	waiting []*request
}

// request is a request that waits. done is closed once it is granted or refused.
type request struct {
	size    int64
	refused bool
	done    chan struct{}
}

// longest returns the connection of the same client with the most waiting requests, c itself if no other has more.
func (c *connection) longest() *connection {
	most := c
	for _, other := range c.client.turns {
		if len(other.waiting) > len(most.waiting) {
			most = other
		}
	}
	return most
}

// enqueue adds a request to those of the connection that wait.
func (c *connection) enqueue(r *request) {
	if len(c.waiting) == 0 {
		c.client.turns = append(c.client.turns, c)
	}
	c.waiting = append(c.waiting, r)
	c.client.waiting++
}

// dequeue removes a request from those that wait.
func (c *connection) dequeue(r *request) {
	c.waiting = slices.DeleteFunc(c.waiting, func(other *request) bool { return other == r })
	c.client.waiting--
	if len(c.waiting) == 0 {
		c.leaveTurns()
	}
}

// moveBehindOthers ends the turn of the connection.
func (c *connection) moveBehindOthers() {
	if c.leaveTurns(); len(c.waiting) > 0 {
		c.client.turns = append(c.client.turns, c)
	}
}

// leaveTurns removes the connection from those that wait.
func (c *connection) leaveTurns() {
	c.client.turns = slices.DeleteFunc(c.client.turns, func(other *connection) bool { return other == c })
}
