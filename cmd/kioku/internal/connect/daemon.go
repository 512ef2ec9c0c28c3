package connect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
	"unicode"

	"kioku"
	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/server"
	"kioku/server/op"
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

// daemon returns a client of the daemon, or nil if none answers or it does not serve the memory. It returns an error if the
// daemon serves a named agent from another folder than the one that was named. The daemon that has the index goes first, wherever it
// listens: no other one serves the memory.
func (k *Connector) daemon(ctx context.Context, w wanted, n Need) (*Client, error) {
	if k.Conf.Client.Target != "" {
		return k.remote(ctx, w, n)
	}
	if k.NoDaemon || k.ReadOnly {
		return nil, nil
	}
	if own := k.ownerSocket(ctx, w.place); own != "" {
		return k.daemonOn(ctx, own, w, n)
	}
	socket, err := SocketPath(k.Conf)
	if err != nil {
		return nil, err
	}
	if err := listens(socket); err != nil {
		if k.Conf.ByFlagOrEnv("socket") {
			return nil, fmt.Errorf("no daemon answers on %s: %w; start one with kioku serve, or use --no-daemon", socket, err)
		}
		return nil, nil
	}
	return k.daemonOn(ctx, socket, w, n)
}

// ownerSocket returns the socket of the process that has the index of a memory and answers; "" if there is none, or if a socket is named.
func (k *Connector) ownerSocket(ctx context.Context, place config.Place) string {
	if place.Workspace == "" || k.Conf.ByFlagOrEnv("socket") {
		return ""
	}
	state, err := k.Conf.StateOf(ctx, place.Agent, place.Workspace)
	if err != nil {
		return ""
	}
	owner := kioku.OwnerOf(state, place.Agent)
	if owner.Socket == "" || listens(owner.Socket) != nil {
		return ""
	}
	return owner.Socket
}

// Running returns the socket of the daemon that has the index of the memory which is meant; "" if there is none.
func (k *Connector) Running(ctx context.Context) string {
	w, err := k.here()
	if err != nil {
		return ""
	}
	return k.ownerSocket(ctx, w.place)
}

// Listens reports whether somebody listens on a socket.
func Listens(socket string) bool { return listens(socket) == nil }

// listens returns an error if nobody listens on a socket.
func listens(socket string) error {
	probe, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return err
	}
	return probe.Close()
}

// daemonOn is daemon for one that listens on a socket.
func (k *Connector) daemonOn(ctx context.Context, socket string, w wanted, n Need) (*Client, error) {
	conn, err := client.Dial("unix:"+socket, client.Options{})
	if err != nil {
		return nil, err
	}
	agents, err := listAgents(ctx, conn)
	if err != nil {
		_ = conn.Close() // what matters is why there was no answer
		if codeOf(err) == "UNAVAILABLE" {
			return nil, fmt.Errorf("the daemon on %s: %w", socket, err)
		}
		return nil, &noAnswer{fmt.Sprintf("the daemon on %s does not answer: %s; stop it, or use --no-daemon", socket, render.Message(err)), err}
	}
	served, err := k.served(agents, w, n)
	if served == nil || err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if !w.named || served.ID == k.Conf.Agent {
		k.tellIgnored()
	}
	c, err := k.client(ctx, conn, served, w, n)
	if err == nil {
		c.Socket = socket
	}
	return c, err
}

// noAnswer reports that a daemon listens and does not answer.
type noAnswer struct {
	message string
	cause   error
}

// Error returns the message.
func (e *noAnswer) Error() string { return e.message }

// Unwrap returns the error of the call.
func (e *noAnswer) Unwrap() error { return e.cause }

const (
	// firstPause and maxPause are the pauses between two attempts to reach a daemon that has ended.
	firstPause, maxPause = 100 * time.Millisecond, 2 * time.Second
)

// Reconnect waits until a daemon serves the memory again, and has the client use that one. It returns an error if the daemon refuses
// the client.
func (c *Client) Reconnect(ctx context.Context) error {
	next, err := c.from.await(ctx, c.wanted, c.need)
	if err != nil {
		return err
	}
	return c.replace(next)
}

// Renew connects again if the process that answered has ended, as another command does that has the index: to one that has it now, or to
// the index itself.
func (c *Client) Renew(ctx context.Context) error {
	if c.Socket == "" || listens(c.Socket) == nil {
		return nil
	}
	next, err := c.from.connect(ctx, c.wanted, c.need)
	if err != nil {
		return err
	}
	return c.replace(next)
}

// replace has the client use another connection.
func (c *Client) replace(next *Client) error {
	old := c.close
	*c = *next
	return old()
}

// WithDaemon connects to the daemon that serves the memory of the command, and calls f. If none does, it calls waits once and waits for one.
func (k *Connector) WithDaemon(ctx context.Context, n Need, waits func(), f func(*Client) error) error {
	if k.NoDaemon || k.ReadOnly {
		return errNoDaemon
	}
	w, err := k.here()
	if err != nil {
		return err
	}
	c, err := k.daemon(ctx, w, n)
	switch {
	case c == nil && err != nil && !isGone(err):
		return err
	case c == nil && w.place.Workspace == "":
		return config.ErrNoWorkspace
	case c == nil:
		waits()
		if c, err = k.await(ctx, w, n); err != nil {
			return err
		}
	}
	err = f(c)
	return errors.Join(err, c.close())
}

