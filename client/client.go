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

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	kiokuv1 "kioku/proto/kioku/v1"
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
	// conn is nil if it is not the client's own.
	conn *grpc.ClientConn
	// shared is the connection, whoever owns it; nil for a client that Over returned.
	shared  grpc.ClientConnInterface
	memory  kiokuv1.MemoryServiceClient
	target  string
	agent   string
	timeout time.Duration
	// http reaches the service over HTTP; nil for a client that Over returned.
	http http.RoundTripper
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
	address, options := target, dialOptions(opt)
	if opt.Dial != nil && !strings.HasPrefix(target, "unix:") {
		address = "passthrough:///" + target // the dialer looks the name up
		options = append(options, grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return opt.Dial(ctx, "tcp", address)
		}))
	}
	if path, ok := strings.CutPrefix(target, "unix:"); ok {
		// The path is no URL: it may contain any character.
		path = strings.TrimPrefix(path, "//")
		address = "passthrough:///kioku"
		options = append(options, grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}))
	}
	conn, err := grpc.NewClient(address, options...)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", target, err)
	}
	return &Client{
		conn: conn, shared: conn, memory: kiokuv1.NewMemoryServiceClient(conn), target: target,
		agent: cmp.Or(opt.Agent, "main"), timeout: cmp.Or(opt.Timeout, defaultTimeout), http: newTransport(target, opt),
	}, nil
}

// Over returns a client of an agent's memory over a connection to its service, which stays the caller's to close.
func Over(service kiokuv1.MemoryServiceClient, agent string) *Client {
	return &Client{memory: service, target: "the memory service", agent: agent, timeout: defaultTimeout}
}

// For returns a client of another agent's memory over the same connection, which stays the first one's to close.
func (c *Client) For(agent string) *Client {
	return &Client{shared: c.shared, memory: c.memory, target: c.target, agent: agent, timeout: c.timeout, http: c.http}
}

// reconnecting has a connection that broke tried again after a second at the latest: a memory service is on this machine or
// near, and whoever waits for it is in the middle of a turn.
func reconnecting() grpc.DialOption {
	pause := backoff.DefaultConfig
	pause.BaseDelay, pause.MaxDelay = 50*time.Millisecond, time.Second
	return grpc.WithConnectParams(grpc.ConnectParams{Backoff: pause, MinConnectTimeout: 5 * time.Second})
}

func dialOptions(opt Options) []grpc.DialOption {
	secure := insecure.NewCredentials()
	if opt.TLS != nil {
		secure = credentials.NewTLS(opt.TLS)
	}
	// A proxy meant for the web has no business between an agent and its memory.
	out := []grpc.DialOption{grpc.WithTransportCredentials(secure), grpc.WithNoProxy(), reconnecting()}
	if opt.Token != "" {
		out = append(out, grpc.WithPerRPCCredentials(bearer{opt.Token}))
	}
	return out
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

// Conn returns the connection of a client that [Dial] returned, and of those that share it, for services of other kinds.
func (c *Client) Conn() grpc.ClientConnInterface { return c.shared }

// HTTP reaches the service over HTTP, for the operations of package server/op.
func (c *Client) HTTP() http.RoundTripper { return c.http }

// Service returns the connection of a client as the generated code has it, for the calls that [Memory] has not.
func (c *Client) Service() kiokuv1.MemoryServiceClient { return c.memory }

// History returns the service of the notes as they were, over the connection of a client that [Dial] returned, and of those that share it.
func (c *Client) History() kiokuv1.HistoryServiceClient {
	return kiokuv1.NewHistoryServiceClient(c.shared)
}

// Close ends the connection; running calls fail.
func (c *Client) Close() error {
	if c.conn == nil {
		return nil
	}
	if t, ok := c.http.(*transport); ok {
		t.CloseIdleConnections()
	}
	return c.conn.Close()
}

// call bounds a call in time.
func (c *Client) call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.timeout)
}

// bearer sends a token with every call.
type bearer struct{ token string }

// GetRequestMetadata returns the header with the token.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

// RequireTransportSecurity is false, because Dial has seen to it that the token stays private.
func (b bearer) RequireTransportSecurity() bool { return false }
