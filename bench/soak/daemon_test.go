package soak

import (
	"bufio"
	"context"
	"errors"
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

	"kioku"
	kiokuclient "kioku/client"
	"kioku/memory"
	"kioku/server"
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
	defer c.Close()
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

// client is a client of the daemon of a place, which outlives the daemon.
type client struct{ *kiokuclient.Client }

// dial returns a client.
func (p *place) dial() client {
	p.t.Helper()
	c, err := kiokuclient.Dial("unix:"+filepath.Join(p.state, "kioku.sock"), kiokuclient.Options{Timeout: patience})
	if err != nil {
		p.t.Fatal(err)
	}
	return client{c}
}

// whenReady calls a daemon, and again while none answers.
func whenReady[Out any](call func(context.Context) (Out, error)) (out Out, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		if out, err = call(ctx); !errors.Is(err, memory.ErrUnreachable) || ctx.Err() != nil {
			return out, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// search asks for a text.
func (c client) search(query string) (memory.Answer, error) {
	return whenReady(func(ctx context.Context) (memory.Answer, error) { return c.Search(ctx, memory.Query{Text: query}) })
}

// finds reports whether an answer has a text in a hit.
func finds(a memory.Answer, text string) bool {
	for _, hit := range a.Hits {
		if strings.Contains(hit.Snippet, text) {
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
func (c client) status() (server.IndexStatus, error) {
	return whenReady(func(ctx context.Context) (server.IndexStatus, error) {
		return server.Notes.Status.Call(ctx, c.Conn, server.OfAgent{})
	})
}

// settle waits until the index lacks nothing, and returns what it still lacks after a time.
func (c client) settle(d time.Duration) string {
	lacks := ""
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		st, err := c.status()
		switch {
		case err != nil:
			lacks = err.Error()
		case len(st.Degraded) > 0:
			lacks = fmt.Sprint(st.Degraded)
		case st.Sync.Syncing:
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