// errNoDaemon reports flags that leave no daemon to ask.
var errNoDaemon = errors.New("it asks the daemon; omit --no-daemon and --read-only")

// await waits until a daemon serves a memory. It returns an error if the daemon refuses the caller.
func (k *Connector) await(ctx context.Context, w wanted, n Need) (*Client, error) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		c, err := k.daemon(ctx, w, n)
		if c != nil || refused(err) {
			return c, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// refused reports whether a daemon answers and does not admit the caller.
func refused(err error) bool { return errors.Is(err, memory.ErrDenied) }

// codeOf returns the code of an error with which a service answered; empty for others.
func codeOf(err error) string {
	if said, ok := errors.AsType[*op.Error](err); ok {
		return said.Code
	}
	return ""
}

// isGone reports whether a daemon did not answer.
func isGone(err error) bool { return errors.Is(err, memory.ErrUnreachable) && codeOf(err) == "" }

// client returns a client of an agent that a daemon serves.
func (k *Connector) client(ctx context.Context, conn *client.Client, served *server.Agent, w wanted, n Need) (*Client, error) {
	id, folder := served.ID, served.Workspace
	state, err := k.Conf.StateOf(ctx, id, folder)
	if err != nil && !errors.Is(err, config.ErrNoState) {
		return nil, errors.Join(err, conn.Close())
	}
	w.place.Agent = id
	return &Client{Client: conn.For(id), from: k, wanted: w, need: n, Agent: id, Workspace: folder, State: state, close: conn.Close}, nil
}

// remote returns a client of the daemon on another machine that the settings name. It returns an error if the daemon does not
// answer or does not serve the agent. If no agent is named, it is main or the only one that the token may use.
func (k *Connector) remote(ctx context.Context, w wanted, n Need) (*Client, error) {
	target := k.Conf.Client.Target
	if k.NoDaemon || k.ReadOnly {
		return nil, render.Misuse("this needs an index of this machine, as --no-daemon and --read-only do; omit them, or --target")
	}
	if strings.ContainsFunc(k.Conf.Client.Token, unicode.IsControl) {
		return nil, render.Misuse("--token-file has more than a token: name the file that kioku token add has written, not the list of tokens of the daemon")
	}
	conn, err := Dial(k.Conf, target)
	if err != nil {
		return nil, err
	}
	agents, err := listAgents(ctx, conn)
	if err != nil {
		switch {
		case codeOf(err) == "UNAUTHENTICATED" && k.Conf.Client.Token == "":
			err = fmt.Errorf("the daemon at %s requires a token; name the file that has it with --token-file (kioku token add on that machine makes one)", target)
		case refused(err):
			err = fmt.Errorf("the daemon at %s refuses the token: %s; name the file with the right one with --token-file", target, render.Message(err))
		default:
			err = fmt.Errorf("the daemon at %s does not answer: %s%s", target, render.Message(err), k.tlsHint(err))
		}
		return nil, errors.Join(err, conn.Close())
	}
	served := byID(agents, w.place.Agent)
	if served == nil && !w.named && len(agents) == 1 {
		served = &agents[0]
	}
	if served == nil {
		err = fmt.Errorf("the daemon at %s does not serve agent %s, or the token may not use it%s", target, w.place.Agent, others(agents))
		return nil, errors.Join(err, conn.Close())
	}
	return k.client(ctx, conn, served, w, n)
}

// Dial returns a client of the service at an address, with the token and the certificates of the settings.
func Dial(conf *config.Config, target string) (*client.Client, error) {
	return DialAs(conf, target, conf.Client.Token)
}

// DialAs is Dial with another token.
func DialAs(conf *config.Config, target, token string) (*client.Client, error) {
	tls, err := clientTLS(conf, target)
	if err != nil {
		return nil, err
	}
	c, err := client.Dial(target, client.Options{Token: token, TLS: tls, Dial: conf.Network.Dialer("memory service")})
	if err != nil {
		return nil, conf.Wrong("client.target", err.Error())
	}
	return c, nil
}

// tlsHint says which settings of TLS a daemon that does not answer may want.
func (k *Connector) tlsHint(err error) string {
	client := k.Conf.Client
	switch {
	case !errors.Is(err, memory.ErrUnreachable):
		return ""
	case client.CA == "" && client.Cert == "":
		return "; if it speaks TLS, name its authority with --tls-ca"
	case client.Cert == "":
		return "; if a certificate is required, name yours with --tls-cert and --tls-key"
	}
	return ""
}

// listAgents returns the agents that a daemon serves. It does not wait long for the answer.
func listAgents(ctx context.Context, c *client.Client) ([]server.Agent, error) {
	ctx, cancel := context.WithTimeout(ctx, DaemonWait)
	defer cancel()
	return server.Notes.Agents.Call(ctx, c.Conn, server.None{})
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
