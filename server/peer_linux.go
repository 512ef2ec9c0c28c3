package server

import (
	"fmt"
	"net"
	"syscall"
)

// peerUID returns the user whose process connected, as the kernel knows it.
func peerUID(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("ask for the peer of a socket: %w", err)
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
		return -1, fmt.Errorf("ask for the peer of a socket: %w", err)
	}
	return int(cred.Uid), nil
}
