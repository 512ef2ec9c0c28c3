package server

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// port accepts the connections of a listener and hands each one over to those who serve its protocol.
type port struct {
	server     *Server
	listener   Listener
	grpc, http *handover
	// sniffing counts the connections whose protocol is not known yet.
	sniffing sync.WaitGroup
}

// serve accepts connections until ctx is done, and returns when nobody will hand over another one.
func (p *port) serve(ctx context.Context) error {
	defer p.sniffing.Wait()
	stop := context.AfterFunc(ctx, func() { p.listener.Close() })
	defer stop()
	var pause time.Duration
	for {
		conn, err := p.listener.lis.Accept()
		switch {
		case err == nil:
			pause = 0
			p.admit(ctx, conn)
		case ctx.Err() != nil:
			return nil
		case !isTemporary(err):
			return err
		default:
			p.server.opt.Log.Error("cannot accept connections", "address", p.listener.Addr().String(), "err", err)
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			sleep(ctx, pause)
		}
	}
}

// isTemporary reports whether accepting may succeed later, such as after an error for want of file descriptors.
func isTemporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// sleep waits, at most until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// admit closes the connections of those who may not connect, and learns the protocol of the others.
func (p *port) admit(ctx context.Context, conn net.Conn) {
	c, err := describe(conn)
	if err != nil {
		conn.Close()
		p.server.opt.Log.Warn("refused a connection", "err", err)
		return
	}
	if c.trusted = p.listener.trusted; !c.trusted {
		c.tokens = p.server.opt.Tokens
	}
	if !p.server.connections.add(c) {
		conn.Close()
		return
	}
	p.sniffing.Go(func() { p.handOver(ctx, c) })
}

// handOver learns the protocol of a connection and hands it over to those who serve it.
func (p *port) handOver(ctx context.Context, c *connection) {
	conn, isGRPC, err := p.learn(ctx, c)
	if err != nil {
		c.close()
		return
	}
	to := p.http
	if isGRPC {
		to = p.grpc
	}
	to.hand(conn)
}

// learn agrees on TLS and learns the protocol, at most until ctx is done. The end of ctx closes the connection only until
// then: from there on, those who serve it let its calls finish.
func (p *port) learn(ctx context.Context, c *connection) (_ *sniffed, isGRPC bool, _ error) {
	closes := context.AfterFunc(ctx, c.close)
	defer closes()
	conn, err := p.secure(ctx, c)
	if err != nil {
		return nil, false, err
	}
	isGRPC, all, err := sniff(conn)
	if err != nil {
		return nil, false, err
	}
	return &sniffed{Conn: conn, connection: c, all: all}, isGRPC, nil
}

// secure agrees with a client on TLS, if the listener wants it, and logs the clients that are refused. It leaves the deadline
// of the handshake on the connection.
func (p *port) secure(ctx context.Context, c *connection) (net.Conn, error) {
	if err := c.SetDeadline(time.Now().Add(p.server.beginTimeout)); err != nil || p.listener.tls == nil {
		return c, err
	}
	conn, err := p.listener.tls.handshake(ctx, c)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			p.server.opt.Log.Warn("refused a TLS handshake", "from", c.client, "err", err)
		}
		return nil, err
	}
	state := conn.ConnectionState()
	c.secure = &state
	return conn, nil
}

// sniffed is a connection whose protocol is known. Read returns all that the client sends.
type sniffed struct {
	net.Conn   // TLS over the connection, or the connection itself
	connection *connection
	all        io.Reader
}

// Read reads what the client sends, from its first byte on.
func (s *sniffed) Read(p []byte) (int, error) { return s.all.Read(p) }

// handover is a listener for connections that were accepted elsewhere.
type handover struct {
	addr  net.Addr
	conns chan net.Conn
	// done is closed by close.
	done  chan struct{}
	close func()
}

func newHandover(addr net.Addr) *handover {
	done := make(chan struct{})
	return &handover{addr: addr, conns: make(chan net.Conn), done: done, close: sync.OnceFunc(func() { close(done) })}
}

// hand waits until a connection is accepted, and closes it if nobody accepts connections any more.
func (h *handover) hand(conn net.Conn) {
	select {
	case h.conns <- conn:
	case <-h.done:
		conn.Close()
	}
}

// Accept returns the next connection.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and hand.
func (h *handover) Close() error {
	h.close()
	return nil
}

// Addr returns the address where connections are accepted.
func (h *handover) Addr() net.Addr { return h.addr }

var _ net.Listener = (*handover)(nil)
