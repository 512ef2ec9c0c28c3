package server

import (
	"fmt"
	"net"
	"syscall"
)

// process is a process at the other end of a socket.
type process struct{ uid, pid int }

// peerOf returns the process that connected, as reported by the kernel.
func peerOf(conn *net.UnixConn) (process, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return process{}, fmt.Errorf("ask for the peer of a socket: %w", err)
	}
	var cred *syscall.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err == nil {
		err = credErr
	}
	if err != nil {
		return process{}, fmt.Errorf("ask for the peer of a socket: %w", err)
	}
	return process{uid: int(cred.Uid), pid: int(cred.Pid)}, nil
}

// PeerProcess returns the process at the other end of a connection to a unix socket.
func PeerProcess(conn net.Conn) (pid int, err error) {
	peer, err := peerOf(conn.(*net.UnixConn))
	return peer.pid, err
}
