// Package connect connects a command to a memory: through the process that has its index and answers on a socket, else through the same
// handlers in this process, over an index that it opens.
package connect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku"
	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/indexer"
	"kioku/memory"
	"kioku/server"
)

// Connector connects the commands of one run to memories.
type Connector struct {
	// Conf contains the settings of the run.
	Conf *config.Config
	// Out takes notices and warnings.
	Out *render.Output
	// Flags are the settings on the command line.
	Flags []config.Flag
	// ConfigFile is the config file that the command line names; empty if it names none.
	ConfigFile string
	// NoDaemon never uses a daemon. ReadOnly reads the index as it is and writes nothing.
	NoDaemon, ReadOnly bool
	// Idle is how long a daemon that is started in the background stays after its last client; 0 means DaemonIdle.
	Idle time.Duration
	// Version of this program.
	Version string
}

// Client is the memory of one agent, in a daemon or in this process. Its Conn reaches the operations of the service.
type Client struct {
	*client.Client
	from   *Connector
	wanted wanted
	need   Need
	// Agent is the id of the agent.
	Agent string
	// Memory is the one that this process has open; nil if another process answers.
	Memory *host.Memory
	// Workspace is the folder of the memory, and State the one that contains its sessions.
	Workspace, State string
	// Socket is the unix socket on which the daemon was reached; empty if none was.
	Socket string
	// ReadOnly is true if the index is read as it is.
	ReadOnly bool
	close    func() error
}

// Need says what a command does with an index.
type Need int

const (
	// ToGet reads notes.
	ToGet Need = iota
	// ToAppend adds notes. It is refused if a daemon runs that does not serve a folder which nothing names.
	ToAppend
	// ToSearch reads an index, after Freshen has brought it up to date.
	ToSearch
	// ToWrite changes the index.
	ToWrite
	// ToTakeOver writes, and may give the index of another folder to this one.
	ToTakeOver
)

// mayRead reports whether the command can do with an index that it only reads.
func (n Need) mayRead() bool { return n <= ToSearch }

const (
	// lockWait is how long a command waits for an index that another process owns and does not answer for.
	lockWait = 10 * time.Second
	// DaemonIdle is how long a background daemon stays after its last client.
	DaemonIdle = 5 * time.Minute
	// DaemonLockWait is how long a daemon waits for it: a search may wait for its provider.
	DaemonLockWait = 20 * time.Second
	// tellWait is how long a command waits before it says for whom, and how long it has an index before it answers others.
	tellWait = time.Second
	// lingerWait is how long a command that ends waits for those that it answers.
	lingerWait = 2 * time.Second
	// catchUpTime is how long a command derives at most before it reads.
	catchUpTime = 2 * time.Second
)

// wanted is the memory that a command wants.
type wanted struct {
	// place of the memory. Its workspace is empty if only a daemon may know it.
	place config.Place
	// named is true if the agent is named. Otherwise the workspace says which agent it is.
	named bool
}

// here returns the memory of the command.
func (k *Connector) here() (wanted, error) {
	place, err := k.Conf.Here()
	if errors.Is(err, config.ErrNoWorkspace) {
		err = nil
	}
	return wanted{place, k.Conf.Named()}, err
}

// of returns the memory of an agent.
func (k *Connector) of(agent string) (wanted, error) {
	place, err := k.Conf.Place(agent)
	if errors.Is(err, config.ErrNoWorkspace) {
		err = nil
	}
	return wanted{place, true}, err
}

// connect returns a client of the process that serves the memory, else a client over an index that this process opens.
func (k *Connector) connect(ctx context.Context, w wanted, n Need) (*Client, error) {
	c, err := k.daemon(ctx, w, n)
	if c != nil || err != nil {
		return c, err
	}
	if w.place.Workspace == "" {
		return nil, config.ErrNoWorkspace
	}
	if k.ReadOnly {
		return k.open(ctx, w, n, kioku.ReadOnly)
	}
	if err := CheckFolder(ctx, k.Conf, w.place, n); err != nil {
		return nil, err
	}
	return k.own(ctx, w, n)
}

