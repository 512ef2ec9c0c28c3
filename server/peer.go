package server

import (
	"log/slog"
	"net"
	"os"
)

// peerListener closes connections of other users.
type peerListener struct {
	*net.UnixListener
	log *slog.Logger
	// uid returns the user of the process at the other end.
	uid func(*net.UnixConn) (int, error)
}

// Accept returns the next connection of this user or of root.
func (l peerListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, err := l.uid(conn)
		if err == nil && mayConnect(uid, os.Geteuid()) {
			return conn, nil
		}
		conn.Close()
		l.log.Warn("refused a connection of another user", "uid", uid, "err", err)
	}
}

func mayConnect(peer, own int) bool { return peer == own || peer == 0 }
