package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// defaultTimeout is the limit of a call without Options.Timeout.
const defaultTimeout = 10 * time.Second

// Options says for whom a client speaks, and how.
type Options struct {
	// Agent is the id of the agent whose memory is used. Empty means "main".
	Agent string
	// Token sent with every call; empty sends none.
	Token string
	// Timeout of each call whose context has no earlier deadline; 0 means 10 s.
	Timeout time.Duration
	// TLS settings of the connection; nil means none, for unix sockets and for this machine.
	TLS *tls.Config
	// Dial opens TCP connections; nil means a net.Dialer. Unix sockets need none.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client uses the memory of one agent. Its methods may be called concurrently.
type Client struct {
	// Conn reaches the operations of the service.
	Conn    http.RoundTripper
	agent   string
	timeout time.Duration
}

// Dial returns a client of the service at target: "unix:///path/to/kioku.sock" or "host:port". It connects with the
// first call, so that the service may start later. It returns an error for a target of another form, and for a token
// that would cross a network unencrypted.
func Dial(target string, opt Options) (*Client, error) {
	local, err := checkTarget(target)
	if err != nil {
		return nil, err
	}
	if opt.Token != "" && opt.TLS == nil && !local {
		return nil, fmt.Errorf("dial %s: the token would be readable on the network; set Options.TLS, or use a tunnel to this machine", target)
	}
	return &Client{newTransport(target, opt), cmp.Or(opt.Agent, "main"), cmp.Or(opt.Timeout, defaultTimeout)}, nil
}

// Over returns a client of an agent's memory over a connection to the operations of its service, which stays the caller's to close. Its
// calls end with their contexts only.
func Over(conn http.RoundTripper, agent string) *Client { return &Client{Conn: conn, agent: agent} }

// For returns a client of another agent's memory over the same connection, which stays the first one's to close.
func (c *Client) For(agent string) *Client { return &Client{c.Conn, agent, c.timeout} }

// Close ends the connections of a client that [Dial] returned.
func (c *Client) Close() error {
	if t, ok := c.Conn.(*transport); ok {
		t.CloseIdleConnections()
	}
	return nil
}

// checkTarget reports whether a target stays on this machine.
func checkTarget(target string) (local bool, err error) {
	if path, ok := strings.CutPrefix(target, "unix:"); ok {
		if strings.TrimLeft(path, "/") == "" {
			return false, errors.New(`dial "unix:": the path of the socket is missing; use unix:///path/to/kioku.sock`)
		}
		return true, nil
	}
	host, port, err := net.SplitHostPort(target)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || host == "" {
		return false, fmt.Errorf(`dial %q: must be unix:///path/to/kioku.sock or host:port`, target)
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), nil
}
