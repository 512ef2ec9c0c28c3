package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/derive"
	"kioku/internal/trace"
	"kioku/memory"
	"kioku/server"
	"kioku/server/metrics"
	"kioku/store/slab"
)

// closeWait is how long closing the indexes may take after the last call has ended.
const closeWait = 10 * time.Second

func (a *app) serveCmd() *cobra.Command {
	var f *serveFlags
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve memories over gRPC and keep their indexes in sync",
		Long: "Serve memories, and what runs beside their agents, over gRPC, on a unix socket in the state folder and on a TCP address,\n" +
			"and keep the indexes in sync with the folders. SIGTERM ends it gracefully, a second one at once. SIGHUP reads the settings\n" +
			"again, also those of the workspaces, and applies those of searches (query.*), logLevel and offline; docs/operations.md has\n" +
			"the list. Sockets that systemd hands over are served, and systemd is told how the daemon is.",
		Example: "  kioku serve --workspace ~/notes\n  kioku serve --agent nova=~/nova --agent ryo=~/ryo --listen none",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serve(f.context(cmd, a), f)
		},
	}
	cmd.Flags().Var(&setting{app: a, name: "listen", key: "listen"}, "listen", "TCP `address`, none for no TCP (default 127.0.0.1:7600)")
	f = a.addServeFlags(cmd)
	cmd.Flags().BoolVar(&f.background, "background", false, "serve one memory for the clients that start it, until they are gone")
	cmd.Flags().DurationVar(&f.idle, "idle", connect.DaemonIdle, "with --background, how `long` it stays after the last client")
	for _, name := range []string{"background", "idle"} {
		_ = cmd.Flags().MarkHidden(name) // the flag exists
	}
	return cmd
}

// serveFlags are the flags of all commands that serve.
type serveFlags struct {
	grace    time.Duration
	untilEOF bool
	// background serves one memory on a socket beside its index, until no client has been connected for as long as idle.
	background bool
	idle       time.Duration
	// councilOnly serves the agents of the council, and no workspace that was only found.
	councilOnly bool
}

// addServeFlags adds them to a command.
func (a *app) addServeFlags(cmd *cobra.Command) *serveFlags {
	f, fl := &serveFlags{}, cmd.Flags()
	fl.Var(&setting{app: a, name: "token-file", key: "tokenFile"}, "token-file", "`file` of the tokens that may connect over TCP")
	fl.Var(&setting{app: a, name: "tls-cert", key: "tls.cert"}, "tls-cert", "PEM `file` of the certificate of the TCP address")
	fl.Var(&setting{app: a, name: "tls-key", key: "tls.key"}, "tls-key", "PEM `file` of its private key")
	fl.Var(&setting{app: a, name: "tls-client-ca", key: "tls.clientCA"}, "tls-client-ca", "PEM `file` of authorities; clients over TCP need a certificate of one")
	fl.Var(&setting{app: a, name: "insecure-plaintext", key: "insecurePlaintext"}, "insecure-plaintext", "permit an address beyond loopback without TLS")
	fl.Lookup("insecure-plaintext").NoOptDefVal = "true"
	fl.Var(&agentFlag{setting{app: a, name: "agent"}}, "agent", "`id=folder` of an agent (repeatable), or the id that --workspace belongs to")
	fl.DurationVar(&f.grace, "grace", 10*time.Second, "how `long` running calls may continue after a signal")
	fl.BoolVar(&f.untilEOF, "until-eof", false, "end when standard input ends, for a program that starts this one")
	return f
}

// context returns the context in which a command serves.
func (f *serveFlags) context(cmd *cobra.Command, a *app) context.Context {
	if f.untilEOF {
		return untilEnd(cmd.Context(), a.stdin)
	}
	return cmd.Context()
}

// untilEnd returns a context that ends when r does. Standard input ends for a child however its parent dies.
func untilEnd(parent context.Context, r io.Reader) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	// A read of standard input cannot be canceled, so this goroutine may live as long as the process.
	go func() {
		_, _ = io.Copy(io.Discard, r)
		cancel(errNoInput)
	}()
	return ctx
}

