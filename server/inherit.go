package server

import (
	"fmt"
	"net"
)

// Inherit returns a listener for a socket that is open already, as a service manager hands it over. A TCP socket needs the protection
// that [ListenTCP] asks for. On a unix socket only this user and root are admitted, whatever the mode of its file, which Close leaves.
func Inherit(lis net.Listener, opt TCPOptions) (Listener, error) {
	switch addr := lis.Addr().(type) {
	case *net.UnixAddr:
		if u, ok := lis.(*net.UnixListener); ok {
			u.SetUnlinkOnClose(false)
		}
		return Listener{lis: lis, trusted: true}, nil
	case *net.TCPAddr:
		if err := opt.check(addr.String(), addr.IP); err != nil {
			return Listener{}, err
		}
		return Listener{lis: lis, open: !addr.IP.IsLoopback(), tls: opt.TLS}, nil
	}
	return Listener{}, fmt.Errorf("the inherited socket %s is neither a unix nor a TCP socket", lis.Addr())
}
