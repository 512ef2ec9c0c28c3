package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"kioku/internal/files"
)

// maxSocketPath is the maximum length of the path of a unix socket in bytes, without the final NUL.
const maxSocketPath = 107

// SocketPath returns the path of the socket of a server with a state folder: kioku.sock in the folder or, if that is too long
// for a socket, a short path of this user in the folder for temporary files.
func SocketPath(state string) string { return socketPath(state, "") }

// AgentSocketPath is [SocketPath] for a server of sidecars only: kioku-agent.sock.
func AgentSocketPath(state string) string { return socketPath(state, "-agent") }

// MemorySocketPath is [SocketPath] for a server of one memory: memory/AGENT.sock, beside the index.
func MemorySocketPath(state, agent string) string {
	return shortened(state, filepath.Join("memory", agent+".sock"), "-memory-"+agent)
}

func socketPath(state, suffix string) string { return shortened(state, "kioku"+suffix+".sock", suffix) }

// shortened returns the path of a socket in a state folder, or a short path with the suffix if that is too long.
func shortened(state, name, suffix string) string {
	abs, err := filepath.Abs(state)
	if err != nil {
		abs = state
	}
	path := filepath.Join(abs, name)
	if len(path) <= maxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(abs))
	return filepath.Join(os.TempDir(), "kioku-"+strconv.Itoa(os.Geteuid()), hex.EncodeToString(sum[:8])+suffix+".sock")
}

// ListenUnix listens on a unix socket that only this user and root can use: its mode is 0600 whatever the umask, and
// connections of other users are closed. It makes a missing folder, with mode 0700. It returns an error if the folder belongs
// to another user or if other users may write to it, and if path is anything but a socket on which nobody answers.
func ListenUnix(path string) (Listener, error) {
	if len(path) > maxSocketPath {
		return Listener{}, fmt.Errorf("listen on %s: the path has %d bytes and a unix socket may have %d; choose a shorter one",
			path, len(path), maxSocketPath)
	}
	lis, err := listenPrivate(path)
	if err != nil {
		return Listener{}, fmt.Errorf("listen on %s: %w", path, err)
	}
	return Listener{lis: lis, trusted: true}, nil
}

// listenPrivate replaces a stale socket in a folder of this user.
func listenPrivate(path string) (net.Listener, error) {
	dir, err := lockFolder(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := removeStale(path); err != nil {
		return nil, err
	}
	return bindPrivate(path)
}

// startWait is how long a server waits for others that are starting in the same folder, which takes them milliseconds.
const startWait = 3 * time.Second

// lockFolder opens and locks a folder of this user. Closing it unlocks it.
func lockFolder(name string) (*os.File, error) {
	if err := os.MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if err := checkFolder(dir); err != nil {
		dir.Close()
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), startWait, files.ErrHeld)
	defer cancel()
	if err := files.Lock(ctx, dir); err != nil {
		dir.Close()
		return nil, fmt.Errorf("lock %s: another kioku is starting there: %w", name, err)
	}
	return dir, nil
}

func checkFolder(dir *os.File) error {
	info, err := dir.Stat()
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user; choose a folder of your own", dir.Name())
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 {
		return fmt.Errorf("other users may write to %s (mode %04o); run: chmod go-w %s", dir.Name(), perm, dir.Name())
	}
	return nil
}

// removeStale removes a socket on which nobody answers.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("a file that is no socket is in the way; move it or choose another path")
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
		return errors.New("another server answers there already; stop it or choose another path")
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("cannot tell whether another server uses it: %w", err)
	}
	return os.Remove(path)
}

// bindPrivate makes a socket of mode 0600.
func bindPrivate(path string) (net.Listener, error) {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		// On Linux bind gives the mode of the socket to the file, so that the mode is never wider. Other systems refuse, and
		// the chmod below sets the mode.
		return c.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
	}}
	lis, err := lc.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		lis.Close()
		return nil, err
	}
	return lis, nil
}