// agentFlag is --agent of the daemon: id=folder, or only the id.
type agentFlag struct{ setting }

// Set remembers the value until the settings are read.
func (f *agentFlag) Set(value string) error {
	f.key = "agent"
	if strings.Contains(value, "=") {
		f.key = "agents"
	}
	return f.setting.Set(value)
}

// checkAgents returns a misuse if two flags or variables set the folder of one agent.
func (a *app) checkAgents(conf *config.Config) error {
	named := map[string]string{}
	if v, err := conf.Value("workspace"); err == nil && conf.ByFlagOrEnv("workspace") {
		named[conf.Agent] = v.Origin + " " + v.Text
	}
	for _, f := range a.flags {
		if f.Key != "agents" {
			continue
		}
		for item := range strings.SplitSeq(f.Value, ",") {
			id, _, _ := strings.Cut(strings.TrimSpace(item), "=")
			if before := named[id]; before != "" {
				return render.Misuse("agent %s has two folders, %s and %s %s; omit one", id, before, f.Name, item)
			}
			named[id] = f.Name + " " + item
		}
	}
	return nil
}

// daemon is the state of a running kioku serve.
type daemon struct {
	app      *app
	flags    *serveFlags
	end      context.CancelCauseFunc // ends the context in which the daemon serves
	conf     *config.Config
	level    *slog.LevelVar
	log      *slog.Logger
	observed observation
	memories []*kioku.Memory
	// counted are the memories with their searches counted, in the same order.
	counted []metrics.Memory
	// folders are the settings in force in the workspace of each memory.
	folders []*config.Config
	// derivers derive from each memory; nil for one from which nothing is derived.
	derivers []*derive.Service
	// council that the daemon runs; nil for none.
	council *daemonCouncil
	door    *door
}

func (a *app) serve(ctx context.Context, f *serveFlags) error {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	spreadProcessors()
	d, err := a.newDaemon(ctx, f)
	if err != nil {
		return err
	}
	start := time.Now()
	a.Clock = time.Now
	ctx, d.end = context.WithCancelCause(ctx)
	defer d.end(nil)
	err = d.serveUntilDone(ctx, hangups)
	a.tellEnd(ctx, start, err)
	return err
}

// serveUntilDone serves until ctx ends, and closes the memories.
func (d *daemon) serveUntilDone(ctx context.Context, hangups <-chan os.Signal) error {
	tasks := []func(context.Context) error{d.keepInSync, d.derive, d.runCouncil, func(ctx context.Context) error { return d.reloadOn(ctx, hangups) }}
	if d.flags.background {
		tasks = append(tasks, d.endWhenIdle, d.endWhenReplaced)
	}
	err := d.app.serveDoor(ctx, d.door, tasks...)
	return errors.Join(err, d.closeCouncil(), d.closeMemories(), d.observed.close())
}

// endWhenIdle ends the daemon when no client has been connected for a while.
func (d *daemon) endWhenIdle(ctx context.Context) error {
	err := d.door.WaitIdle(ctx, d.flags.idle)
	if err == nil {
		d.end(errIdle)
	}
	return err
}

// endWhenReplaced ends the daemon when kioku serve takes its place.
func (d *daemon) endWhenReplaced(ctx context.Context) error {
	places, err := d.places()
	if err != nil {
		return err
	}
	b, err := connect.BackgroundOf(ctx, d.conf, places[0])
	if err != nil {
		return err
	}
	if b.AwaitTakeOver(ctx) == nil {
		d.end(errReplaced)
	}
	return nil
}

// newDaemon reads the settings, opens the memories and listens.
func (a *app) newDaemon(ctx context.Context, f *serveFlags) (*daemon, error) {
	if a.readOnly {
		return nil, render.Misuse("kioku serve keeps the indexes in sync, so it has to write; omit --read-only")
	}
	conf, err := a.commonConfig()
	if err != nil {
		return nil, err
	}
	if err := a.checkAgents(conf); err != nil {
		return nil, err
	}
	level := &slog.LevelVar{}
	level.Set(conf.LogLevel)
	d := &daemon{app: a, flags: f, conf: conf, level: level, log: a.log(level)}
	if err := d.open(ctx); err != nil {
		return nil, errors.Join(err, d.closeCouncil(), d.closeMemories(), d.observed.close())
	}
	return d, nil
}

