package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"unicode/utf8"

	"kioku/agent/sidecar"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/modelhttp"
	"kioku/llm"
	"kioku/memory"
)

// app is one run of the command: what it was started with and where it writes.
type app struct {
	render.Output
	stdin io.Reader
	dir   string
	// signals end the command; nil in tests that send none.
	signals chan<- os.Signal

	// flags are the settings on the command line.
	flags      []config.Flag
	configFile string
	noDaemon   bool
	readOnly   bool

	// councilFolder is the folder of the council that a flag names, and councilEcho whether a scripted model plays its members.
	councilFolder string
	councilEcho   bool

	// network is the way to other machines of this run.
	network *modelhttp.Network

	// started is true once the arguments were accepted; later errors are not misuse.
	started bool
	conf    *config.Config
}

// execute runs a command line and returns the exit code.
func (a *app) execute(ctx context.Context, args []string) int {
	if err := checkArgs(args); err != nil {
		return a.report(ctx, err)
	}
	root := a.rootCmd()
	root.SetArgs(withCompared(args))
	root.SetIn(a.stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.started {
		err = render.Misuse("%w", err)
	}
	return a.report(ctx, err)
}

// checkArgs returns a misuse if an argument is not valid UTF-8.
func checkArgs(args []string) error {
	for i, arg := range args {
		if !utf8.ValidString(arg) {
			return render.Misuse("argument %d, %q, is not valid UTF-8", i+1, arg)
		}
	}
	return nil
}

// sources returns where the settings of this run come from.
func (a *app) sources() config.Sources {
	if a.network == nil {
		a.network = modelhttp.NewNetwork(modelhttp.NetworkOptions{})
	}
	return config.Sources{File: a.configFile, Env: a.Env, Flags: a.flags, Dir: a.dir, Network: a.network}
}

// config returns the settings, with those of the workspace that the command is in. The first call reads them and reports
// settings that have no effect.
func (a *app) config() (*config.Config, error) {
	if a.conf != nil {
		return a.conf, nil
	}
	conf, err := config.Load(a.sources())
	if err != nil {
		return nil, err
	}
	if place, err := conf.Here(); err == nil {
		if conf, err = conf.ForFolder(place.Workspace); err != nil {
			return nil, err
		}
	}
	a.TellNew(conf.Notices, nil)
	a.conf = conf
	return conf, nil
}

// commonConfig returns the settings without those of any workspace, for a command that serves several.
func (a *app) commonConfig() (*config.Config, error) {
	conf, err := config.Load(a.sources())
	if err == nil {
		a.TellNew(conf.Notices, nil)
	}
	return conf, err
}

// newSidecar returns the sidecar of the agent of a place. memories returns the memory of any agent; model may be nil, and why says so if
// one is set; orders is nil for an agent that no council commands.
func (a *app) newSidecar(ctx context.Context, conf *config.Config, place config.Place, memories func(id string) memory.Service, model llm.Model, why error, orders host.Orders) (*sidecar.Sidecar, error) {
	b := host.Beside{
		Conf: conf, Out: &a.Output, Log: a.log(conf.LogLevel), Dir: a.dir, ReadOnly: a.readOnly, Memories: memories, Model: model, Why: why, Orders: orders,
	}
	all, err := b.Sidecars(ctx, place)
	return all[place.Agent], err
}

// connector connects to memories with the settings of this run.
func (a *app) connector() (*connect.Connector, error) {
	conf, err := a.config()
	if err != nil {
		return nil, err
	}
	return &connect.Connector{
		Conf: conf, Out: &a.Output, Flags: a.flags, ConfigFile: a.configFile, NoDaemon: a.noDaemon, ReadOnly: a.readOnly, Version: buildVersion(),
	}, nil
}

// with connects to the memory of the agent, and closes what f leaves behind.
func (a *app) with(ctx context.Context, n connect.Need, f func(*connect.Client) error) error {
	k, err := a.connector()
	if err != nil {
		return err
	}
	return k.With(ctx, n, f)
}

// log returns a logger on stderr: text on a terminal, JSON elsewhere. It leaves out most of a storm of like lines.
func (a *app) log(level slog.Leveler) *slog.Logger {
	opt := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewJSONHandler(a.Stderr, opt)
	if render.IsTerminal(a.Stderr) {
		handler = slog.NewTextHandler(a.Stderr, opt)
	}
	return slog.New(newLogLimit(handler))
}
