package speed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	kiokuv1 "kioku/proto/kioku/v1"
)

// daemon is a kioku serve in a process of its own.
type daemon struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	conn   *grpc.ClientConn
	client kiokuv1.MemoryServiceClient
	ended  chan error

	mu   sync.Mutex
	peak float64 // guarded by mu
}

// startDaemon starts the program on a workspace and a state folder in e.Dir, with the settings of nobody but args, and
// waits until its index is in step. How much memory it takes is watched from the beginning.
func (e *Env) startDaemon(ctx context.Context, workspace, state string, args ...string) (*daemon, error) {
	if e.Program == "" {
		return nil, errors.New("there is no kioku binary to start")
	}
	d := &daemon{ended: make(chan error, 1)}
	d.cmd = exec.CommandContext(ctx, e.Program, append([]string{"serve", "--workspace", workspace, "--state", state,
		"--listen", "none", "--until-eof"}, args...)...)
	d.cmd.Env = []string{"HOME=" + e.Dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	stderr, err := d.cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start daemon: %w", err)
	}
	if d.stdin, err = d.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start daemon: %w", err)
	}
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start daemon: %w", err)
	}
	said, ready := make(chan string, 1), make(chan string, 1)
	go func() {
		text := listen(stderr, ready)
		err := d.cmd.Wait()
		said <- text
		d.ended <- err
	}()
	if err := d.await(ctx, ready, said); err != nil {
		return nil, errors.Join(fmt.Errorf("start daemon: %w", err), d.end())
	}
	return d, nil
}

// listen reads what a daemon says until its end, and hands over the path of its socket once it is ready.
func listen(stderr io.Reader, ready chan<- string) (said string) {
	var all bytes.Buffer
	socket := ""
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if _, path, ok := strings.Cut(lines.Text(), "listening on unix:"); ok {
			socket = path
		}
		if strings.Contains(lines.Text(), "kioku: ready: ") {
			ready <- socket
		}
		all.WriteString(lines.Text() + "\n")
	}
	return all.String()
}

// await waits until the daemon is ready and connects to it.
func (d *daemon) await(ctx context.Context, ready, said <-chan string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case socket := <-ready:
			conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				return err
			}
			d.conn, d.client = conn, kiokuv1.NewMemoryServiceClient(conn)
			return d.look()
		case text := <-said:
			if err := ctx.Err(); err != nil {
				return err
			}
			return fmt.Errorf("it ended: %s", strings.TrimSpace(text))
		case <-tick.C:
			// It may end at any moment, which is told above.
			_ = d.look()
		}
	}
}

// look remembers how much memory the daemon has taken if it never took as much.
func (d *daemon) look() error {
	mb, err := ownMemory(d.cmd.Process.Pid)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.peak = max(d.peak, mb)
	return err
}

// ask asks the daemon n questions.
func (d *daemon) ask(ctx context.Context, n int, step func(done, total int)) error {
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

// end ends the daemon and waits for its end.
func (d *daemon) end() error {
	var errs []error
	if d.conn != nil {
		errs = append(errs, d.conn.Close())
	}
	_ = d.stdin.Close() // it sees the end of its input or has ended
	return errors.Join(append(errs, <-d.ended)...)
}

// serveProvider serves a provider on loopback, for daemons, until the returned function is called.
func serveProvider(p provider) (baseURL string, end func() error, err error) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("serve embeddings: %w", err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resp, err := p.RoundTrip(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.Copy(w, resp.Body) // who asked and does not read is gone
	})}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(lis) }()
	return "http://" + lis.Addr().String(), func() error {
		err := srv.Close()
		if serr := <-served; !errors.Is(serr, http.ErrServerClosed) {
			err = errors.Join(err, serr)
		}
		return err
	}, nil
}
