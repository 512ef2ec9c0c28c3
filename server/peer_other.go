//go:build !linux

package server

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// process is a process at the other end of a socket.
type process struct{ uid, pid int }

// peerOf returns this user and no process: on this system only the modes of the socket and of its folder keep other users
// out, and all clients of the socket share as one.
func peerOf(*net.UnixConn) (process, error) { return process{uid: os.Geteuid()}, nil }

// PeerProcess returns the process at the other end of a connection to a unix socket.
func PeerProcess(conn net.Conn) (pid int, err error) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	const solLocal, localPeerPID = 0, 2 // of macOS
	failed := raw.Control(func(fd uintptr) { pid, err = syscall.GetsockoptInt(int(fd), solLocal, localPeerPID) })
	return pid, errors.Join(failed, err)
}
