package connect

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
	"kioku/cmd/kioku/internal/render"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// DaemonWait is the time limit of the first call to a daemon: a daemon that accepts but does not answer must not hang a
// command.
const DaemonWait = 5 * time.Second

// SocketPath returns the unix socket of the daemon.
func SocketPath(conf *config.Config) (string, error) {
	if conf.Socket != "" {
		return conf.Socket, nil
	}
	state, err := conf.StateDir()
	if err != nil {
		return "", err
	}
	return server.SocketPath(state), nil
}

// daemon returns a client of the daemon, or nil if none answers or it does not serve the agent. It returns an error if the
// daemon serves the agent from another folder than the one that was named.
func (k *Connector) daemon(ctx context.Context, id string) (*Client, error) {
	if k.Conf.Client.Server != "" {
		return k.remote(ctx, id)
	}
	if k.NoDaemon || k.ReadOnly {
		return nil, nil
	}
	socket, err := SocketPath(k.Conf)
	if err != nil {
		return nil, err
	}
	probe, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		if k.Conf.ByFlagOrEnv("socket") {
			return nil, fmt.Errorf("no daemon answers on %s: %w; start one with kioku serve, or use --no-daemon", socket, err)
		}
		return nil, nil
	}
	probe.Close()
	conn, err := agent.Dial("unix:"+socket, agent.Options{Agent: id})
	if err != nil {
		return nil, err
	}
	c := &Client{MemoryServiceClient: conn.Service(), remote: conn, from: k, Agent: id, close: conn.Close}
	ok, err := k.serves(ctx, c, socket)
	if err != nil || !ok {
		return nil, errors.Join(err, conn.Close())
	}
	if id == k.Conf.Agent {
		k.tellIgnored()
	}
	return c, nil
}

// remote returns a client of the daemon on another machine that the settings name. It returns an error if the daemon does not
// answer or does not serve the agent.
func (k *Connector) remote(ctx context.Context, id string) (*Client, error) {
	target := k.Conf.Client.Server
	if k.NoDaemon || k.ReadOnly {
		return nil, render.Misuse("--no-daemon and --read-only open an index of this machine; omit them, or --server")
	}
	tls, err := ClientTLS(k.Conf, target)
	if err != nil {
		return nil, err
	}
	conn, err := agent.Dial(target, agent.Options{Agent: id, Token: k.Conf.Client.Token, TLS: tls})
	if err != nil {
		return nil, &config.Error{Key: "client.server", Problem: err.Error()}
	}
	c := &Client{MemoryServiceClient: conn.Service(), remote: conn, from: k, Agent: id, close: conn.Close}
	found, err := c.findAgent(ctx)
	switch {
	case err != nil:
		err = fmt.Errorf("the daemon at %s does not answer: %s%s", target, render.Message(err), k.tlsHint(err))
	case !found:
		err = fmt.Errorf("the daemon at %s does not serve agent %s, or the token may not use it", target, id)
	default:
		return c, nil
	}
	return nil, errors.Join(err, conn.Close())
}

// tlsHint says which settings of TLS a daemon that does not answer may want.
func (k *Connector) tlsHint(err error) string {
	client := k.Conf.Client
	switch {
	case status.Code(err) != codes.Unavailable:
		return ""
	case client.CA == "" && client.Cert == "":
		return "; if it speaks TLS, name its authority with --tls-ca"
	case client.Cert == "":
		return "; if a certificate is required, name yours with --tls-cert and --tls-key"
	}
	return ""
}

// findAgent reports whether the daemon serves the agent, and sets the folder of its memory.
func (c *Client) findAgent(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, DaemonWait)
	defer cancel()
	resp, err := c.ListAgents(ctx, &kiokuv1.ListAgentsRequest{})
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(resp.GetAgents(), func(agent *kiokuv1.Agent) bool { return agent.GetId() == c.Agent })
	if i < 0 {
		return false, nil
	}
	c.Workspace = resp.GetAgents()[i].GetWorkspace()
	return true, nil
}

// serves reports whether the daemon serves the agent, from the named folder if one was named.
func (k *Connector) serves(ctx context.Context, c *Client, socket string) (bool, error) {
	found, err := c.findAgent(ctx)
	if err != nil {
		return false, fmt.Errorf("the daemon on %s does not answer: %s; stop it, or use --no-daemon", socket, render.Message(err))
	}
	if !found {
		return false, nil
	}
	served := c.Workspace
	place, err := k.Conf.Place(c.Agent)
	switch {
	case errors.Is(err, config.ErrNoWorkspace):
		return true, nil
	case err != nil:
		return false, err
	case SameFolder(place.Workspace, served):
		return true, nil
	case place.Assumed:
		k.Out.Notice("the daemon answers for agent %s from %s, not from this folder; name one with --workspace", c.Agent, served)
		return true, nil
	}
	return false, fmt.Errorf("the daemon serves agent %s from %s, not from %s; omit --workspace, name another --agent, "+
		"or use another --state", c.Agent, served, filepath.Clean(place.Workspace))
}

// tellIgnored reports the flags that have no effect because the daemon has settings of its own.
func (k *Connector) tellIgnored() {
	var ignored []string
	for _, f := range k.Flags {
		if v, err := k.Conf.Value(f.Key); err == nil && v.OfMemory() {
			ignored = append(ignored, f.Key)
		}
	}
	if len(ignored) > 0 {
		k.Out.Notice("a daemon answers, with settings of its own; no effect: %s", strings.Join(ignored, ", "))
	}
}