// own opens the index, or returns a client of the process that has it and answers. It waits for another owner, for at most lockWait. If this
// user may not write, a need that can do with reading opens the index to read.
func (k *Connector) own(ctx context.Context, w wanted, n Need) (*Client, error) {
	start, told := time.Now(), false
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 160*time.Millisecond) {
		c, err := k.open(ctx, w, n, kioku.Own)
		held, locked := errors.AsType[*kioku.LockedError](err)
		switch {
		case err == nil:
			return c, nil
		case locked:
			// The owner may be a daemon that has only just begun to listen, or a command that takes long.
			if c, again := k.daemon(ctx, w, n); c != nil || again != nil {
				return c, again
			}
		case n.mayRead() && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)):
			c, reading := k.open(ctx, w, n, kioku.ReadOnly)
			if reading != nil {
				return nil, err
			}
			k.Out.Notice("%v; reading it as it is", err)
			return c, nil
		default:
			return nil, err
		}
		waited := time.Since(start)
		switch {
		case k.NoDaemon && held.Daemon && waited > tellWait/2:
			return nil, fmt.Errorf("%w; omit --no-daemon to ask it, or add --read-only to read the index as it is", err)
		case waited > lockWait:
			return nil, fmt.Errorf("%w; wait for it, or end it and run kioku serve, which many commands may ask at once", err)
		}
		if !told && waited > tellWait {
			told = true
			k.Out.Notice("%v; waiting for it", err)
		}
		select {
		// Jitter keeps processes that wait together from retrying together.
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// open opens the memory in this process.
func (k *Connector) open(ctx context.Context, w wanted, n Need, mode kioku.Mode) (*Client, error) {
	place := w.place
	state, err := k.Conf.StateOf(ctx, place.Agent, place.Workspace)
	if err != nil {
		return nil, err
	}
	socket := server.MemorySocketPath(state, place.Agent)
	h, err := host.Open(ctx, host.Options{
		Conf: k.Conf, Places: []config.Place{place}, Mode: mode, Socket: socket, Dir: k.Conf.Dir(), Version: k.Version, Out: k.Out,
		Log: slog.New(&render.Lines{Out: k.Out, Level: QuietLevel(k.Conf)}),
	})
	if err != nil {
		return nil, err
	}
	c := &Client{
		Client: client.Over(h.Server.LocalOperations(), place.Agent), from: k, wanted: w, need: n, Agent: place.Agent, Memory: h.Memories[0],
		Workspace: place.Workspace, State: state, ReadOnly: mode == kioku.ReadOnly, close: h.Close,
	}
	if mode == kioku.Own {
		c.close = k.answerOthers(h, socket)
	}
	return c, nil
}

// answerOthers has a host that has had its index for a while answer other processes on a socket, so that they need not wait. That it
// cannot is told, and is no error of the command. It returns what closes the host.
func (k *Connector) answerOthers(h *host.Host, socket string) func() error {
	ctx, end := context.WithCancel(context.Background())
	var answering atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-ctx.Done():
			return
		case <-time.After(tellWait):
		}
		err := h.Listen(ctx, socket, "none")
		if err == nil {
			answering.Store(true)
			err = h.Serve(ctx)
		}
		if err != nil && ctx.Err() == nil {
			k.Out.Notice("other commands wait until this one ends, because it cannot answer them: %s", render.Message(err))
		}
	}()
	return func() error {
		if answering.Load() {
			lingering, stop := context.WithTimeout(ctx, lingerWait)
			_ = h.Server.WaitIdle(lingering, lingerWait/20) // those who stay longer are told that the connection has ended
			stop()
		}
		end()
		<-ended
		return h.Close()
	}
}

// QuietLevel returns the log level of a command: the configured one, else warn.
func QuietLevel(conf *config.Config) slog.Level {
	if conf.Explicit("logLevel") {
		return conf.LogLevel
	}
	return slog.LevelWarn
}

// Freshen syncs the index before a query, unless a daemon keeps it in sync. It never rebuilds the index, which may take long
// and cost embeddings, but reports that kioku index would. If the sync fails, Freshen reports it, and the index still
// answers. A client that only reads compares the folder with the index, so that answers say if it has changed.
//
// It brings what is derived up to date too, for at most catchUpTime: what was derived from a file that has changed is not found until then.
func (c *Client) Freshen(ctx context.Context) error { return c.freshen(ctx, c.catchUp) }

