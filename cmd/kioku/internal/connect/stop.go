package connect

import (
	"context"
	"errors"
	"fmt"
	"kioku"
	"net"
	"syscall"
	"time"

	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/server"
)

// ErrNoDaemon reports that no daemon serves a memory.
var ErrNoDaemon = errors.New("no daemon serves this memory")

// stopWait is how long a daemon may take to end, with its running calls.
const stopWait = 30 * time.Second

// Stop ends the daemon that serves the memory of the command, as SIGTERM does, and waits until it is gone. It returns ErrNoDaemon if none
// runs on this machine.
func (k *Connector) Stop(ctx context.Context) error {
	if k.Conf.Client.Target != "" {
		return render.Misuse("only a daemon of this machine can be ended; omit --target")
	}
	w, err := k.here()
	if err != nil {
		return err
	}
	c, err := k.daemon(ctx, w, ToGet)
	switch {
	case err != nil && !isGone(err):
		return err
	case c == nil:
		return ErrNoDaemon
	}
	socket, state, agent := c.Socket, c.State, c.Agent
	_ = c.close() // it ends
	if owner := kioku.OwnerOf(state, agent); owner.Socket == socket && !owner.Daemon {
		return fmt.Errorf("%s has the memory, and is no daemon; end it where it runs", owner.Owner)
	}
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return ErrNoDaemon
	}
	pid, err := server.PeerProcess(conn)
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGTERM)
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("end the daemon on %s: %w", socket, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	for {
		unlock, err := kioku.LockIndex(state, agent)
		if err == nil {
			return unlock()
		}
		if !errors.Is(err, memory.ErrLocked) {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the daemon, process %d, does not end within %s; its log says what it waits for", pid, stopWait)
		}
	}
}