// open opens the memories, and a door to them and to the sidecars.
func (d *daemon) open(ctx context.Context) error {
	if err := d.loadCouncil(); err != nil {
		return err
	}
	places, err := d.places()
	if err != nil {
		return err
	}
	if d.observed, err = openObservation(ctx, d.conf, d.log); err != nil {
		return err
	}
	taken, err := d.takeOver(ctx, places)
	defer taken()
	if err != nil {
		return err
	}
	socket, address, err := d.addresses(ctx, places)
	if err != nil {
		return err
	}
	if err := d.openMemories(ctx, places, socket); err != nil {
		return err
	}
	agents, derivers := map[string]server.Memory{}, map[string]server.Deriver{}
	for i, m := range d.memories {
		agents[m.Agent()] = d.counted[i]
		if d.derivers[i] != nil {
			derivers[m.Agent()] = d.derivers[i]
			d.observed.metrics.Derive(m.Agent(), d.derivers[i])
		}
	}
	opt := server.Options{Agents: agents, Derivers: derivers, Network: d.conf.Network, Grace: d.flags.grace, Log: d.log}
	if err := d.openCouncil(&opt); err != nil {
		return err
	}
	d.door, err = d.app.openDoor(ctx, d.conf, d.observed, opt, places, d.memoryOf, socket, address)
	return err
}

// takeOver ends the background daemons of the memories, unless this is one. taken is called once this daemon listens.
func (d *daemon) takeOver(ctx context.Context, places []config.Place) (taken func(), err error) {
	var releases []func()
	taken = func() {
		for _, release := range releases {
			release()
		}
	}
	for _, p := range places {
		if d.flags.background {
			break
		}
		base, err := d.confFor(d.conf, p.Agent)
		if err != nil {
			return taken, err
		}
		release, err := connect.TakeOver(ctx, base, p, d.app.Notice)
		releases = append(releases, release)
		if err != nil {
			return taken, fmt.Errorf("agent %s: %w", p.Agent, err)
		}
	}
	return taken, nil
}

// places returns the folders to serve: in the background only that of the memory for which it was started.
func (d *daemon) places() ([]config.Place, error) {
	if !d.flags.background {
		return d.withCouncilPlaces(d.conf.Places())
	}
	place, err := d.conf.Here()
	return []config.Place{place}, err
}

// addresses returns the unix socket and the TCP address to listen on.
func (d *daemon) addresses(ctx context.Context, places []config.Place) (socket, address string, err error) {
	if d.flags.background {
		b, err := connect.BackgroundOf(ctx, d.conf, places[0])
		return b.Socket, "none", err
	}
	if socket, err = connect.SocketPath(d.conf); err == nil {
		socket, err = filepath.Abs(socket) // clients read it elsewhere
	}
	if err == nil && !d.conf.Explicit("socket") && connect.Listens(socket) && len(places) > 0 {
		b, err := connect.BackgroundOf(ctx, d.conf, places[0]) // a daemon of other folders has it, and this one that of its folder
		return b.Socket, d.conf.Listen, err
	}
	return socket, d.conf.Listen, err
}

