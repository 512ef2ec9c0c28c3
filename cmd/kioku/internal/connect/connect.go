// Package connect connects a command to a memory: through the daemon that listens on the socket of the state folder, else
// through the same handlers in this process, over an index that it opens.
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
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku"
	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/derive"
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

	// derivers derive from the memories that the command opens itself.
	derivers Derivers
}

// Client is the memory of one agent, in a daemon or in this process. Its Conn reaches the operations of the service.
type Client struct {
	*client.Client
	from   *Connector
	wanted wanted
	need   Need
	// Agent is the id of the agent.
	Agent string
	// Memory is nil if a daemon answers, and remote if none does.
	Memory *kioku.Memory
	// deriver derives from Memory; nil if a daemon answers or derivation is off.
	deriver *derive.Service
	// Workspace is the folder of the memory, and State the one that contains its sessions.
	Workspace, State string
	// Socket is the unix socket on which the daemon was reached; empty if none was.
	Socket string
	// ReadOnly is true if the index is read as it is. If another process owns it, notes can still be added.
	ReadOnly bool
	close    func() error
}

// Need says what a command does with an index.
type Need int

const (
	// ToGet reads notes. It takes the lock of the index only to create one.
	ToGet Need = iota
	// ToAppend adds notes. It takes the lock like ToGet. It is refused if a daemon runs that does not serve a folder which
	// nothing names.
	ToAppend
	// ToSearch reads an index, after Freshen has brought it up to date if nobody else has it.
	ToSearch
	// ToWatch keeps the index in sync if nobody else has it, and otherwise reads it.
	ToWatch
	// ToWrite needs the index for itself.
	ToWrite
	// ToTakeOver writes, and may give the index of another folder to this one.
	ToTakeOver
	// ToWriteNow writes, and does not wait for another owner of the index.
	ToWriteNow
)

// mayRead reports whether the command can do with an index that it only reads.
func (n Need) mayRead() bool { return n <= ToWatch }

