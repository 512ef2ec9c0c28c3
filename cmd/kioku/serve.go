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
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/modelhttp"
)

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

func (a *app) serve(ctx context.Context, f *serveFlags) error {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	spreadProcessors()
	level := &slog.LevelVar{}
	h, err := a.openDaemon(ctx, f, level)
	if err != nil {
		return err
	}
	start := time.Now()
	a.Clock = time.Now
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	changes := host.Changing{Signals: hangups, Read: a.readAgain, Level: level}
	tasks := []func(context.Context) error{h.Run}
	if f.background {
		changes.End = end
		tasks = append(tasks, func(ctx context.Context) error { return f.endWhenLeft(ctx, h, end) },
			func(ctx context.Context) error { return endWhenReplaced(ctx, h, end) })
	}
	tasks = append(tasks, func(ctx context.Context) error { return h.Follow(ctx, changes) })
	err = errors.Join(h.Serve(ctx, tasks...), h.Close())
	a.tellEnd(ctx, start, err)
	return err
}

// hostOptions returns the options of a daemon, without what it opens. Its log has a level that may change.
func (a *app) hostOptions(f *serveFlags, level *slog.LevelVar) (opt host.Options, err error) {
	conf, err := a.commonConfig()
	if err != nil {
		return opt, err
	}
	level.Set(conf.LogLevel)
	return host.Options{
		Conf: conf, Daemon: true, LockWait: connect.DaemonLockWait, Grace: f.grace, Dir: a.dir, Version: buildVersion(), Out: &a.Output, Log: a.log(level),
		Dial: func(target, token string) (*client.Client, error) { return connect.DialAs(conf, target, token) },
	}, a.checkAgents(conf)
}

// openDaemon opens the memories and the council of the settings in the place of the background daemons that have them, and listens.
func (a *app) openDaemon(ctx context.Context, f *serveFlags, level *slog.LevelVar) (*host.Host, error) {
	if a.readOnly {
		return nil, render.Misuse("kioku serve keeps the indexes in sync, so it has to write; omit --read-only")
	}
	opt, err := a.hostOptions(f, level)
	if err != nil {
		return nil, err
	}
	if opt.Council, err = host.CouncilFor(opt.Conf, f.councilOf(opt.Conf), a.councilEcho, opt.Log); err != nil {
		return nil, err
	}
	if opt.Places, err = f.places(opt); err != nil {
		return nil, err
	}
	return a.openHost(ctx, f, opt)
}

// readAgain reads the settings for a network of their own, because reading applies the setting offline.
func (a *app) readAgain() (*config.Config, error) {
	src := a.sources()
	src.Network = modelhttp.NewNetwork(modelhttp.NetworkOptions{})
	return config.Load(src)
}

// openHost opens the memories in the place of the background daemons that have them, and listens.
func (a *app) openHost(ctx context.Context, f *serveFlags, opt host.Options) (h *host.Host, err error) {
	places := slices.Concat(opt.Places, opt.Council.Places())
	if !f.background {
		taken, err := a.takeOver(ctx, opt, places)
		defer taken()
		if err != nil {
			return nil, err
		}
	}
	socket, address, err := f.addresses(ctx, opt.Conf, places)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		conf, err := opt.Council.ConfFor(opt.Conf, p.Agent)
		if err == nil {
			err = connect.CheckFolder(ctx, conf, p, connect.ToWrite)
		}
		if err != nil {
			return nil, err
		}
	}
	opt.Socket = socket
	if h, err = host.Open(ctx, opt); err != nil {
		return nil, err
	}
	if err := h.Listen(ctx, socket, address); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// takeOver ends the background daemons of places. taken is called once this daemon listens.
func (a *app) takeOver(ctx context.Context, opt host.Options, places []config.Place) (taken func(), err error) {
	var releases []func()
	taken = func() {
		for _, release := range releases {
			release()
		}
	}
	for _, p := range places {
		conf, err := opt.Council.ConfFor(opt.Conf, p.Agent)
		if err != nil {
			return taken, err
		}
		release, err := connect.TakeOver(ctx, conf, p, a.Notice)
		releases = append(releases, release)
		if err != nil {
			return taken, fmt.Errorf("agent %s: %w", p.Agent, err)
		}
	}
	return taken, nil
}

// councilOf returns the folder of the council to serve; empty for none.
func (f *serveFlags) councilOf(conf *config.Config) string {
	if f.background {
		return ""
	}
	return conf.Council.Folder
}

// places returns the folders to serve, beside those of the council: in the background only that of the memory for which it was started.
func (f *serveFlags) places(opt host.Options) ([]config.Place, error) {
	conf := opt.Conf
	if f.background {
		place, err := conf.Here()
		return []config.Place{place}, err
	}
	if f.councilOnly && len(conf.Agents) == 0 && !conf.WorkspaceNamed() {
		return nil, nil
	}
	places, err := conf.Places()
	if (opt.Council != nil || conf.Store != "") && errors.Is(err, config.ErrNoWorkspace) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return places, opt.Council.Conflicts(places)
}

// addresses returns the unix socket and the TCP address to listen on.
func (f *serveFlags) addresses(ctx context.Context, conf *config.Config, places []config.Place) (socket, address string, err error) {
	if f.background {
		b, err := connect.BackgroundOf(ctx, conf, places[0])
		return b.Socket, "none", err
	}
	if socket, err = connect.SocketPath(conf); err == nil {
		socket, err = filepath.Abs(socket) // clients read it elsewhere
	}
	if err == nil && !conf.Explicit("socket") && connect.Listens(socket) && len(places) > 0 {
		b, err := connect.BackgroundOf(ctx, conf, places[0]) // a daemon of other folders has it, and this one that of its folder
		return b.Socket, conf.Listen, err
	}
	return socket, conf.Listen, err
}

// endWhenLeft ends a daemon in the background when no client has been connected for a while.
func (f *serveFlags) endWhenLeft(ctx context.Context, h *host.Host, end context.CancelCauseFunc) error {
	err := h.Server.WaitIdle(ctx, f.idle)
	if err == nil {
		end(errIdle)
	}
	return err
}

// endWhenReplaced ends a daemon in the background when kioku serve takes its place.
func endWhenReplaced(ctx context.Context, h *host.Host, end context.CancelCauseFunc) error {
	b, err := connect.BackgroundOf(ctx, h.Memories[0].Conf, h.Memories[0].Place)
	if err != nil {
		return err
	}
	if b.AwaitTakeOver(ctx) == nil {
		end(errReplaced)
	}
	return nil
}

// errIdle is the cause of the end of a daemon that nobody uses.
var errIdle = errors.New("no client was connected any more")

// errReplaced is the cause of the end of a background daemon whose place kioku serve takes.
var errReplaced = errors.New("kioku serve takes its place")

// errNoInput is the cause of the end of a command whose standard input has ended.
var errNoInput = errors.New("standard input ended")

// tellEnd reports that a command which served has ended, and why.
func (a *app) tellEnd(ctx context.Context, since time.Time, err error) {
	if err != nil {
		return // which is reported
	}
	why := "it was canceled"
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) || errors.As(cause, new(signalled)) {
		why = cause.Error()
	}
	a.Notice("ended after %s: %s", time.Since(since).Round(time.Second), why)
}
