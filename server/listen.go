package server

import (
	"fmt"
	"log/slog"
	"net"
)

// Listener accepts connections for a server; [ListenUnix] and [ListenTCP] make one.
type Listener struct {
	lis net.Listener
	// trusted listeners admit only the user who runs the server, and root, and need no token.
	trusted bool
	// open listeners are reachable from other machines.
	open bool
}

// Addr returns the address of the listener.
func (l Listener) Addr() net.Addr { return l.lis.Addr() }

// Close stops listening, and removes the file of a unix socket. Closing twice is harmless.
func (l Listener) Close() error { return l.lis.Close() }

// accepting returns the listener with the checks that its connections need.
func (l Listener) accepting(log *slog.Logger) net.Listener {
	if u, ok := l.lis.(*net.UnixListener); ok {
		return peerListener{UnixListener: u, log: log, uid: peerUID}
	}
	return l.lis
}

// ListenTCP listens on host:port. Without tokens it returns an error for an address that other machines can reach, such as an
// empty host.
func ListenTCP(addr string, tokens *Tokens) (Listener, error) {
	a, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return Listener{}, fmt.Errorf("listen on %q: %w", addr, err)
	}
	open := !a.IP.IsLoopback()
	if open && tokens == nil {
		return Listener{}, errOpenAddress(addr)
	}
	lis, err := net.ListenTCP("tcp", a)
	if err != nil {
		return Listener{}, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return Listener{lis: lis, open: open}, nil
}

func errOpenAddress(addr string) error {
	return fmt.Errorf("refusing to listen on %s: other machines can reach it and no token is configured; "+
		"configure a token file, or listen on 127.0.0.1 or on the unix socket", addr)
}
