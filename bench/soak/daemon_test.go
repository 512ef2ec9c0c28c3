package soak

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"kioku"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/store"
	"kioku/store/storetest"
)

// patience bounds every wait for the daemon; nothing should need nearly as long.
const patience = 30 * time.Second

// place is a workspace with its state, served by one daemon at a time.
type place struct {
	t                     *soak
	dir, workspace, state string
	provider              *provider // nil without vectors
	env                   []string  // further variables of the environment of every command
	cmd                   *exec.Cmd
	ended                 chan struct{}
	mu                    sync.Mutex
	log                   []string // guarded by mu; what the daemons wrote to stderr
	ready                 chan struct{}
}

// newPlace makes an empty workspace.
func newPlace(s *soak, dir string, p *provider) *place {
	s.Helper()
	pl := &place{t: s, dir: dir, workspace: filepath.Join(dir, "ws"), state: filepath.Join(dir, "state"), provider: p}
	if err := os.MkdirAll(filepath.Join(pl.workspace, "memory"), 0o755); err != nil {
		s.Fatal(err)
	}
	return pl
}

// flags are those of every command on the place.
func (p *place) flags(state string) []string {
	flags := []string{"--workspace", p.workspace, "--state", state, "--set", "logLevel=info"}
	if p.provider != nil {
		flags = append(flags, "--provider", "openai", "--base-url", p.provider.URL, "--model", "fake")
	}
	return flags
}

// command returns a subcommand on the place.
func (p *place) command(state string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, append(args, p.flags(state)...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TZ=UTC"}, p.env...)
	return cmd
}

// database is the file of the index.
func (p *place) database() string { return p.indexIn(p.state) }

// indexIn is the file of the index in a state folder.
func (p *place) indexIn(state string) string {
	return store.Path(filepath.Join(state, "folders", kioku.FolderKey(p.workspace)), "main")
}

// start starts a daemon without waiting for it.
func (p *place) start() {
	p.t.Helper()
	p.cmd = p.command(p.state, "serve", "--listen", "none")
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	cmd, ready, ended := p.cmd, make(chan struct{}), make(chan struct{})
	p.ready, p.ended = ready, ended
	go func() {
		lines := bufio.NewScanner(stderr)
		for told := false; lines.Scan(); {
			p.mu.Lock()
			p.log = append(p.log, lines.Text())
			p.mu.Unlock()
			if !told && strings.Contains(lines.Text(), " ready: ") {
				told = true
				close(ready)
			}
		}
		_ = cmd.Wait() // killed or not
		close(ended)
	}()
}

// serve starts a daemon and waits until it is ready.
func (p *place) serve() {
	p.t.Helper()
	p.start()
	select {
	case <-p.ready:
	case <-p.ended:
		p.t.Fatalf("the daemon does not start: %q", p.tail())
	case <-time.After(patience):
		p.t.Fatalf("the daemon is not ready: %q", p.tail())
	}
}

// answers waits until the daemon answers.
func (p *place) answers() {
	p.t.Helper()
	c := p.dial()
	defer c.conn.Close()
	if _, err := c.status(); err != nil {
		p.t.broken("the daemon does not answer: %v; %q", err, p.tail())
	}
}

// stop sends a signal to the daemon and waits for its end.
func (p *place) stop(sig syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		return // it has ended
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.broken("the daemon does not end: %q", p.tail())
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// alive reports whether the daemon runs.
func (p *place) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// tail returns the last lines of the log.
func (p *place) tail() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.log[max(0, len(p.log)-12):]...)
}

// said reports whether the log contains a text since a line.
func (p *place) said(from int, text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(strings.ToLower(strings.Join(p.log[min(from, len(p.log)):], "\n")), text)
}

// lines counts the lines of the log.
func (p *place) lines() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.log)
}

// client is one connection to the daemon of a place, which outlives the daemon.
type client struct {
	kiokuv1.MemoryServiceClient
	conn *grpc.ClientConn
}

// dial returns a connection.
func (p *place) dial() client {
	p.t.Helper()
	conn, err := grpc.NewClient("unix:"+filepath.Join(p.state, "kioku.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: time.Second,
			Backoff: backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.5, MaxDelay: 100 * time.Millisecond}}),
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	if err != nil {
		p.t.Fatal(err)
	}
	return client{kiokuv1.NewMemoryServiceClient(conn), conn}
}

// search asks for a text.
func (c client) search(query string) (*kiokuv1.MemorySearchResponse, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: "main", Query: query})
}

// finds reports whether an answer has a text in a hit.
func finds(r *kiokuv1.MemorySearchResponse, text string) bool {
	for _, hit := range r.GetResults() {
		if strings.Contains(hit.GetSnippet(), text) {
			return true
		}
	}
	return false
}

// scrub has the daemon read every file and its whole index, and mend what is wrong. It returns what it says.
func (p *place) scrub() (string, error) {
	out, err := p.command(p.state, "status", "--deep", "--json").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("kioku status --deep: %w: %s", err, out)
	}
	return string(out), err
}

// status returns the state of the index.
func (c client) status() (*kiokuv1.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.Status(ctx, &kiokuv1.StatusRequest{Agent: "main"})
}

// settle waits until the index lacks nothing, and returns what it still lacks after a time.
func (c client) settle(d time.Duration) string {
	lacks := ""
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		st, err := c.status()
		switch {
		case err != nil:
			lacks = err.Error()
		case len(st.GetDegraded()) > 0:
			lacks = fmt.Sprint(st.GetDegraded())
		case st.GetSyncing():
			lacks = "a sync is running"
		default:
			return ""
		}
	}
	return lacks
}

// compare returns the lines in which the index of a stopped daemon differs from one that is made anew.
func (p *place) compare() []string {
	p.t.Helper()
	fresh, err := os.MkdirTemp(p.dir, "fresh-")
	if err != nil {
		p.t.Fatal(err)
	}
	defer os.RemoveAll(fresh)
	if out, err := p.command(fresh, "index", "--no-daemon", "--strict").CombinedOutput(); err != nil {
		return []string{fmt.Sprintf("the fresh index: %v: %s", err, out)}
	}
	return difference(p.dump(p.indexIn(fresh)), p.dump(p.database()))
}

// dump returns the lines of an index, or why it cannot be read.
func (p *place) dump(path string) []string {
	d := &dumper{T: p.t.T}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.text = storetest.Dump(d, path)
	}()
	<-done
	return strings.Split(d.text, "\n")
}

// dumper takes the place of a test for storetest.Dump: an index that cannot be read must not end the run.
type dumper struct {
	*testing.T
	text string
}

// Fatal keeps what it is told and ends the goroutine.
func (d *dumper) Fatal(args ...any) {
	d.text = fmt.Sprint(args...)
	runtime.Goexit()
}

// Fatalf is Fatal with a format.
func (d *dumper) Fatalf(format string, args ...any) { d.Fatal(fmt.Sprintf(format, args...)) }

// difference returns up to three of the lines that only one of two lists has.
func difference(want, got []string) []string {
	count := map[string]int{}
	for _, line := range want {
		count[line]++
	}
	for _, line := range got {
		count[line]--
	}
	var diff []string
	for line, n := range count {
		if n != 0 && len(diff) < 3 {
			diff = append(diff, fmt.Sprintf("%+d %.300s", -n, line))
		}
	}
	return diff
}
