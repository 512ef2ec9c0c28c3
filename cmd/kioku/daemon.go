package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kioku/agent"
	"kioku/cmd/kioku/config"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// daemonWait bounds the first question to a daemon: one that accepts but does not answer must not hang a command.
const daemonWait = 5 * time.Second

// socketPath is where the daemon of these settings listens.
func socketPath(conf *config.Config) (string, error) {
	if conf.Socket != "" {
		return conf.Socket, nil
	}
	state, err := conf.StateDir()
	if err != nil {
		return "", err
	}
	return server.SocketPath(state), nil
}

// daemon returns a client of the daemon, nil where none answers or it does not serve the agent. It returns an error
// where the daemon serves another folder than the one asked for.
func (a *app) daemon(ctx context.Context, conf *config.Config, id string) (*client, error) {
	if a.noDaemon || a.readOnly {
		return nil, nil
	}
	socket, err := socketPath(conf)
	if err != nil {
		return nil, err
	}
	probe, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		if conf.ByFlagOrEnv("socket") {
			return nil, fmt.Errorf("no daemon answers on %s: %w; start one with kioku serve, or use --no-daemon", socket, err)
		}
		return nil, nil
	}
	probe.Close()
	conn, err := agent.Dial("unix:"+socket, agent.Options{Agent: id})
	if err != nil {
		return nil, err
	}
	c := &client{MemoryServiceClient: conn.Service(), agent: id, remote: conn, close: conn.Close}
	ok, err := a.serves(ctx, c, conf, socket)
	if err != nil || !ok {
		return nil, errors.Join(err, conn.Close())
	}
	if id == conf.Agent {
		a.tellIgnored(conf)
	}
	return c, nil
}

// serves asks the daemon whether it serves the agent, from the folder that was named if one was.
func (a *app) serves(ctx context.Context, c *client, conf *config.Config, socket string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, daemonWait)
	defer cancel()
	resp, err := c.ListAgents(ctx, &kiokuv1.ListAgentsRequest{})
	if err != nil {
		return false, fmt.Errorf("the daemon on %s does not answer: %s; stop it, or use --no-daemon", socket, message(err))
	}
	i := slices.IndexFunc(resp.GetAgents(), func(agent *kiokuv1.Agent) bool { return agent.GetId() == c.agent })
	if i < 0 {
		return false, nil
	}
	served := resp.GetAgents()[i].GetWorkspace()
	c.workspace = served
	place, err := conf.Place(c.agent)
	switch {
	case errors.Is(err, config.ErrNoWorkspace):
		return true, nil
	case err != nil:
		return false, err
	case sameFolder(place.Workspace, served):
		return true, nil
	case place.Assumed:
		a.notice("the daemon answers for agent %s from %s, not from this folder; name one with --workspace", c.agent, served)
		return true, nil
	}
	return false, fmt.Errorf("the daemon serves agent %s from %s, not from %s; leave --workspace out, ask for another --agent, "+
		"or use another --state", c.agent, served, filepath.Clean(place.Workspace))
}

// tellIgnored says which flags are the daemon's own to decide.
func (a *app) tellIgnored(conf *config.Config) {
	var ignored []string
	for _, f := range a.flags {
		if v, err := conf.Value(f.Key); err == nil && v.OfMemory() {
			ignored = append(ignored, f.Key)
		}
	}
	if len(ignored) > 0 {
		a.notice("a daemon answers, with settings of its own; no effect: %s", strings.Join(ignored, ", "))
	}
}
