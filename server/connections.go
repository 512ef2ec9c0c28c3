package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
)

// connections counts the open connections of a server.
type connections struct {
	limit int
	log   *slog.Logger

	mu     sync.Mutex
	open   int            // guarded by mu
	byPeer map[string]int // guarded by mu
	// strangers are the connections without an authenticated call yet, the oldest first. Guarded by mu.
	strangers []*connection
	// refused is the number of connections that are only told why they are refused. Guarded by mu.
	refused int
}

const (
	// maxRefused is how many refused connections are told why at the same time; more are only closed.
	maxRefused = 64
	// refusalTimeout is the time for a refused client to make a call and be told why.
	refusalTimeout = 2 * time.Second
)

// add counts a connection. If there are too many, the oldest one without an authenticated call makes room, so that nobody can
// hold places without a token. One too many beyond that is marked as refused, and closed a little later. It returns false for a connection
// that is to be closed at once.
func (c *connections) add(conn *connection) bool {
	c.replaceable(conn.peer).close()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.open >= c.limit:
		conn.refusal = fmt.Sprintf("the server has %d connections and takes no more; try again later", c.open)
	case c.byPeer[conn.peer] >= c.limitOfPeer():
		conn.refusal = fmt.Sprintf("this client has %d connections and may have no more; use one for all calls", c.byPeer[conn.peer])
	default:
		if c.byPeer == nil {
			c.byPeer = map[string]int{}
		}
		c.open++
		c.byPeer[conn.peer]++
		c.strangers = append(c.strangers, conn)
		conn.remove = sync.OnceFunc(func() { c.remove(conn) })
		return true
	}
	c.log.Warn("refused a connection", "from", conn.client, "err", conn.refusal)
	if c.refused >= maxRefused {
		return false
	}
	c.refused++
	conn.remove = sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refused--
	})
	time.AfterFunc(refusalTimeout, conn.close)
	return true
}

// replaceable returns the connection that makes room for a new one from peer; nil if there is room, or none can.
func (c *connections) replaceable(peer string) *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.strangers {
		if c.byPeer[peer] >= c.limitOfPeer() && one.peer == peer || c.byPeer[peer] < c.limitOfPeer() && c.open >= c.limit {
			return one
		}
	}
	return nil
}

// limitOfPeer returns how many connections one process or machine may have.
func (c *connections) limitOfPeer() int { return max(c.limit/4, 1) }

// keep marks a connection with an authenticated call, which makes no room for others. A call within the process has none.
func (c *connections) keep(conn *connection) {
	if conn == nil || conn.kept.Swap(true) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetStranger(conn)
}

func (c *connections) forgetStranger(conn *connection) {
	c.strangers = slices.DeleteFunc(c.strangers, func(one *connection) bool { return one == conn })
}

// remove counts a connection no longer.
func (c *connections) remove(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetStranger(conn)
	c.open--
	if c.byPeer[conn.peer]--; c.byPeer[conn.peer] == 0 {
		delete(c.byPeer, conn.peer)
	}
}

// connection is an open connection. Its remote address leads back to it.
type connection struct {
	net.Conn
	// peer is the process or machine at the other end.
	peer string
	// uid is the user of the process at the other end of a unix socket; -1 for other connections.
	uid int
	// client names the connection among those of its peer: over TCP its address; those of a process have one name.
	client string
	// tokens that callers need one of; nil if they need none.
	tokens *Tokens
	// trusted is true for a connection of the user who runs the server.
	trusted bool
	// secure is the state of TLS, nil without TLS. It is set before the first call.
	secure *tls.ConnectionState
	// refusal is why no call of the connection is answered; empty if they are.
	refusal string
	// kept is true once a call of the connection was authenticated.
	kept atomic.Bool
	// remove counts the connection no longer; a second call does nothing.
	remove func()
}

// RemoteAddr returns the address of the other end.
func (c *connection) RemoteAddr() net.Addr { return connectionAddr{c.Conn.RemoteAddr(), c} }

// Close closes the connection and counts it no longer.
func (c *connection) Close() error {
	c.remove()
	return c.Conn.Close()
}

// close is Close for a connection that may be nil: one within the process.
func (c *connection) close() {
	if c != nil {
		_ = c.Close()
	}
}

// refused returns why no call is answered, nil if they are.
func (c *connection) refused() error {
	if c == nil || c.refusal == "" {
		return nil
	}
	return retryable(codes.ResourceExhausted, c.refusal, retryPause)
}

// from describes the other end for the log.
func (c *connection) from() string {
	if c == nil {
		return "this process"
	}
	return c.client
}

// user describes the other end and, if it is a process, its user.
func (c *connection) user() string {
	if c == nil || c.uid < 0 {
		return c.from()
	}
	return fmt.Sprintf("%s of user %d", c.client, c.uid)
}

// certificateNames returns the names in the verified certificate of the client, nil without one.
func (c *connection) certificateNames() []string {
	if c == nil || c.secure == nil {
		return nil
	}
	return certificateNames(*c.secure)
}

// connectionAddr is the address of a connection.
type connectionAddr struct {
	net.Addr
	connection *connection
}

// connectionOf returns the connection of a call, nil within the process.
func connectionOf(ctx context.Context) *connection {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	addr, _ := p.Addr.(connectionAddr)
	return addr.connection
}

// describe returns who is at the other end of a connection, or an error for another user.
func describe(conn net.Conn) (*connection, error) {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		addr := conn.RemoteAddr().String()
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			host = addr
		}
		return &connection{Conn: conn, peer: host, uid: -1, client: addr}, nil
	}
	p, err := peerOf(u)
	if err != nil {
		return nil, err
	}
	if !mayConnect(p.uid, os.Geteuid()) {
		return nil, fmt.Errorf("it is of another user, uid=%d", p.uid)
	}
	process := fmt.Sprintf("process %d", p.pid)
	return &connection{Conn: conn, peer: process, uid: p.uid, client: process}, nil
}

func mayConnect(peer, own int) bool { return peer == own || peer == 0 }
