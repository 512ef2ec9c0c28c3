package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/peer"
)

// connections counts the open connections of a server.
type connections struct {
	limit int

	mu     sync.Mutex
	open   int            // guarded by mu
	byPeer map[string]int // guarded by mu
}

// add counts a connection of a peer. It returns why there may be no more, empty if it counted.
func (c *connections) add(peer string) (refusal string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	share := max(c.limit/4, 1)
	switch {
	case c.open >= c.limit:
		return fmt.Sprintf("the server has %d connections and takes no more", c.open)
	case c.byPeer[peer] >= share:
		return fmt.Sprintf("this client has %d connections and may have no more", c.byPeer[peer])
	}
	if c.byPeer == nil {
		c.byPeer = map[string]int{}
	}
	c.open++
	c.byPeer[peer]++
	return ""
}

// remove counts a connection no longer.
func (c *connections) remove(peer string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if c.byPeer[peer]--; c.byPeer[peer] == 0 {
		delete(c.byPeer, peer)
	}
}

// connection is an open connection. Its remote address leads back to it.
type connection struct {
	net.Conn
	// peer is the process or machine at the other end.
	peer string
	// client names the connection among clients without a token: a process or, over TCP, the connection itself.
	client string
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

// clientName names the client at the other end, if it has no token.
func (c *connection) clientName() string {
	if c == nil {
		return ""
	}
	return c.client
}

// from describes the other end for the log.
func (c *connection) from() string {
	if c == nil {
		return "this process"
	}
	return c.client
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

// boundedListener accepts connections of those who may connect, up to a limit.
type boundedListener struct {
	net.Listener
	connections *connections
	log         *slog.Logger
	// plain is true if the connections are not encrypted, so that a refusal can be written to them.
	plain bool
}

// Accept returns the next connection that is admitted.
func (l boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				l.log.Error("cannot accept connections", "address", l.Addr().String(), "err", err)
			}
			return nil, err
		}
		c, err := describe(conn)
		if err != nil {
			conn.Close()
			l.log.Warn("refused a connection", "err", err)
			continue
		}
		if refusal := l.connections.add(c.peer); refusal != "" {
			l.log.Warn("refused a connection", "from", c.peer, "err", refusal)
			l.refuse(conn, refusal)
			continue
		}
		c.remove = sync.OnceFunc(func() { l.connections.remove(c.peer) })
		return c, nil
	}
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
		return &connection{Conn: conn, peer: host, client: addr}, nil
	}
	p, err := peerOf(u)
	if err != nil {
		return nil, err
	}
	if !mayConnect(p.uid, os.Geteuid()) {
		return nil, fmt.Errorf("it is of another user, uid=%d", p.uid)
	}
	process := fmt.Sprintf("process %d", p.pid)
	return &connection{Conn: conn, peer: process, client: process}, nil
}

func mayConnect(peer, own int) bool { return peer == own || peer == 0 }

// refuse tells an HTTP/2 client why its connection is closed, and closes it.
func (l boundedListener) refuse(conn net.Conn, reason string) {
	if l.plain {
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		framer := http2.NewFramer(conn, nil)
		_ = framer.WriteSettings()
		_ = framer.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte(reason))
	}
	_ = conn.Close()
}
