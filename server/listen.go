package server

import (
	"fmt"
	"net"
)

// Listener accepts connections for a server; [ListenUnix], [ListenTCP] and [ListenOn] make one.
type Listener struct {
	lis net.Listener
	// trusted listeners admit only the user who runs the server, and root, and need no token.
	trusted bool
	// open listeners are reachable from other machines.
	open bool
	// tls has the certificate of the listener; nil without TLS.
	tls *Certificates
}

// Addr returns the address of the listener.
func (l Listener) Addr() net.Addr { return l.lis.Addr() }

// Plaintext reports whether other machines can reach the listener and what they send can be read on the network.
func (l Listener) Plaintext() bool { return l.open && l.tls == nil }

// Close stops listening, and removes the file of a unix socket. Closing twice is harmless.
func (l Listener) Close() error { return l.lis.Close() }

// TCPOptions say what protects a TCP listener.
type TCPOptions struct {
	// Tokens that the server demands; nil admits every process of this machine.
	Tokens *Tokens
	// TLS encrypts the connections; nil does not.
	TLS *Certificates
	// InsecurePlaintext permits an address that other machines can reach without TLS.
	InsecurePlaintext bool
}

// ListenTCP listens on host:port. An address that other machines can reach, such as an empty host, needs tokens, and TLS
// unless opt.InsecurePlaintext is set; without them ListenTCP returns an error.
func ListenTCP(addr string, opt TCPOptions) (Listener, error) {
	a, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return Listener{}, fmt.Errorf("listen on %q: %w", addr, err)
	}
	if err := opt.check(a, addr); err != nil {
		return Listener{}, err
	}
	lis, err := net.ListenTCP("tcp", a)
	if err != nil {
		return Listener{}, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return Listener{lis: lis, open: isOpen(a), tls: opt.TLS}, nil
}

// ListenOn returns a listener for a socket that another program listens on for this one, such as systemd. What [ListenTCP] and
// [ListenUnix] check holds for it too: a TCP address that other machines can reach needs tokens and TLS, and connections of
// other users to a unix socket are closed. An error leaves lis open.
func ListenOn(lis net.Listener, opt TCPOptions) (Listener, error) {
	switch a := lis.Addr().(type) {
	case *net.TCPAddr:
		return Listener{lis: lis, open: isOpen(a), tls: opt.TLS}, opt.check(a, a.String())
	case *net.UnixAddr:
		return Listener{lis: lis, trusted: true}, nil
	}
	return Listener{}, fmt.Errorf("cannot listen on %s: it is neither a TCP address nor a unix socket", lis.Addr())
}

// isOpen reports whether other machines can reach an address.
func isOpen(a *net.TCPAddr) bool { return !a.IP.IsLoopback() }

// check returns an error if what protects an address is not enough.
func (o TCPOptions) check(a *net.TCPAddr, name string) error {
	switch {
	case !isOpen(a):
		return nil
	case o.Tokens == nil:
		return errOpenAddress(name)
	case o.TLS == nil && !o.InsecurePlaintext:
		return fmt.Errorf("refusing to listen on %s without TLS: tokens and memories could be read on the network; "+
			"set tls.cert and tls.key, or permit it with --insecure-plaintext", name)
	}
	return nil
}

func errOpenAddress(addr string) error {
	return fmt.Errorf("refusing to listen on %s: other machines can reach it and no token is configured; "+
		"configure a token file, or listen on 127.0.0.1 or on the unix socket", addr)
}