// openMemories opens the memories of a daemon that will answer on a socket.
func (d *daemon) openMemories(ctx context.Context, places []config.Place, socket string) error {
	embedders := connect.Embedders{Tried: d.observed.metrics.Tried, QueryLooked: d.observed.metrics.QueryLooked}
	memory, searches := slab.NewBudget(d.conf.MemoryBudget), server.NewSearches(server.Limits{})
	memory.Changed = paceCollector
	searches.Waited = d.observed.metrics.SearchWaited
	derivers := connect.Derivers{Counted: d.observed.metrics.Model, Tell: func(text string) { d.app.Notice("%s", text) }}
	reranker, err := connect.Reranker(d.conf)
	if err != nil {
		return err
	}
	for _, p := range places {
		base, err := d.confFor(d.conf, p.Agent)
		if err != nil {
			return err
		}
		if err := connect.CheckFolder(ctx, base, p, connect.ToWrite); err != nil {
			return err
		}
		conf, err := base.ForFolder(p.Workspace)
		if err != nil {
			return err
		}
		d.app.tellNotices(conf, d.conf.Notices)
		embedder, err := embedders.Of(conf)
		if err != nil {
			return err
		}
		opt, err := connect.Engine(ctx, conf, p, embedder, d.log)
		if err != nil {
			return err
		}
		opt.Vectors, opt.LockWait, opt.Daemon, opt.Socket = memory, connect.DaemonLockWait, true, socket
		opt.Search.Admit, opt.Search.Reranker = searches.Admit, reranker
		m, err := kioku.Open(ctx, opt)
		if err != nil {
			return fmt.Errorf("agent %s: %w", p.Agent, err)
		}
		d.memories, d.folders = append(d.memories, m), append(d.folders, conf)
		deriver, err := derivers.Of(conf, p, m, d.log)
		if err != nil {
			return fmt.Errorf("agent %s: %w", p.Agent, err)
		}
		d.derivers = append(d.derivers, deriver)
		d.counted = append(d.counted, d.observed.metrics.Agent(p.Agent, connect.Recalling(conf, m, deriver)))
	}
	return nil
}

// memoryOf returns the memory of an agent; of one that is not served, a memory that answers with an error.
func (d *daemon) memoryOf(id string) memory.Service {
	for i, m := range d.memories {
		if m.Agent() == id {
			return d.counted[i]
		}
	}
	return connect.MissingMemory(id)
}

// keepInSync syncs every index, reports when all are done, and then watches the folders.
func (d *daemon) keepInSync(ctx context.Context) error {
	group, ctx := errgroup.WithContext(trace.With(ctx, d.observed.tracer))
	var first sync.WaitGroup
	summaries := make([]string, len(d.memories))
	for i, m := range d.memories {
		first.Add(1)
		group.Go(func() error { return d.counted[i].Follow(ctx) })
		group.Go(func() error {
			summaries[i] = d.firstSync(ctx, m)
			first.Done()
			return m.Watch(ctx)
		})
	}
	group.Go(func() error {
		first.Wait()
		if ctx.Err() == nil {
			d.app.Notice("ready: %s", strings.Join(summaries, "; "))
			d.app.manager.status(strings.Join(summaries, "; "))
		}
		return nil
	})
	return group.Wait()
}

// derive derives from the memories for which the settings want it.
func (d *daemon) derive(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for i, s := range d.derivers {
		if s != nil {
			group.Go(func() error { return connect.Deriving(ctx, d.memories[i], s) })
		}
	}
	return group.Wait()
}

// firstSync syncs one index and returns a summary of what it contains.
func (d *daemon) firstSync(ctx context.Context, m *kioku.Memory) string {
	report, err := m.Sync(ctx, kioku.SyncOptions{}, nil)
	if ctx.Err() != nil {
		return ""
	}
	if err != nil {
		d.log.Error("first sync", "agent", m.Agent(), "err", err)
		return m.Agent() + " not in sync"
	}
	if report.EmbedErr != nil {
		d.log.Warn("texts lack vectors", "agent", m.Agent(), "err", report.EmbedErr)
	}
	state, err := m.IndexStats(ctx)
	if err != nil {
		return m.Agent()
	}
	return fmt.Sprintf("%s %s, %s", m.Agent(), render.Count(state.Files, "file"), render.Count(state.Chunks, "chunk"))
}

// closeMemories closes all indexes and waits for at most closeWait.
func (d *daemon) closeMemories() error {
	done := make(chan error, 1)
	go func() {
		var errs []error
		for _, m := range d.memories {
			errs = append(errs, m.Close())
		}
		done <- errors.Join(errs...)
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(closeWait):
		return fmt.Errorf("an index was not closed within %s", closeWait)
	}
}
