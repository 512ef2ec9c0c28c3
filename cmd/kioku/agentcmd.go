package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
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
			return a.serveAgents(f.context(cmd, a), f.grace)
		},
	}
	fl := cmd.Flags()
	fl.Var(&setting{app: a, name: "listen", key: "sidecar.listen"}, "listen", "TCP `address`, none for no TCP (default 127.0.0.1:7601)")
	fl.Var(&setting{app: a, name: "memory", key: "client.target"}, "memory", "memory `service`, unix:///path or host:port (default: the daemon's socket)")
	f = a.addServeFlags(cmd)
	return cmd
}

// serveAgents serves the sidecars of all agents until ctx ends.
func (a *app) serveAgents(ctx context.Context, grace time.Duration) (err error) {
	conf, err := a.commonConfig()
	if err != nil {
		return err
	}
	if err := a.checkAgents(conf); err != nil {
		return err
	}
	target, err := memoryTarget(conf)
	if err != nil {
		return err
	}
	tls, err := connect.ClientTLS(conf, target)
	if err != nil {
		return err
	}
	service, err := client.Dial(target, client.Options{Token: conf.Client.Token, TLS: tls, Dial: conf.Network.Dialer("memory service")})
	if err != nil {
		return conf.Wrong("client.target", err.Error())
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	places, err := conf.Places()
	if err != nil {
		return err
	}
	door, err := a.agentDoor(ctx, conf, places, service, grace)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, door.observed.close()) }()
	start := time.Now()
	a.Clock = time.Now
	err = a.serveDoor(ctx, door, func(ctx context.Context) error {
		a.tellMemory(ctx, places, service, target)
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

// agentDoor opens the door to the sidecars.
func (a *app) agentDoor(ctx context.Context, conf *config.Config, places []config.Place, service *client.Client, grace time.Duration) (*door, error) {
	for _, p := range places {
		if info, err := os.Stat(p.Workspace); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("agent %s: there is no folder %s; name it with --workspace, or --agent id=folder", p.Agent, p.Workspace)
		}
	}
	state, err := conf.StateDir()
	if err != nil {
		return nil, err
	}
	log := a.log(conf.LogLevel)
	observed, err := openObservation(ctx, conf, log)
	if err != nil {
		return nil, err
	}
	door, err := a.openDoor(ctx, conf, observed, server.Options{Memory: service.Conn, Location: conf.Location, Grace: grace, Log: log}, places, func(id string) memory.Service { return service.For(id) },
		server.AgentSocketPath(state), conf.AgentListen)
	if err != nil {
		return nil, errors.Join(err, observed.close())
	}
	return door, nil
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