const (
	// lockWait is how long a command waits for an index that another process owns.
	lockWait = 5 * time.Second
	// DaemonIdle is how long a background daemon stays after its last client.
	DaemonIdle = 5 * time.Minute
	// DaemonLockWait is how long a daemon waits for it.
	DaemonLockWait = 10 * time.Second
	// tellWait is how long a command waits before it says for whom.
	tellWait = time.Second
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

// connect returns a client of the daemon that serves the memory, else a client over an index that this process opens. If
// another process owns the index, the client can only read it and add notes.
func (k *Connector) connect(ctx context.Context, w wanted, n Need) (*Client, error) {
	c, err := k.daemon(ctx, w, n)
	if c != nil || err != nil {
		return c, err
	}
	if w.place.Workspace == "" {
		return nil, config.ErrNoWorkspace
	}
	if k.ReadOnly {
		return k.open(ctx, w, n, true)
	}
	if err := CheckFolder(ctx, k.Conf, w.place, n); err != nil {
		return nil, err
	}
	return k.own(ctx, w, n)
}

// Improve reconnects a client that reads the index of another process: to the index once it is free, or to a daemon.
func (c *Client) Improve(ctx context.Context) error {
	if !c.ReadOnly || c.from.ReadOnly {
		return nil
	}
	better, err := c.from.connect(ctx, c.wanted, ToWriteNow)
	if errors.Is(err, memory.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	old := c.close
	*c = *better
	return old()
}

// own opens the index for writing, or returns a client of a daemon that has opened it meanwhile. If this user may not write
// or another process owns the index, a need that can do with reading opens it to read. Any other need waits for the owner,
// for at most lockWait.
func (k *Connector) own(ctx context.Context, w wanted, n Need) (*Client, error) {
	if n <= ToAppend {
		// This fails if there is no index yet, or none that can be read.
		if c, err := k.open(ctx, w, n, true); err == nil {
			return c, nil
		}
	}
	start, told := time.Now(), false
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 160*time.Millisecond) {
		c, err := k.open(ctx, w, n, false)
		if err == nil || !mayBeReadable(err) {
			return c, err
		}
		var held *kioku.LockedError
		locked := errors.As(err, &held)
		if locked {
			// The owner may be a daemon that has only just begun to listen.
			if c, again := k.daemon(ctx, w, n); c != nil || again != nil {
				return c, again
			}
		}
		if n.mayRead() {
			// Of a locked index this fails only while its owner creates it.
			if c, reading := k.open(ctx, w, n, true); reading == nil {
				if !locked || held.Daemon {
					k.Out.Notice("%v; reading it as it is", err)
				}
				return c, nil
			}
		}
		if !locked || n == ToWriteNow {
			return nil, err
		}
		waited := time.Since(start)
		if waited > lockWait || k.NoDaemon && held.Daemon && waited > tellWait/2 {
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

// mayBeReadable reports whether an index that could not be opened for writing may still be readable: another
// process owns it, or this user may not write.
func mayBeReadable(err error) bool {
	return errors.Is(err, memory.ErrLocked) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// open opens the memory in this process.
func (k *Connector) open(ctx context.Context, w wanted, n Need, readOnly bool) (*Client, error) {
	place := w.place
	conf, err := k.Conf.ForFolder(place.Workspace)
	if err != nil {
		return nil, err
	}
	var embedders Embedders
	embedder, err := embedders.Of(conf)
	if err != nil {
		return nil, err
	}
	reranker, err := Reranker(conf)
	if err != nil {
		return nil, err
	}
	opt, err := Engine(ctx, conf, place, embedder, slog.New(&render.Lines{Out: k.Out, Level: QuietLevel(k.Conf)}))
	if err != nil {
		return nil, err
	}
	opt.Search.Reranker = reranker
	switch {
	case k.ReadOnly:
		opt.Mode = kioku.ReadOnly
	case readOnly:
		opt.Mode = kioku.ReadIndex
	}
	memory, err := kioku.Open(ctx, opt)
	if err != nil {
		return nil, err
	}
	srvOpt := server.Options{
		Version: k.Version, Network: conf.Network, Location: conf.Location, Log: opt.Log,
	}
	k.derivers.Tell = func(text string) { k.Out.Notice("%s", text) }
	deriver, err := k.derivers.Of(conf, place, memory, opt.Log)
	if err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	srvOpt.Agents = map[string]server.Memory{place.Agent: Recalling(conf, memory, deriver)}
	if deriver != nil {
		srvOpt.Derivers = map[string]server.Deriver{place.Agent: deriver}
	}
	srv, err := server.New(srvOpt)
	if err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	return &Client{
		Client: client.Over(srv.LocalOperations(), place.Agent), from: k, wanted: w, need: n, Agent: place.Agent, Memory: memory, deriver: deriver,
		Workspace: place.Workspace, State: opt.StateDir, ReadOnly: readOnly, close: memory.Close,
	}, nil
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
// answers. For the need ToSearch the client gives the index up then: a search may wait for a provider, and others for the
// index. A client that only reads compares the folder with the index, so that answers say if it has changed.
//
// It brings what is derived up to date too, for at most catchUpTime: what was derived from a file that has changed is not found until then.
func (c *Client) Freshen(ctx context.Context) error { return c.freshen(ctx, c.catchUp) }

// freshen syncs the index, and calls derive before the client may give it up.
func (c *Client) freshen(ctx context.Context, derive func(context.Context) error) error {
	if c.Memory == nil {
		return nil
	}
	if !c.ReadOnly {
		err := c.syncForQuery(ctx)
		if err == nil && c.Memory.Damaged() { // the end of the sync has met damage, and the index is empty now
			err = c.syncForQuery(ctx)
		}
		if err == nil && c.deriver != nil {
			err = derive(ctx)
		}
		if err != nil || c.need != ToSearch {
			return err
		}
		if err := c.release(ctx); err != nil {
			return err
		}
	}
	if err := c.Memory.Compare(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.from.Out.Notice("the index may lag behind the folder: %s", render.Message(err))
	}
	return nil
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

// release gives up the index that this process owns and opens it to read.
func (c *Client) release(ctx context.Context) error {
	if err := c.close(); err != nil {
		return fmt.Errorf("close the index: %w", err)
	}
	c.close = func() error { return nil }
	reading, err := c.from.open(ctx, c.wanted, c.need, true)
	if err != nil {
		// Another process may have the index now, and not be ready yet.
		reading, err = c.from.connect(ctx, c.wanted, c.need)
	}
	if err == nil {
		*c = *reading
	}
	return err
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
	group.Go(func() error { return c.Memory.Watch(watching) })
	if c.deriver != nil {
		group.Go(func() error { return Deriving(watching, c.Memory, c.deriver) })
	}
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