// freshen syncs the index, and calls derive.
func (c *Client) freshen(ctx context.Context, derive func(context.Context) error) error {
	if c.Memory == nil {
		return nil
	}
	if c.ReadOnly {
		if err := c.Memory.Compare(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.from.Out.Notice("the index may lag behind the folder: %s", render.Message(err))
		}
		return nil
	}
	err := c.syncForQuery(ctx)
	if err == nil && c.Memory.Damaged() { // the end of the sync has met damage, and the index is empty now
		err = c.syncForQuery(ctx)
	}
	if err == nil && c.Memory.Deriver != nil {
		err = derive(ctx)
	}
	return err
}

// Search searches. If that meets damage in an index that this process has open, it has the index made again and searches once more.
func (c *Client) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	answer, err := c.Client.Search(ctx, q)
	if c.Memory == nil || c.ReadOnly || !c.Memory.Damaged() {
		return answer, err
	}
	c.from.Out.Notice("the index is damaged and is made again")
	if err := c.syncForQuery(ctx); err != nil {
		return answer, err
	}
	return c.Client.Search(ctx, q)
}

// syncForQuery syncs the index of this process. It reports a sync that failed or was not complete.
func (c *Client) syncForQuery(ctx context.Context) error {
	out := c.from.Out
	report, err := c.SyncIndex(ctx, indexer.SyncOptions{NoRebuild: true})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		out.Notice("the index may lag behind the folder: %s", render.Message(err))
		return nil
	}
	out.TellUndone(slices.DeleteFunc(report.Degraded, func(d memory.Degradation) bool {
		return d.Code == memory.VectorsMissing // the answer tells
	}))
	return nil
}

// Of names the agent of the client in a request.
func (c *Client) Of() server.OfAgent { return server.OfAgent{Agent: c.Agent} }

// Status describes the index of the client's agent.
func (c *Client) Status(ctx context.Context) (server.IndexStatus, error) {
	return server.Notes.Status.Call(ctx, c.Conn, c.Of())
}

// SyncIndex syncs the index of the client's agent, shows the progress and returns the report.
func (c *Client) SyncIndex(ctx context.Context, opt indexer.SyncOptions) (server.SyncDone, error) {
	return c.reported(ctx, server.Notes.Sync.Call(ctx, c.Conn, server.SyncIndex{OfAgent: c.Of(), SyncOptions: opt}))
}

// RebuildIndex rebuilds the index of the client's agent, shows the progress and returns the report.
func (c *Client) RebuildIndex(ctx context.Context) (server.SyncDone, error) {
	return c.reported(ctx, server.Notes.Rebuild.Call(ctx, c.Conn, c.Of()))
}

// reported shows the progress of a sync or rebuild and returns its report.
func (c *Client) reported(ctx context.Context, steps iter.Seq2[server.SyncStep, error]) (server.SyncDone, error) {
	m := c.from.Out.Meter()
	defer m.Run()()
	for step, err := range steps {
		switch {
		case err != nil:
			return server.SyncDone{}, err
		case step.Report != nil:
			return *step.Report, nil
		case step.Progress != nil:
			m.Step(*step.Progress)
		}
	}
	if ctx.Err() != nil {
		return server.SyncDone{}, ctx.Err()
	}
	return server.SyncDone{}, errors.New("the service ended without a result")
}

// Watching runs f while it keeps the index in sync, unless a daemon does that or nothing may be written.
func (c *Client) Watching(ctx context.Context, f func(context.Context) error) error {
	if c.Memory == nil || c.ReadOnly {
		return f(ctx)
	}
	watching, stop := context.WithCancel(ctx)
	var group errgroup.Group
	group.Go(func() error { return c.Memory.Keep(watching) })
	err := f(ctx)
	stop()
	if failed := group.Wait(); failed != nil && !errors.Is(failed, context.Canceled) {
		err = errors.Join(err, fmt.Errorf("watch the folder: %w", failed))
	}
	return err
}

// With runs f with a client and closes the client.
func (k *Connector) With(ctx context.Context, n Need, f func(*Client) error) error {
	w, err := k.here()
	if err != nil {
		return err
	}
	c, err := k.connect(ctx, w, n)
	if err != nil {
		return err
	}
	if err := f(c); err != nil {
		return errors.Join(err, c.close())
	}
	if err := c.close(); err != nil {
		return fmt.Errorf("close the index: %w", err)
	}
	return nil
}
