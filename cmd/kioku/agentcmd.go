package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/memory"
	"kioku/server"
)

func (a *app) agentCmd() *cobra.Command {
	var f *serveFlags
	cmd := &cobra.Command{
		Use: "agent", Short: "Serve what runs beside agents, over the memory service of another process",
		Long: "Serve what runs beside agents over gRPC: prompts, recall, pruning, flush and compaction. Files and skills are read here;\n" +
			"the memory is that of a kioku serve, which may start later; calls of it are forwarded, so that one address serves both.",
		Example: "  kioku agent --workspace ~/notes\n  kioku agent --agent nova=~/nova --memory 127.0.0.1:7600",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serveAgents(f.context(cmd, a), f)
		},
	}
	fl := cmd.Flags()
	fl.Var(&setting{app: a, name: "listen", key: "sidecar.listen"}, "listen", "TCP `address`, none for no TCP (default 127.0.0.1:7601)")
	fl.Var(&setting{app: a, name: "memory", key: "client.target"}, "memory", "memory `service`, unix:///path or host:port (default: the daemon's socket)")
	f = a.addServeFlags(cmd)
	return cmd
}

// serveAgents serves the sidecars of all agents until ctx ends.
func (a *app) serveAgents(ctx context.Context, f *serveFlags) (err error) {
	opt, err := a.hostOptions(f, &slog.LevelVar{})
	if err != nil {
		return err
	}
	target, err := memoryTarget(opt.Conf)
	if err != nil {
		return err
	}
	if opt.Places, err = opt.Conf.Places(); err != nil {
		return err
	}
	for _, p := range opt.Places {
		if info, err := os.Stat(p.Workspace); err != nil || !info.IsDir() {
			return fmt.Errorf("agent %s: there is no folder %s; name it with --workspace, or --agent id=folder", p.Agent, p.Workspace)
		}
	}
	if opt.Elsewhere, err = connect.Dial(opt.Conf, target); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opt.Elsewhere.Close()) }()
	state, err := opt.Conf.StateDir()
	if err != nil {
		return err
	}
	h, err := host.Open(ctx, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	if err := h.Listen(ctx, server.AgentSocketPath(state), opt.Conf.AgentListen); err != nil {
		return err
	}
	start := time.Now()
	a.Clock = time.Now
	err = h.Serve(ctx, func(ctx context.Context) error {
		a.tellMemory(ctx, opt.Places, opt.Elsewhere, target)
		return nil
	})
	a.tellEnd(ctx, start, err)
	return err
}

// memoryTarget returns the configured memory service; if none is configured, the daemon of the state folder.
func memoryTarget(conf *config.Config) (string, error) {
	if conf.Client.Target != "" {
		return conf.Client.Target, nil
	}
	socket, err := connect.SocketPath(conf)
	return "unix://" + socket, err
}

// tellMemory reports whether the memories of the agents answer. If one does not, that is no error: prompts are assembled
// without recall until it does.
func (a *app) tellMemory(ctx context.Context, places []config.Place, service *client.Client, target string) {
	var ids []string
	unreachable := false
	for _, p := range places {
		ids = append(ids, p.Agent)
		if unreachable {
			continue
		}
		if err := probe(ctx, service.For(p.Agent)); err != nil && ctx.Err() == nil {
			a.Notice("%s; until then prompts are assembled without recall", missing(err, p.Agent, target))
			unreachable = errors.Is(err, memory.ErrUnreachable)
		}
	}
	if ctx.Err() == nil {
		a.Notice("ready: %s beside the memory at %s", strings.Join(ids, ", "), target)
	}
}

// missing returns why a memory is not available, and what to do about it.
func missing(err error, id, target string) string {
	switch {
	case errors.Is(err, memory.ErrUnreachable):
		return fmt.Sprintf("no memory service answers at %s; start one with kioku serve, or name another with --memory", target)
	case errors.Is(err, memory.ErrNoAgent):
		return fmt.Sprintf("the memory service at %s does not serve agent %s; add it there, or set a token that may use it", target, id)
	case errors.Is(err, memory.ErrDenied):
		return fmt.Sprintf("the memory service at %s refuses this token; check client.token", target)
	}
	return fmt.Sprintf("the memory of agent %s at %s: %v", id, target, err)
}

// probe reports whether a service has the memory of an agent. It asks for an invalid path: only a service that has the
// memory answers that the path is invalid, and the answer is cheap.
func probe(ctx context.Context, service *client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, connect.DaemonWait)
	defer cancel()
	_, err := service.Get(ctx, memory.GetRequest{Path: "/"})
	var refused *memory.InputError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}
