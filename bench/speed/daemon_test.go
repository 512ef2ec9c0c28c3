package speed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	kiokuv1 "kioku/proto/kioku/v1"
)

// callTimeout is the deadline of a call, as callers set it.
const callTimeout = 10 * time.Second

// daemon is a kioku serve in a process of its own.
type daemon struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	conn   *grpc.ClientConn
	client kiokuv1.MemoryServiceClient
	// peak is the most memory that look has seen, in MB.
	peak float64

	// exited is closed after the process has ended and log and err are set.
	exited chan struct{}
	log    string
	err    error
}

// command returns a command of the kioku binary that sees no settings of this machine.
func (e *Env) command(ctx context.Context, args ...string) (*exec.Cmd, error) {
	if e.Program == "" {
		return nil, errors.New("there is no kioku binary to start")
	}
	cmd := exec.CommandContext(ctx, e.Program, args...)
	cmd.Env = []string{"HOME=" + e.Dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	cmd.Dir = e.Dir
	return cmd, nil
}

// startDaemon starts a daemon on a workspace and a state folder, and waits until its index is in step. Its memory is
// watched from the beginning.
func (e *Env) startDaemon(ctx context.Context, workspace, state string, args ...string) (*daemon, error) {
	return e.startServe(ctx, append([]string{"--workspace", workspace, "--state", state, "--listen", "none"}, args...)...)
}

// startServe starts a daemon with arguments, and waits until its indexes are in step.
func (e *Env) startServe(ctx context.Context, args ...string) (*daemon, error) {
	cmd, err := e.command(ctx, append([]string{"serve", "--until-eof"}, args...)...)
	if err != nil {
		return nil, err
	}
	d := &daemon{cmd: cmd, exited: make(chan struct{})}
	stderr, err := cmd.StderrPipe()
	if err == nil {
		d.stdin, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start daemon: %w", err)
	}
	ready := make(chan string, 1)
	go func() {
		d.log = readLog(stderr, ready)
		d.err = cmd.Wait()
		close(d.exited)
	}()
	if err := d.awaitReady(ctx, ready); err != nil {
		return nil, errors.Join(fmt.Errorf("start daemon: %w", err), d.stop())
	}
	return d, nil
}

// readLog reads the log of a daemon until its end, and sends the path of its socket when it is ready.
func readLog(stderr io.Reader, ready chan<- string) string {
	var log strings.Builder
	socket := ""
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if _, path, ok := strings.Cut(lines.Text(), "listening on unix:"); ok {
			socket = path
		}
		if strings.Contains(lines.Text(), " ready:") {
			ready <- socket
		}
		log.WriteString(lines.Text() + "\n")
	}
	return log.String()
}

// awaitReady waits until the daemon is ready, and connects to it.
func (d *daemon) awaitReady(ctx context.Context, ready <-chan string) (err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case socket := <-ready:
			if d.conn, d.client, err = dial("unix:" + socket); err != nil {
				return err
			}
			return d.look()
		case <-d.exited:
			if err := ctx.Err(); err != nil {
				return err
			}
			return fmt.Errorf("it ended: %s", strings.TrimSpace(d.log))
		case <-tick.C:
			_ = d.look() // if the process has just ended, exited tells
		}
	}
}

// dial returns a client of the server at a target of gRPC, such as "unix:/path" or "host:port".
func dial(target string) (*grpc.ClientConn, kiokuv1.MemoryServiceClient, error) {
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, nil, err
	}
	return conn, kiokuv1.NewMemoryServiceClient(conn), nil
}

// look updates peak.
func (d *daemon) look() error {
	mb, err := ownMemory(d.cmd.Process.Pid)
	d.peak = max(d.peak, mb)
	return err
}

// search asks the daemon n questions.
func (d *daemon) search(ctx context.Context, n int, step func(done, total int)) error {
	for i, q := range questions(n) {
		step(i, n)
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		_, err := d.client.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: "main", Query: q})
		cancel()
		if err == nil {
			err = d.look()
		}
		if err != nil {
			return fmt.Errorf("ask %q: %w", q, err)
		}
	}
	return nil
}

// stop ends the daemon and waits until it has ended.
func (d *daemon) stop() error {
	var err error
	if d.conn != nil {
		err = d.conn.Close()
	}
	_ = d.stdin.Close() // the daemon ends at the end of its input, or has ended
	<-d.exited
	return errors.Join(err, d.err)
}

// ownMemory returns the private memory of a process in MB, including what was swapped out. Pages of files that it maps
// belong to the kernel, which reclaims them at will; they are included only if the system does not tell them apart.
func ownMemory(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err == nil {
		return sumFields(string(status), "RssAnon:", "VmSwap:"), nil
	}
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0, fmt.Errorf("read how much memory process %d takes: %w", pid, err)
	}
	return sumFields("RSS: "+strings.TrimSpace(string(out))+" kB", "RSS:"), nil
}

// sumFields returns the sum of fields of /proc/<pid>/status in MB; a missing field is 0.
func sumFields(status string, fields ...string) (mb float64) {
	for line := range strings.Lines(status) {
		f := strings.Fields(line)
		for _, name := range fields {
			if len(f) == 3 && f[0] == name {
				kb, _ := strconv.ParseFloat(f[1], 64)
				mb += kb * 1024 / 1e6
			}
		}
	}
	return mb
}
