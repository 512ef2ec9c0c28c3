package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Hazard C10: the folder is 0700 and the socket 0600 whatever the umask.
func TestListenUnixMakesAPrivateSocket(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o777} {
		path := filepath.Join(t.TempDir(), "state", "kioku.sock")
		if umask == 0o777 {
			// Under this umask not even the owner could enter a new folder.
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		old := syscall.Umask(umask)
		l, err := ListenUnix(path)
		syscall.Umask(old)
		if err != nil {
			t.Fatalf("umask %03o: %v", umask, err)
		}
		for name, want := range map[string]os.FileMode{filepath.Dir(path): 0o700 | os.ModeDir, path: 0o600 | os.ModeSocket} {
			info, err := os.Lstat(name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != want {
				t.Errorf("umask %03o: %s has mode %v, want %v", umask, name, info.Mode(), want)
			}
		}
		l.Close()
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("the socket is still there after Close: %v", err)
		}
	}
}

// Hazard C10: a folder that others may write to, or that belongs to somebody else, is refused.
func TestListenUnixRefusesAFolderOfOthers(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o770, 0o707, 0o777 | os.ModeSticky} {
		dir := t.TempDir()
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if l, err := ListenUnix(filepath.Join(dir, "kioku.sock")); err == nil {
			l.Close()
			t.Errorf("mode %v is accepted", mode)
		} else if !strings.Contains(err.Error(), "chmod go-w") {
			t.Errorf("mode %v: %v does not say what to do", mode, err)
		}
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Skip("only root can give a folder away")
	}
	if l, err := ListenUnix(filepath.Join(dir, "kioku.sock")); err == nil {
		l.Close()
		t.Error("a folder of another user is accepted")
	}
}

// Hazard C10: a stale socket is replaced; one that somebody answers on, and what is no socket, is left alone.
func TestListenUnixReplacesOnlyAStaleSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kioku.sock")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	live, err := ListenUnix(path)
	if err != nil {
		t.Fatalf("with a stale socket: %v", err)
	}
	if l, err := ListenUnix(path); err == nil {
		l.Close()
		t.Error("a live socket is taken over")
	} else if !strings.Contains(err.Error(), "answers") {
		t.Errorf("a live socket: %v", err)
	}
	if conn, err := net.Dial("unix", path); err != nil {
		t.Errorf("the live socket is dead: %v", err)
	} else {
		conn.Close()
	}
	live.Close()
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := ListenUnix(path); err == nil {
		l.Close()
		t.Error("a file is taken for a socket")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "precious" {
		t.Errorf("the file is %q, %v", text, err)
	}
}

func TestListenUnixLocksTheFolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kioku.sock")
	dir, err := lockFolder(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if l, err := ListenUnix(path); err == nil {
		l.Close()
		t.Error("two servers make a socket at a time")
	}
	dir.Close()
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

// Hazard C10: a path that is too long for a socket is refused by name, and SocketPath gives one that is not.
func TestSocketPathOfALongPathIsShort(t *testing.T) {
	if _, err := ListenUnix("/tmp/" + strings.Repeat("x", 103)); err == nil || !strings.Contains(err.Error(), "107") {
		t.Errorf("108 bytes: %v, want the limit", err)
	}
	short := filepath.Join(t.TempDir(), "s")
	if got, want := SocketPath(short), filepath.Join(short, "kioku.sock"); got != want {
		t.Errorf("SocketPath(%s) = %s, want %s", short, got, want)
	}
	t.Setenv("TMPDIR", shortTemp(t))
	long := filepath.Join(t.TempDir(), strings.Repeat("状態", 30))
	path := SocketPath(long)
	if len(path) > maxSocketPath || !strings.HasPrefix(path, os.TempDir()) || path != SocketPath(long) || path == SocketPath(long+"x") {
		t.Errorf("SocketPath of a long folder = %s", path)
	}
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "k")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestMayConnectAdmitsThisUserAndRoot(t *testing.T) {
	t.Parallel()
	cases := []struct {
		peer, own int
		want      bool
	}{{1000, 1000, true}, {0, 1000, true}, {1001, 1000, false}, {65534, 0, false}, {-1, 1000, false}}
	for _, c := range cases {
		if got := mayConnect(c.peer, c.own); got != c.want {
			t.Errorf("mayConnect(%d, %d) = %v", c.peer, c.own, got)
		}
	}
}

// Hazard C10: a connection of another user is closed unread, even if the modes would let it in.
func TestListenerRefusesAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir := shortTemp(t)
	path := filepath.Join(dir, "kioku.sock")
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{dir: 0o755, path: 0o777} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	s, err := New(Options{Agents: map[string]Memory{"main": nil}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	if n, err := readAs(65534, path); n != 0 || err != nil {
		t.Errorf("another user read %d bytes, %v; want the end at once", n, err)
	}
	own, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	fmt.Fprint(own, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if answer, err := bufio.NewReader(own).ReadString('\n'); !strings.HasPrefix(answer, "HTTP/1.1 ") {
		t.Errorf("this user is turned away: %q, %v", answer, err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "uid=65534") {
		t.Errorf("the log does not tell of user 65534: %s", log.String())
	}
}

// readAs connects to a socket as another user and reads from it. The thread that changed its user is given up.
func readAs(uid int, path string) (n int, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
			err = errno
			return
		}
		var fd int
		if fd, err = syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); err != nil {
			return
		}
		defer syscall.Close(fd)
		if err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
			return
		}
		n, err = syscall.Read(fd, make([]byte, 1))
	}()
	<-done
	return n, err
}

// Servers that start in one folder at the same time wait for each other.
func TestListenUnixWaitsForOthersThatStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var starting sync.WaitGroup
	for n := range 64 {
		starting.Go(func() {
			l, err := ListenUnix(filepath.Join(dir, fmt.Sprintf("%d.sock", n)))
			if err != nil {
				t.Error(err)
				return
			}
			l.Close()
		})
	}
	starting.Wait()
}
